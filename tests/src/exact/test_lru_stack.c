/* SPDX-License-Identifier: MIT */
/*
 * test_lru_stack - stack distances against a list that is searched
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/exact/lru_stack.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	LINES = 1 << 12,
	LIST = 1 << 13,
};

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

/* The most recent line first. */
struct list {
	uint32_t n;
	uint64_t line[LIST];
};

static uint64_t list_access(struct list *l, uint64_t line)
{
	uint32_t i = 0;
	uint64_t distance;

	while (i < l->n && l->line[i] != line)
		i++;
	distance = i < l->n ? i : LRU_STACK_COLD;
	l->n += i == l->n;
	memmove(l->line + 1, l->line, i * sizeof(l->line[0]));
	l->line[0] = line;
	return distance;
}

/* Streams of lines, by number. */
static uint64_t next_line(int pattern, struct rng *rng, uint64_t i)
{
	switch (pattern) {
	case 0: /* a cycle */
		return i % 1000;
	case 1: /* at random */
		return rng_below(rng, 1500);
	case 2: /* few hot ones */
		return rng_below(rng, 1 + rng_below(rng, 2000));
	case 3: /* columns: lines 16 and 4096 apart */
		return 16 * (i % 40) + 4096 * (i / 40 % 30);
	case 4: /* phases that share nothing */
		return i / 14000 * 600 + rng_below(rng, 600);
	case 5: /* there and back */
		return i % 2000 < 1000 ? i % 2000 : 2000 - i % 2000;
	case 6: /* so many that the table grows */
		return rng_below(rng, 1 + i / 10) % 7000;
	default: /* the last ones again and again, high addresses */
		return (UINT64_C(1) << 57) + i / 40 % 1500 + rng_below(rng, 20);
	}
}
enum {
	PATTERNS = 8,
};

START_TEST(distances_are_those_of_a_list)
{
	struct lru_stack *s =
		lru_stack_init(map(lru_stack_size(2 * LINES)), 2 * LINES);
	static struct list list;
	struct rng rng;

	rng_seed(&rng, _i, 0);
	for (uint64_t i = 0; i < 70000; i++) {
		uint64_t line = next_line(_i, &rng, i), distance = 0;
		struct lru_stack_line *l = lru_stack_access(s, line, &distance);

		if (distance != list_access(&list, line))
			ck_abort_msg("access %lu: %lu", i, distance);
		/* The caller's fields stay with their line. */
		if (!l || l->key != line + 1 ||
		    l->bytes != (distance == LRU_STACK_COLD ? 0 : ~line))
			ck_abort_msg("access %lu: another line's", i);
		l->bytes = ~line;
	}
	ck_assert_uint_eq(lru_stack_lines(s), list.n);
	ck_assert_uint_eq(lru_stack_weight(s), 1);
}
END_TEST

/* As many lines as there is room for: the row of positions grows. */
START_TEST(a_cycle_over_n_lines_has_distance_n_less_1)
{
	const uint32_t n = 1 << 16;
	struct lru_stack *s = lru_stack_init(map(lru_stack_size(n)), n);
	uint64_t distance;

	for (uint32_t i = 0; i < 8 * n; i++) {
		if (!lru_stack_access(s, i % n, &distance) ||
		    distance != (i < n ? LRU_STACK_COLD : n - 1))
			ck_abort_msg("access %u: %lu", i, distance);
	}
	ck_assert_uint_eq(lru_stack_lines(s), n);
	ck_assert_uint_eq(lru_stack_weight(s), 1);
}
END_TEST

/*
 * So many lines that counts of all sizes are in use, up and down again: going
 * up, line k comes after the k lines below it, going down after those above.
 */
START_TEST(there_and_back_line_k_has_distance_k_or_n_less_1_less_k)
{
	const uint32_t n = 1 << 21, turns = 10;
	struct lru_stack *s = lru_stack_init(map(lru_stack_size(n)), n);
	uint64_t distance;

	for (uint32_t i = 0; i < turns * n; i++) {
		bool up = i / n % 2 == 0;
		uint64_t k = up ? i % n : n - 1 - i % n;
		uint64_t known = i < n ? LRU_STACK_COLD : up ? k : n - 1 - k;

		if (!lru_stack_access(s, k, &distance) || distance != known)
			ck_abort_msg("access %u: %lu", i, distance);
	}
}
END_TEST

struct walk {
	const struct list *list;
	const bool *kept; /* by line */
	uint32_t n;
};

static void check_order(void *ctx, struct lru_stack_line *line)
{
	struct walk *w = ctx;

	if (line->key != w->list->line[w->list->n - ++w->n] + 1)
		ck_abort_msg("line %u", w->n);
}

START_TEST(each_goes_from_the_least_recent_to_the_most_recent_line)
{
	struct lru_stack *s = lru_stack_init(map(lru_stack_size(LINES)), LINES);
	static struct list list;
	struct walk w = { .list = &list };
	uint64_t distance;
	struct rng rng;

	rng_seed(&rng, 3, 0);
	for (int i = 0; i < 50000; i++) {
		uint64_t line = rng_below(&rng, 2500);

		lru_stack_access(s, line, &distance);
		list_access(&list, line);
	}
	lru_stack_each(s, check_order, &w);
	ck_assert_uint_eq(w.n, list.n);
}
END_TEST

