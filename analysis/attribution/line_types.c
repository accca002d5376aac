/* SPDX-License-Identifier: MIT */
/*
 * line_types - which objects of which types lie on a cache line
 */
#include <stdlib.h>
#include <string.h>

#include "line_types.h"
#include "analysis/base/util.h"

enum {
	PAIRS_MAX = 4096,    /* of a line: those with most detections */
	INSTANCES_MAX = 128, /* that accesses suggest */
	OBJECT_BYTES_MAX = 1 << 20,
};

static bool same(const struct instance *x, const struct instance *y)
{
	return x->start == y->start && !x->variable == !y->variable &&
	       symbols_same_type(&x->type, &y->type);
}

static void vote(struct line_types *t, const struct instance *i)
{
	for (size_t k = 0; k < t->n; k++)
		if (same(&t->instance[k], i)) {
			t->instance[k].votes =
				sat_add(t->instance[k].votes, i->votes);
			return;
		}
	if (t->n == INSTANCES_MAX)
		return;
	t->instance = grow(t->instance, t->n, &t->room, sizeof(*t->instance));
	t->instance[t->n++] = *i;
}

/* One of the two accesses of a pair. */
struct from {
	const struct process *process; /* of the instruction */
	uint64_t ip, ip_generation;
	uint64_t addr, count;
};

static void vote_for(struct line_types *t, struct symbols *s,
		     const struct process *process, uint64_t generation,
		     const struct from *from)
{
	struct typed_variable v;
	struct typed_access a;

	if (symbols_variable(s, process, from->addr, generation, &v)) {
		vote(t, &(struct instance){ .type = v.type,
					    .variable = v.name,
					    .start = v.start,
					    .votes = from->count });
		return;
	}
	if (!from->ip ||
	    !symbols_access(s, from->process, from->ip, from->ip_generation,
			    &a) ||
	    a.indexed || !a.type.compound || !a.type.size ||
	    a.type.size > OBJECT_BYTES_MAX || a.offset > from->addr)
		return;
	vote(t, &(struct instance){ .type = a.type,
				    .start = from->addr - a.offset,
				    .votes = from->count });
}

/* A member's votes are its object's too. */
static void merge_members(struct line_types *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->n; k++) {
			struct instance *outer = &t->instance[i];
			const struct instance *inner = &t->instance[k];

			if (i == k || !outer->votes || !inner->votes ||
			    inner->variable || inner->start < outer->start ||
			    inner->type.size > outer->type.size ||
			    !symbols_holds(&outer->type,
					   inner->start - outer->start,
					   &inner->type))
				continue;
			outer->votes = sat_add(outer->votes, inner->votes);
			t->instance[k].votes = 0;
		}
}

static bool overlap(const struct instance *x, const struct instance *y)
{
	return x->start < y->start + y->type.size &&
	       y->start < x->start + x->type.size;
}

/*
 * Static variables are certain; then votes count; then a type of the program's
 * before one of a library's, which may have had the memory before (malloc);
 * then the larger object.
 */
static int compare_trust(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	if (!x->variable != !y->variable)
		return x->variable ? -1 : 1;
	if (x->votes != y->votes)
		return order_u64(y->votes, x->votes);
	if (x->type.library != y->type.library)
		return x->type.library ? 1 : -1;
	if (x->type.size != y->type.size)
		return order_u64(y->type.size, x->type.size);
	return order_u64(x->start, y->start);
}

static int compare_starts(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	return order_u64(x->start, y->start);
}

static void choose(struct line_types *t)
{
	size_t kept = 0;

	if (!t->n)
		return;
	qsort(t->instance, t->n, sizeof(*t->instance), compare_trust);
	for (size_t i = 0; i < t->n; i++) {
		bool good = t->instance[i].votes;

		for (size_t k = 0; k < kept && good; k++)
			good = !overlap(&t->instance[i], &t->instance[k]);
		if (good)
			t->instance[kept++] = t->instance[i];
	}
	t->n = kept;
	qsort(t->instance, t->n, sizeof(*t->instance), compare_starts);
}

static void number(struct line_types *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct instance *x = &t->instance[i];

		for (size_t k = 0; k < t->n; k++) {
			const struct instance *y = &t->instance[k];

			if (y->variable || x->variable ||
			    !symbols_same_type(&x->type, &y->type))
				continue;
			x->of++;
			x->number += k <= i;
		}
	}
}

void line_types_build(struct line_types *t, const struct tally *tally,
		      struct symbols *s, const struct line_tally *line)
{
	const struct profile *p = tally->profile;
	const struct process *process = &p->process[line->process];

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < line->pairs && i < PAIRS_MAX; i++) {
		const struct pair_row *r =
			&p->pair[tally->by_line[line->first + i]];
		struct from from = {
			.process = &p->process[r->publisher_process],
			.ip = r->publisher_ip,
			.ip_generation =
				r->foreign ? UINT64_MAX : r->map_generation,
			.addr = r->publisher_addr,
			.count = r->count,
		};

		vote_for(t, s, process, r->line_generation, &from);
		from = (struct from){
			.process = &p->process[r->detector_process],
			.ip = r->detector_ip,
			.ip_generation = r->map_generation,
			.addr = r->detector_addr,
			.count = r->count,
		};
		vote_for(t, s, process, r->line_generation, &from);
	}
	merge_members(t);
	choose(t);
	number(t);
}

void line_types_release(struct line_types *t)
{
	free(t->instance);
	memset(t, 0, sizeof(*t));
}

bool line_types_field(const struct line_types *t, uint64_t addr,
		      struct line_field *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct instance *in = &t->instance[i];
		struct data_part part;

		if (addr < in->start || addr - in->start >= in->type.size)
			continue;
		if (!symbols_part(&in->type, addr - in->start, &part))
			return false;
		*out = (struct line_field){ .in = in,
					    .start = in->start + part.start,
					    .size = part.size,
					    .path = part.path };
		return part.size || (free(part.path), false);
	}
	return false;
}

const char *instance_name(const struct instance *i)
{
	return i->variable    ? i->variable
	       : i->type.name ? i->type.name
			      : "unnamed structure";
}

char *line_field_name(const struct line_field *field)
{
	const struct instance *in = field->in;

	if (in->variable || in->of < 2)
		return xasprintf("%s%s", instance_name(in), field->path);
	return xasprintf("%s #%u%s", instance_name(in), in->number,
			 field->path);
}
