/* SPDX-License-Identifier: MIT */
/*
 * miss_places - misses by source line and by object
 */
#ifndef COMDET_ANALYSIS_MODEL_MISS_PLACES_H
#define COMDET_ANALYSIS_MODEL_MISS_PLACES_H

#include <stddef.h>

#include "misses.h"
#include "analysis/base/json_build.h"
#include "analysis/symbols/symbols.h"

struct miss_place {
	struct place place;   /* of the instruction that missed most */
	struct object object; /* where it missed most; the offset is 0 */
	uint64_t most;        /* cycles: of that */
	struct miss_counts n;
};

/* Both tables have the rows of most cycles first. */
struct miss_places {
	struct miss_place *line; /* a source line, and an object */
	size_t lines;
	struct miss_place *object;
	size_t objects;
	struct miss_counts all;
};

/*
 * The names are those that @s has for @process, which recorded the trace. They
 * must live as long as @p.
 */
void miss_places_init(struct miss_places *p, const struct misses *m,
		      struct symbols *s, const struct process *process);
void miss_places_release(struct miss_places *p);

void miss_places_print_text(const struct miss_places *p);
json_t *miss_places_json(const struct miss_places *p);

#endif
