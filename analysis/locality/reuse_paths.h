/* SPDX-License-Identifier: MIT */
/*
 * reuse_paths - pairs of use and reuse by the calls that led to them
 *
 * These exist if call paths were asked for. A pair of sites has a path pair for
 * each way to get to the two sites. The weights of its path pairs add up to its
 * own weight, less what the recorder had no room for.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_PATHS_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_PATHS_H

#include "reuse_sites.h"

enum {
	REUSE_PATH_CALLS_MAX = 512, /* longer paths are cut */
};

struct reuse_path_pair {
	uint32_t process;
	uint32_t use_path, end_path; /* nodes: process_path */
	/* The sites of this pair, and its own weight and times. */
	struct reuse_pair pair;
};

struct reuse_paths {
	struct reuse_path_pair *pair; /* by pair of sites, most weight first */
	size_t pairs, pairs_room;
};

/* One call of a path, or the access itself. */
struct reuse_call {
	struct place place;
	bool recurs; /* its function calls itself later on this path */
};

/* @sites must have been made with the same @filter. */
void reuse_paths_init(struct reuse_paths *t, const struct reuse_streams *s,
		      struct symbols *symbols, const struct reuse_sites *sites,
		      const struct reuse_filter *filter);
void reuse_paths_release(struct reuse_paths *t);

/* The path pairs of @p; *@n receives how many. */
const struct reuse_path_pair *reuse_paths_of(const struct reuse_paths *t,
					     const struct reuse_pair *p,
					     size_t *n);

/*
 * Fill in the calls of the path of @node, the access first and then outwards,
 * at most REUSE_PATH_CALLS_MAX. Returns how many.
 */
size_t reuse_path_calls(struct symbols *symbols, const struct process *process,
			uint32_t node, struct reuse_call *call);

#endif
