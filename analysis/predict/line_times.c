/* SPDX-License-Identifier: MIT */
/*
 * line_times - when a thread last used each line
 */
#include <stdlib.h>
#include <string.h>

#include "line_times.h"
#include "analysis/base/util.h"

enum {
	PLACES_MIN = 1 << 12
};

/* The empty place for @key, a line + 1 that has none. */
static struct line_time *empty_place(const struct line_times *t, uint64_t key)
{
	size_t i = line_times_start(t, key);

	while (t->place[i].line)
		i = (i + 1) & (t->places - 1);
	return &t->place[i];
}

static void widen(struct line_times *t)
{
	struct line_times old = *t;

	t->places = old.places ? 2 * old.places : PLACES_MIN;
	t->place = xcalloc(t->places, sizeof(*t->place));
	for (size_t i = 0; i < old.places; i++)
		if (old.place[i].line)
			*empty_place(t, old.place[i].line) = old.place[i];
	free(old.place);
}

struct line_time *line_times_add(struct line_times *t, uint64_t line)
{
	struct line_time *l;

	if (2 * t->n >= t->places)
		widen(t);
	l = empty_place(t, line + 1);
	l->line = line + 1;
	t->n++;
	return l;
}

void line_times_release(struct line_times *t)
{
	free(t->place);
	memset(t, 0, sizeof(*t));
}
