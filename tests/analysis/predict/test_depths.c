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

/* How many of the list are before @id, which is put first. */
static int use(struct list *l, uint32_t id)
{
	int at = 0;

	while (at < l->n && l->id[at] != id)
		at++;
	if (at == l->n)
		l->n++;
	memmove(&l->id[1], l->id, (size_t)at * sizeof(l->id[0]));
	l->id[0] = id;
	return at;
}

/* Lines near each other, and each now and then a far one. */
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

static void agrees(bool narrow, int first)
{
	static struct list list[1 << DEPTH_SETS_MIN];
	struct depths *d = depths_new(narrow);
	uint64_t line = 0;
	struct rng r;

	memset(list, 0, sizeof(list));
	rng_seed(&r, 1, 1);
	for (int i = 0; i < USES; i++) {
		uint8_t depth[DEPTH_SIZES];
		bool is_new = true;
		int n, at, size = 0;
		struct list *l;

		line = draw(&r, line);
		n = depths_use(d, line, (uint32_t)line + 1, first, depth);
		ck_assert_int_le(n, DEPTH_SIZES - first);
		/* The lists are those of the fewest sets; more sets: fewer. */
		l = &list[line & ((1 << DEPTH_SETS_MIN) - 1)];
		for (int k = 0; k < l->n; k++)
			is_new &= l->id[k] != (uint32_t)line + 1;
		for (size = first; size < DEPTH_SIZES; size++) {
			uint64_t sets = 1ull << (DEPTH_SETS_MIN + size);

			at = 0;
			for (int k = 0; k < l->n; k++) {
				if (l->id[k] == (uint32_t)line + 1)
					break;
				at += ((l->id[k] - 1) & (sets - 1)) ==
				      (line & (sets - 1));
			}
			if (is_new || at > DEPTH_WAYS)
				at = DEPTH_WAYS;
			ck_assert_int_eq(
				size - first < n ? depth[size - first] : 0, at);
		}
		use(l, (uint32_t)line + 1);
	}
	free(d);
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
