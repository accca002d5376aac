/* SPDX-License-Identifier: MIT */
/*
 * ranks - MPI processes that store to words of one line, which they share
 *
 *   ranks false|clean SECONDS
 *
 * clean: each rank has a line of its own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int apart = argc > 1 && !strcmp(argv[1], "clean") ? 16 : 1, rank, unit;
	double seconds = argc > 2 ? atof(argv[2]) : 1, begin;
	unsigned long *words, *mine;
	MPI_Aint bytes;
	MPI_Comm node;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &rank);
	MPI_Win_allocate_shared(rank ? 0 : 65536, 1, MPI_INFO_NULL, node,
				&words, &win);
	MPI_Win_shared_query(win, 0, &bytes, &unit, &words);
	mine = (unsigned long *)(((unsigned long)words + 4095) & ~4095ul) +
	       rank * apart;
	begin = MPI_Wtime();
	while (MPI_Wtime() - begin < seconds)
		for (int i = 0; i < 10000; i++)
			__atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		puts("done");
	MPI_Finalize();
	return 0;
}
