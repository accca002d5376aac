/* SPDX-License-Identifier: MIT */
/*
 * known - the files that the processes of a profile have mapped, each opened
 * once, and what is wrong with them
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_KNOWN_H
#define COMDET_ANALYSIS_SYMBOLS_KNOWN_H

#include "module.h"
#include "analysis/profile/profile.h"

/* All zero: none is known. */
struct known {
	struct known_module *module;
	size_t modules, room;
	char **problem;
	size_t problems, problem_room;
};

void known_release(struct known *k);

/*
 * The mapping of the start of the file that @m is a part of: it carries the
 * build-id, and offsets in the module count from it. NULL: there is none.
 */
const struct cdp_map *known_first_map(const struct process *p,
				      const struct cdp_map *m);

/* Has the process code of the file of @m? */
bool known_has_code(const struct process *p, const struct cdp_map *m);

/*
 * The module of mapping @m, opened when first asked for; NULL if it is
 * unusable.
 */
struct module *known_module(struct known *k, const struct process *p,
			    const struct cdp_map *m);

/*
 * A message for the user about a file that is not used, or about what is
 * missing in the names of its instructions that module_shown() was told of.
 * NULL after the last. Valid until it is called with @i 0.
 */
const char *known_problem(struct known *k, size_t i);

#endif
