/* SPDX-License-Identifier: MIT */
/*
 * line_groups - the cache lines of one variable, or of blocks from one call, as
 * one group
 */
#include <stdlib.h>
#include <string.h>

#include "line_groups.h"
#include "analysis/base/util.h"

/* Nothing tells the parts of other memory apart, so each line stays alone. */
static bool of_one_variable(const struct line_tally *x,
			    const struct line_tally *y)
{
	if (x->object.block && y->object.block && x->process == y->process)
		return !object_compare_blocks(&x->object, &y->object);
	return x->object.kind == OBJECT_STATIC &&
	       y->object.kind == OBJECT_STATIC && x->process == y->process &&
	       x->object.start == y->object.start;
}

/* Compares indices of lines: those of one variable next to each other. */
static int compare_variables(const void *a, const void *b, void *lines)
{
	const struct line_tally *line = lines;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct line_tally *x = &line[i], *y = &line[k];

	if (x->process != y->process)
		return order_u64(x->process, y->process);
	if (x->object.block != y->object.block)
		return x->object.block ? 1 : -1;
	if (x->object.block && object_compare_blocks(&x->object, &y->object))
		return object_compare_blocks(&x->object, &y->object);
	if (x->object.start != y->object.start)
		return order_u64(x->object.start, y->object.start);
	if (x->object.kind != y->object.kind)
		return order_u64(x->object.kind, y->object.kind);
	return order_u64(i, k); /* as in the tally */
}

static int compare_groups(const void *a, const void *b, void *lines)
{
	const struct line_group *x = a, *y = b;
	const size_t *line = lines;
	int order = order_u64(tally_total(y->kind), tally_total(x->kind));

	return order ? order : order_u64(line[x->first], line[y->first]);
}

void line_groups_init(struct line_groups *g, const struct tally *t)
{
	memset(g, 0, sizeof(*g));
	g->line = xcalloc(t->lines, sizeof(*g->line));
	g->group = xcalloc(t->lines, sizeof(*g->group));
	for (size_t i = 0; i < t->lines; i++)
		g->line[i] = i;
	if (t->lines)
		qsort_r(g->line, t->lines, sizeof(*g->line), compare_variables,
			t->line);
	for (size_t i = 0; i < t->lines; i++) {
		const struct line_tally *l = &t->line[g->line[i]];
		struct line_group *last;

		if (!i || !of_one_variable(&t->line[g->line[i - 1]], l))
			g->group[g->groups++].first = i;
		last = &g->group[g->groups - 1];
		last->lines++;
		for (int k = 0; k < SHARING_KINDS; k++)
			last->kind[k] = sat_add(last->kind[k], l->kind[k]);
	}
	if (g->groups)
		qsort_r(g->group, g->groups, sizeof(*g->group), compare_groups,
			g->line);
}

void line_groups_release(struct line_groups *g)
{
	free(g->line);
	free(g->group);
	memset(g, 0, sizeof(*g));
}
