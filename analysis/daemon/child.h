/* SPDX-License-Identifier: MIT */
/*
 * child - do in a child what reads foreign files and processes
 *
 * The child has none of our descriptors but one, and dies with us.
 */
#ifndef COMDET_ANALYSIS_DAEMON_CHILD_H
#define COMDET_ANALYSIS_DAEMON_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero-initialized, there is none. */
struct child {
	pid_t pid;
	int fd; /* readable when it has ended */
};

/*
 * Run @run(@ctx) in a child, which keeps the descriptor @keep beside the first
 * three; what it returns is the exit status. Returns 0 or -errno.
 */
int child_begin(struct child *c, int (*run)(void *ctx), void *ctx, int keep);

/* Send it @signal, if there is one. */
void child_signal(const struct child *c, int signal);

bool child_has_ended(const struct child *c);

/*
 * Wait for it. Returns its CPU time in ns; *@success is true if it exited with
 * 0.
 */
uint64_t child_end(struct child *c, bool *success);

#endif
