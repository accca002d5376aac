/* SPDX-License-Identifier: MIT */
/*
 * listing - which processes there are now, and their threads and children
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_LISTING_H
#define COMDET_ANALYSIS_OUTSIDE_LISTING_H

#include <stddef.h>
#include <sys/types.h>

struct listing {
	pid_t *pid;
	size_t n, room;
};

/* None if there is no such process. The caller releases the listing. */
struct listing list_processes(void); /* all that /proc has */
struct listing list_threads(pid_t pid);
struct listing list_children(pid_t pid);
void listing_release(struct listing *l);

/* The process that thread @tid is of, 0 if there is no such thread. */
pid_t list_process_of(pid_t tid);

#endif
