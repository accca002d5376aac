/* SPDX-License-Identifier: MIT */
/*
 * targets - attach to processes that run already, with all of their threads
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_TARGETS_H
#define COMDET_ANALYSIS_OUTSIDE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "follow.h"
#include "group.h"

struct targets {
	struct follow *follow;
	bool children;       /* also those that the targets have already */
	bool lenient;        /* one that cannot be watched is left out */
	struct group *group; /* it is too, and this says so; may be NULL */
};

/*
 * Attach to the @n processes @pid, or threads if nothing else is followed.
 * Returns 0 or -errno, and then *@failed is the one that it is about: -ESRCH
 * if none is left.
 */
int targets_attach(const struct targets *t, const pid_t *pid, size_t n,
		   pid_t *failed);

/* Attach to those that came into @g since. */
void targets_attach_group(struct follow *f, struct group *g);

#endif
