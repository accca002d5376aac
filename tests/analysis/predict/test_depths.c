/* SPDX-License-Identifier: MIT */
/*
 * test_depths - where a line is among those of its set
 *
 * The oracle keeps all lines of each set in a list, in the order of their
 * latest use. Each claim is tried with AVX2, where there is any, and without.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/predict/depths.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	LINES = 3000,
	USES = 60000,
};

struct list {
	uint32_t id[LINES];
	int n;
};

/*
 * How many of the list are before @id and in the same of 1 << @sets_log sets,
 * where an id is a line + 1; DEPTH_WAYS: at least so many, or @id is not there.
 */
static int depth_in(const struct list *l, uint32_t id, int sets_log)
{
	uint32_t others = (1u << sets_log) - 1;
	int n = 0;

	for (int i = 0; i < l->n && n < DEPTH_WAYS; i++) {
		if (l->id[i] == id)
			return n;
		n += !(((l->id[i] - 1) ^ (id - 1)) & others);
	}
	return DEPTH_WAYS;
}

static void put_first(struct list *l, uint32_t id)
{
	int at = 0;

	while (at < l->n && l->id[at] != id)
		at++;
	if (at == l->n)
		l->n++;
	memmove(&l->id[1], l->id, (size_t)at * sizeof(l->id[0]));
	l->id[0] = id;
}

/* The line before or one near it, and now and then any one. */
static uint64_t draw(struct rng *r, uint64_t before)
{
	switch (rng_below(r, 4)) {
	case 0:
		return rng_below(r, LINES);
	case 1:
		return before;
	default:
		return (before + rng_below(r, 40)) % LINES;
	}
}

/* Each list has the lines of a set where there are fewest sets. */
static void agrees(bool narrow, int first)
{
	static struct list list[1 << DEPTH_SETS_MIN];
	struct depths *d = depths_new(narrow);
	uint64_t line = 0;
	struct rng r;

	memset(list, 0, sizeof(list));
	rng_seed(&r, 1, 1);
	for (int i = 0; i < USES; i++) {
		uint8_t depth[DEPTH_SIZES] = { 0 };
		struct list *l;
		uint32_t id;
		int n;

		line = draw(&r, line);
		id = (uint32_t)line + 1;
		l = &list[line & ((1 << DEPTH_SETS_MIN) - 1)];
		n = depths_use(d, line, id, first, depth);
		ck_assert_int_le(n, DEPTH_SIZES - first);
		for (int size = first; size < DEPTH_SIZES; size++)
			ck_assert_int_eq(
				depth[size - first],
				depth_in(l, id, DEPTH_SETS_MIN + size));
		put_first(l, id);
	}
	depths_free(d);
}

START_TEST(depths_are_those_of_lists_in_the_order_of_use)
{
	agrees(_i & 1, _i & 2 ? SHARED_FIRST : 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("depths");
	TCase *t = tcase_create("depths");

	tcase_add_loop_test(t, depths_are_those_of_lists_in_the_order_of_use, 0,
			    4);
	suite_add_tcase(s, t);
	return run_suite(s);
}
