/* SPDX-License-Identifier: MIT */
/*
 * pprof_child - make a profile for pprof in a child
 *
 * Names come from the files of foreign programs. A child that crashes over them
 * takes nothing along, and its time and the size of its answer are bounded.
 */
#ifndef COMDET_ANALYSIS_DAEMON_PPROF_CHILD_H
#define COMDET_ANALYSIS_DAEMON_PPROF_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "child.h"

struct pprof_child {
	struct child child;
	int answer; /* descriptor */
};

/*
 * Of the files in @path that were made from @from_ms to before @until_ms; an
 * empty profile if @path is NULL. Returns 0 or -errno.
 */
int pprof_child_begin(struct pprof_child *c, const char *path, uint64_t from_ms,
		      uint64_t until_ms);

/*
 * The child has ended: take its answer, malloc'ed, NULL if it failed. Returns
 * its CPU time in ns.
 */
uint64_t pprof_child_end(struct pprof_child *c, char **answer, size_t *bytes);

/* Give up. Nothing happens if there is none. Returns its CPU time in ns. */
uint64_t pprof_child_kill(struct pprof_child *c);

#endif
