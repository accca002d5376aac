/* SPDX-License-Identifier: MIT */
/*
 * rank - which process of a parallel job a process is
 *
 * Open MPI, MPICH and Slurm tell each process they start its rank and the
 * number of ranks, in its environment. Each rank writes to a directory of its
 * own, OUT/rank.N. OUT itself has no marker; readers take the ranks together.
 *
 * Context: set-up; system calls, no allocation.
 */
#ifndef COMDET_STORE_RANK_H
#define COMDET_STORE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RANK_DIRECTORY "rank."

/*
 * The rank of process @pid, 0: ours, as it was executed, and of how many, 0 if
 * that is not known. False if it has none, or its environment cannot be read.
 */
bool rank_of(pid_t pid, uint32_t *rank, uint32_t *ranks);

/*
 * The directory that a process with @rank writes to if it is to write to @out,
 * in @path (@size bytes). Makes @out (mode 0700) unless it exists. Returns 0 or
 * -errno.
 */
int rank_directory(const char *out, uint32_t rank, char *path, size_t size);

/* The N of a name "rank.N", or -1. */
int64_t rank_of_name(const char *name);

#endif
