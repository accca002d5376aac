/* SPDX-License-Identifier: MIT */
/*
 * ranks - the directories of the ranks of a parallel job, as one profile
 */
#ifndef COMDET_ANALYSIS_PROFILE_RANKS_H
#define COMDET_ANALYSIS_PROFILE_RANKS_H

#include <stdint.h>

#include "profile.h"

typedef int ranks_loader(struct profile *p, const char *path, uint64_t from_ms,
			 uint64_t until_ms);

/*
 * Load all PATH/rank.N by @load. The last job may have had fewer ranks than one
 * before it: those beyond its number are left out. Returns 0, -EBADMSG if there
 * is none, or what @load returns.
 */
int ranks_load(struct profile *p, const char *path, uint64_t from_ms,
	       uint64_t until_ms, ranks_loader *load);

#endif
