/* SPDX-License-Identifier: MIT */
/*
 * roomy - run on a stack that is large enough, whatever ulimit -s says
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "roomy.h"

#define ROOM_BYTES (8ul << 20)

static struct {
	int (*run)(int, char **);
	int argc, status;
	char **argv;
	ucontext_t back;
} job;

static void work(void)
{
	job.status = job.run(job.argc, job.argv);
}

int roomy_call(int (*run)(int, char **), int argc, char **argv)
{
	static ucontext_t there; /* its signal frame is large */
	struct rlimit limit;
	void *room;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= ROOM_BYTES)
		return run(argc, argv);
	room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED || getcontext(&there))
		return run(argc, argv);
	job.run = run;
	job.argc = argc;
	job.argv = argv;
	there.uc_stack.ss_sp = room;
	there.uc_stack.ss_size = ROOM_BYTES;
	there.uc_link = &job.back;
	makecontext(&there, work, 0);
	swapcontext(&job.back, &there);
	return job.status;
}
