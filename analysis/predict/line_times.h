/* SPDX-License-Identifier: MIT */
/*
 * line_times - when a thread last used each line
 */
#ifndef COMDET_ANALYSIS_PREDICT_LINE_TIMES_H
#define COMDET_ANALYSIS_PREDICT_LINE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINE_TIMES_GROUP = 3 /* log2 of the lines of a group */
};

/* Of a line; all but its number are 0 at first. */
struct line_time {
	uint64_t line;    /* + 1; 0: an empty place */
	uint64_t used;    /* number of the latest use, from 1; 0: none */
	uint32_t version; /* of the line, when the thread last used it */
	uint32_t id : 31; /* the user's; 0: none yet */
	bool stored : 1;  /* the thread stored to it */
};

struct line_times {
	struct line_time *place;
	size_t n, places; /* a power of two, or 0 */
};

/*
 * Where the search for @key, a line + 1, begins. Neighbours of a group of lines
 * begin at neighbouring places, so that a walk finds them in few cache lines.
 */
static inline size_t line_times_start(const struct line_times *t, uint64_t key)
{
	uint64_t group = key >> LINE_TIMES_GROUP;
	uint64_t place = (group * 0x9e3779b97f4a7c15u >> 20)
				 << LINE_TIMES_GROUP |
			 (key & ((1 << LINE_TIMES_GROUP) - 1));

	return (size_t)place & (t->places - 1);
}

/* Fetch the entry of @line, for a use soon. */
static inline void line_times_fetch(const struct line_times *t, uint64_t line)
{
	if (t->n)
		__builtin_prefetch(&t->place[line_times_start(t, line + 1)], 1);
}

/* Make the entry of @line. */
struct line_time *line_times_add(struct line_times *t, uint64_t line);

/* The entry of @line, or NULL. */
static inline struct line_time *line_times_find(const struct line_times *t,
						uint64_t line)
{
	if (!t->n)
		return NULL;
	for (size_t i = line_times_start(t, line + 1);; i++) {
		struct line_time *l = &t->place[i & (t->places - 1)];

		if (l->line == line + 1)
			return l;
		if (!l->line)
			return NULL;
	}
}

/* The entry of @line, made if need be; valid until the next one is made. */
static inline struct line_time *line_times_of(struct line_times *t,
					      uint64_t line)
{
	struct line_time *l = line_times_find(t, line);

	return l ? l : line_times_add(t, line);
}

void line_times_release(struct line_times *t);

#endif
