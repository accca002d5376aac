/* SPDX-License-Identifier: MIT */
/*
 * exact_tally - the records of counted transfers, sorted and added up
 */
#include <stdlib.h>
#include <string.h>

#include "exact_tally.h"
#include "analysis/base/util.h"

static uint64_t transfers_of(const struct cdp_transfer *t)
{
	return t->value[t->kind == CDP_EXACT_LINE ? 1 : 0];
}

static int compare(const void *a, const void *b)
{
	const struct found *f = a, *g = b;
	uint64_t x = transfers_of(f->record), y = transfers_of(g->record);

	if (x != y)
		return x < y ? 1 : -1;
	if (f->process != g->process)
		return f->process < g->process ? -1 : 1;
	return (f->record > g->record) - (f->record < g->record);
}

/* Of a record about one line. */
static uint64_t address_of(const struct cdp_transfer *t)
{
	return t->kind == CDP_EXACT_LINE || t->kind == CDP_AVOIDABLE_LINE ||
			       t->kind == CDP_AVOIDABLE_GROUP
		       ? t->value[0]
		       : 0;
}

static bool same(const struct cdp_transfer *x, const struct cdp_transfer *y)
{
	return x->kind == y->kind && x->a == y->a && x->b == y->b &&
	       address_of(x) == address_of(y);
}

/* By process, address and number. */
static int compare_places(const void *a, const void *b)
{
	const struct found *f = a, *g = b;
	uint64_t x = address_of(f->record), y = address_of(g->record);

	if (f->process != g->process)
		return f->process < g->process ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (f->record->b > g->record->b) - (f->record->b < g->record->b);
}

static int compare_keys(const void *a, const void *b)
{
	const struct cdp_transfer *x = *(const struct cdp_transfer *const *)a;
	const struct cdp_transfer *y = *(const struct cdp_transfer *const *)b;
	uint64_t i = address_of(x), j = address_of(y);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (i != j)
		return i < j ? -1 : 1;
	return (x > y) - (x < y); /* keep the file's order */
}

static bool is_exact(const struct cdp_transfer *r)
{
	switch (r->kind) {
	case CDP_EXACT_CELL:
	case CDP_EXACT_LINE:
	case CDP_EXACT_THREAD:
	case CDP_EXACT_MISS:
		return true;
	case CDP_AVOIDABLE_LINE:
	case CDP_AVOIDABLE_GROUP:
		return r->a == CDP_AVOIDABLE_COUNTED;
	default:
		return false;
	}
}

/* Take the records of one process; of equal ones the last counts. */
static void take_process(struct exact_tally *t, const struct process *s,
			 uint32_t process)
{
	const struct cdp_transfer **sorted =
		xcalloc(s->transfers, sizeof(*sorted));

	for (size_t i = 0; i < s->transfers; i++)
		sorted[i] = &s->transfer[i];
	qsort(sorted, s->transfers, sizeof(*sorted), compare_keys);
	for (size_t i = 0; i < s->transfers; i++) {
		const struct cdp_transfer *r = sorted[i];
		struct found f = { process, r };

		if ((i + 1 < s->transfers && same(r, sorted[i + 1])) ||
		    !is_exact(r))
			continue;
		switch (r->kind) {
		case CDP_EXACT_CELL:
			t->cell[t->cells++] = f;
			t->transfers = sat_add(t->transfers, r->value[0]);
			t->false_sharing =
				sat_add(t->false_sharing, r->value[1]);
			t->useless = sat_add(t->useless, r->value[2]);
			break;
		case CDP_EXACT_LINE:
			if (r->value[0])
				t->line[t->lines++] = f;
			break;
		case CDP_EXACT_THREAD:
			t->thread[t->threads++] = f;
			break;
		case CDP_EXACT_MISS:
			t->miss[t->misses++] = f;
			break;
		case CDP_AVOIDABLE_LINE:
			t->avoidable[t->avoidables++] = f;
			t->avoids = sat_add(t->avoids, r->value[2]);
			break;
		case CDP_AVOIDABLE_GROUP:
			t->group[t->groups++] = f;
			break;
		default: /* estimates share the section */
			break;
		}
	}
	free(sorted);
}

static size_t exact_records(const struct process *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->transfers; i++)
		n += is_exact(&s->transfer[i]);
	return n;
}

bool exact_tally(struct exact_tally *t, const struct profile *p)
{
	size_t n = 0;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < p->processes; i++)
		n += exact_records(&p->process[i]);
	if (!n)
		return false;
	t->cell = xcalloc(n, sizeof(*t->cell));
	t->line = xcalloc(n, sizeof(*t->line));
	t->thread = xcalloc(n, sizeof(*t->thread));
	t->miss = xcalloc(n, sizeof(*t->miss));
	t->avoidable = xcalloc(n, sizeof(*t->avoidable));
	t->group = xcalloc(n, sizeof(*t->group));
	for (size_t i = 0; i < p->processes; i++)
		if (p->process[i].transfers)
			take_process(t, &p->process[i], i);
	qsort(t->cell, t->cells, sizeof(*t->cell), compare);
	qsort(t->line, t->lines, sizeof(*t->line), compare);
	qsort(t->avoidable, t->avoidables, sizeof(*t->avoidable),
	      compare_places);
	qsort(t->group, t->groups, sizeof(*t->group), compare_places);
	return true;
}

void exact_tally_release(struct exact_tally *t)
{
	free(t->cell);
	free(t->line);
	free(t->thread);
	free(t->miss);
	free(t->avoidable);
	free(t->group);
}

const struct cdp_transfer *exact_tally_avoidable(const struct exact_tally *t,
						 const struct found *f)
{
	struct cdp_transfer key = { .kind = CDP_AVOIDABLE_LINE,
				    .value = { f->record->value[0] } };
	struct found at = { f->process, &key };
	const struct found *found = bsearch(&at, t->avoidable, t->avoidables,
					    sizeof(at), compare_places);

	return found ? found->record : NULL;
}

const struct found *exact_tally_groups(const struct exact_tally *t,
				       const struct cdp_transfer *avoidable,
				       uint32_t process, size_t *n)
{
	struct cdp_transfer key = { .kind = CDP_AVOIDABLE_GROUP,
				    .value = { avoidable->value[0] } };
	struct found at = { process, &key };
	const struct found *first =
		bsearch(&at, t->group, t->groups, sizeof(at), compare_places);
	uint64_t groups = avoidable->value[5];

	*n = 0;
	while (first && *n < groups && first + *n < t->group + t->groups &&
	       first[*n].process == process &&
	       address_of(first[*n].record) == avoidable->value[0])
		++*n;
	return first;
}