static int bin(uint64_t distance)
{
	if (distance == LRU_STACK_COLD)
		return 20;
	return distance ? 64 - __builtin_clzll(distance) : 0;
}

/*
 * Twenty times as many lines as there is room for, some hot. The share of
 * accesses with a distance below C is compared for powers of two; half of a
 * percent of all is what SHARDS' authors report for some thousand lines.
 */
START_TEST(with_too_many_lines_a_sample_of_them_estimates_the_distances)
{
	const uint32_t all = 20 * LINES, n = 600000;
	struct lru_stack *s = lru_stack_init(map(lru_stack_size(LINES)), LINES);
	struct lru_stack *exact =
		lru_stack_init(map(lru_stack_size(1 << 17)), 1 << 17);
	double below[21] = { 0 }, truth[21] = { 0 }, total = 0, worst = 0;
	struct rng rng;

	rng_seed(&rng, 7, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t line = rng_below(&rng, 1 + rng_below(&rng, all));
		uint64_t distance = 0, known = 0;
		double weight;

		lru_stack_access(exact, line, &known);
		truth[bin(known)]++;
		if (!lru_stack_access(s, line, &distance))
			continue;
		weight = (double)lru_stack_weight(s);
		total += weight;
		below[bin(distance)] += weight;
		if (lru_stack_lines(s) > LINES)
			ck_abort_msg("too many lines");
	}
	ck_assert_uint_eq(lru_stack_weight(exact), 1);
	ck_assert_uint_ge(lru_stack_weight(s), 16);
	for (int b = 0; b < 20; b++) {
		double error;

		below[b] += b ? below[b - 1] : 0;
		truth[b] += b ? truth[b - 1] : 0;
		error = fabs(below[b] / total - truth[b] / n);

		worst = error > worst ? error : worst;
	}
	ck_assert_double_lt(worst, 0.02);
	ck_assert_double_lt(fabs(total / n - 1), 0.02);
}
END_TEST

/* Marks by line. */
static void mark(void *ctx, struct lru_stack_line *line)
{
	bool *kept = ctx;

	kept[line->key - 1] = true;
}

static void check_kept_order(void *ctx, struct lru_stack_line *line)
{
	struct walk *w = ctx;

	while (w->n && !w->kept[w->list->line[w->n - 1]])
		w->n--;
	if (!w->n || line->key != w->list->line[--w->n] + 1)
		ck_abort_msg("line %u", w->n);
}

/*
 * Twice as many lines as there is room for, then only lines that were there:
 * none is left out any more. Of the list those count that are kept.
 */
START_TEST(lines_that_are_kept_have_their_exact_distances_among_themselves)
{
	struct lru_stack *s = lru_stack_init(map(lru_stack_size(LINES)), LINES);
	static struct list list;
	static bool kept[LIST];
	struct walk w = { .list = &list, .kept = kept };
	struct rng rng;
	uint64_t distance;

	rng_seed(&rng, _i, 0);
	/* Twice over: the first one's last line may have left others out. */
	for (int i = 0; i < 2 * LIST; i++) {
		uint64_t line = (uint64_t)i * (_i ? 5 : 1) % LIST;

		lru_stack_access(s, line, &distance);
		list_access(&list, line);
	}
	lru_stack_each(s, mark, kept);
	ck_assert_uint_ge(lru_stack_weight(s), 2);
	w.n = list.n;
	lru_stack_each(s, check_kept_order, &w);
	for (int i = 0; i < 30000; i++) {
		uint64_t line = rng_below(&rng, LIST), among = 0;
		struct lru_stack_line *l = lru_stack_access(s, line, &distance);

		if (!l != !kept[line])
			ck_abort_msg("access %d: line %lu", i, line);
		for (uint32_t j = 0; list.line[j] != line; j++)
			among += kept[list.line[j]];
		if (l && distance != among * lru_stack_weight(s))
			ck_abort_msg("access %d: %lu, not %lu", i, distance,
				     among);
		list_access(&list, line);
	}
}
END_TEST

START_TEST(sizes_that_cannot_be_are_refused)
{
	ck_assert_uint_eq(lru_stack_size(0), 0);
	ck_assert_uint_eq(lru_stack_size(LINES - 1), 0);
	ck_assert_uint_eq(lru_stack_size(LRU_STACK_LINES_MIN / 2), 0);
	ck_assert_uint_eq(lru_stack_size(2u * LRU_STACK_LINES_MAX), 0);
	ck_assert_ptr_null(lru_stack_init(NULL, 3));
	ck_assert_uint_gt(lru_stack_size(LRU_STACK_LINES_MAX), 1u << 31);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lru_stack");
	TCase *tc = tcase_create("lru_stack");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, distances_are_those_of_a_list, 0, PATTERNS);
	tcase_add_test(tc, a_cycle_over_n_lines_has_distance_n_less_1);
	tcase_add_test(tc,
		       there_and_back_line_k_has_distance_k_or_n_less_1_less_k);
	tcase_add_test(tc,
		       each_goes_from_the_least_recent_to_the_most_recent_line);
	tcase_add_test(
		tc,
		with_too_many_lines_a_sample_of_them_estimates_the_distances);
	tcase_add_loop_test(
		tc,
		lines_that_are_kept_have_their_exact_distances_among_themselves,
		0, 2);
	tcase_add_test(tc, sizes_that_cannot_be_are_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
