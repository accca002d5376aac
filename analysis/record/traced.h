/* SPDX-License-Identifier: MIT */
/*
 * traced - record the trace of a program, and take it from a pipe
 *
 * Nothing is on the disk, as long as the shared memory of the machine has room
 * for the profile of the program; and nothing is left at the end, also if a
 * signal ends us.
 */
#ifndef COMDET_ANALYSIS_RECORD_TRACED_H
#define COMDET_ANALYSIS_RECORD_TRACED_H

struct traced {
	const char *out; /* the directory of the recording */
	int fd;          /* the trace comes from here */
};

/*
 * Start @program, whose region of interest is @roi, or all of it if that is
 * NULL. What it prints goes to standard error. Signals that end programs end it
 * first, and then us. Dies if it cannot be started.
 */
void traced_start(struct traced *t, char *const *program, const char *roi);

/*
 * Wait for the end, for which somebody must read from @t->fd until then.
 * Returns 0, or the number of the signal that ended the program. Exits if
 * record, which has said why, could not run it.
 */
int traced_end(void);

/* End the program, and wait for that; but not for long. */
void traced_stop(void);

/*
 * Keep the trace in memory: read all of it from @t->fd. Returns the name of a
 * file, malloc'ed, that only this process has.
 */
char *traced_keep(const struct traced *t);

#endif
