/* SPDX-License-Identifier: MIT */
/*
 * permission - may we watch this process, and if not, what helps
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_PERMISSION_H
#define COMDET_ANALYSIS_OUTSIDE_PERMISSION_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Look at process @pid, or thread @pid with @thread, and try what watching
 * needs: an event and a read of its memory. Returns NULL if all is well, or a
 * malloc'ed line with cause and cure.
 */
char *permission_denied(pid_t pid, bool thread);

/* The same for the error of an event that could not be opened for @tid. */
char *permission_event(pid_t tid, int error);

/* Do we have CAP_SYS_PTRACE? Then processes of other users are open to us. */
bool permission_ptrace(void);

#endif
