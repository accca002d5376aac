/* SPDX-License-Identifier: MIT */
/*
 * reg_types_frame - what the frame of a function holds: variables that DWARF
 * places there, and registers that the compiler put away
 *
 * A compiler gives a spilled register a place that nothing else has. Whether
 * a place is of that kind is not told, though; so what lies close behind an
 * address that the function takes is forgotten at each call.
 */
#include "reg_types_internal.h"

enum {
	REGISTER_BYTES = 8,
	TAKEN_BYTES = 128, /* the object at an address may have */
};

static size_t spill_at(const struct spills *s, int64_t at)
{
	size_t i = 0;

	while (i < s->n && s->spill[i].at != at)
		i++;
	return i;
}

const struct reg_value *spills_find(const struct spills *s, int64_t at)
{
	size_t i = spill_at(s, at);

	return i < s->n ? &s->spill[i].value : NULL;
}

static void drop(struct spills *s, size_t i)
{
	s->spill[i] = s->spill[--s->n];
}

void spills_forget(struct spills *s, int64_t at, int bytes)
{
	for (size_t i = s->n; i--;)
		if (bytes < 0 || (s->spill[i].at < at + bytes &&
				  at < s->spill[i].at + REGISTER_BYTES))
			drop(s, i);
}

void spills_put(struct spills *s, int64_t at, const struct reg_value *v)
{
	spills_forget(s, at, REGISTER_BYTES);
	if (s->n < SPILLS_MAX && v->type)
		s->spill[s->n++] = (struct spill){ at, *v };
}

void spills_call(struct spills *s, const struct habits *h)
{
	if (h->all_taken)
		s->n = 0;
	for (size_t i = 0; i < h->takens; i++)
		spills_forget(s, h->taken[i], TAKEN_BYTES);
}

bool spills_meet(struct spills *to, const struct spills *from)
{
	bool changed = false;

	for (size_t i = to->n; i--;) {
		struct spill *mine = &to->spill[i];
		const struct reg_value *other = spills_find(from, mine->at);
		struct reg_value v =
			other ? reg_value_either(mine->value, *other)
			      : reg_value_any();

		if (reg_value_same(&v, &mine->value))
			continue;
		changed = true;
		mine->value = v;
		if (!v.type)
			drop(to, i);
	}
	return changed;
}

/* Where the variable of @s begins, from the frame's start. */
static bool begins_at(const struct moment *m, const struct seed *s, int64_t *at)
{
	const struct reg_value *base =
		s->reg < GPRS ? &m->regs.r[s->reg] : NULL;

	*at = s->value.at;
	if (!base)
		return true;
	return base->type == &reg_value_frame && !base->stride &&
	       !__builtin_add_overflow(*at, base->at, at);
}

struct reg_value reg_types_in_frame(const struct moment *m, struct reg_value v)
{
	struct reg_value found = reg_value_any();
	int64_t at;

	/* The narrower range comes last, and counts. */
	for (size_t i = 0; i < m->n; i++) {
		const struct seed *s = &m->seed[m->holds[i]];

		if (!s->in_memory || !begins_at(m, s, &at) || v.at < at ||
		    (uint64_t)(v.at - at) >= s->value.type->size)
			continue;
		found = v;
		found.type = s->value.type;
		found.at = v.at - at;
	}
	return found;
}
