/* SPDX-License-Identifier: MIT */
/*
 * tracee - a program under ptrace, stopped at random moments and stepped
 *
 * Call tracee_start, then tracee_run, tracee_interrupt and tracee_step in any
 * order while they return 0, then tracee_release. Only the main thread is
 * traced.
 */
#ifndef COMDET_TESTS_ORACLE_TRACEE_H
#define COMDET_TESTS_ORACLE_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/x86/interp/interp.h"

struct tracee {
	pid_t pid;
	int out_fd;           /* its stdout if requested, else -1 */
	struct cpu_state cpu; /* as of the last stop */
	struct memory mem;
	bool in_syscall; /* stopped inside the kernel: cpu is not final */
	bool ended, running;
	int status;               /* as of waitpid, once it has ended */
	int signal;               /* to deliver when it continues */
	unsigned long steps_lost; /* after a cpuid, by the machine */
	_Alignas(64) char xstate[8192];
};

/*
 * Start @argv; its stdout goes to out_fd or is dropped. Returns 0 or -errno.
 */
int tracee_start(struct tracee *t, char **argv, bool want_output);

/* Let it run and return at once. Returns 0, or -ESRCH if it ended. */
int tracee_run(struct tracee *t);

/*
 * Let it run for @us, stop it and take its registers. Returns 0, or -ESRCH
 * if it ended.
 */
int tracee_interrupt(struct tracee *t, unsigned us);

/*
 * Execute one instruction (one iteration of a rep string instruction).
 * Returns 0, -EINTR if a signal came instead (it is delivered when the
 * tracee continues), or -ESRCH if it ended. A virtual machine that emulates
 * cpuid may execute the instruction after it too before it stops: that is
 * -EINTR too, and counted in steps_lost.
 */
int tracee_step(struct tracee *t);

/* Kill it if it still runs, and reap it. */
void tracee_release(struct tracee *t);

#endif
