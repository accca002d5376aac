/* SPDX-License-Identifier: MIT */
/*
 * run - start the program that is recorded, and wait for it
 */
#ifndef COMDET_ANALYSIS_RECORD_RUN_H
#define COMDET_ANALYSIS_RECORD_RUN_H

#include <stdint.h>
#include <sys/types.h>

struct run {
	pid_t pid;
	const char *path;    /* to exec */
	char **argv;         /* as the program will see it */
	const char *library; /* absolute path to preload; NULL: none */
	const char *heap;    /* the same of libcomdet-heap.so */
	const char *run_id;
	const char *out; /* absolute */
	int wait_status; /* as waitpid gave it */
	uint64_t cpu_ns; /* CPU time of the process, 0 if unknown */
	/* errno if the program could not be executed, else 0. */
	int exec_error;
	/*
	 * If set, called with the program's process id before the program is
	 * executed, with all signals that are passed on blocked.
	 */
	void (*begin)(void *ctx, pid_t pid);
	void *begin_ctx;
	/* If set, called each second while the program runs. */
	void (*tick)(void *ctx);
	void *tick_ctx;
};

/*
 * Start the program, pass signals on to it, stop when it stops for job
 * control, and wait for its end. Returns its exit status, or 128 + the signal
 * that ended it.
 */
int run_program(struct run *r);

#endif
