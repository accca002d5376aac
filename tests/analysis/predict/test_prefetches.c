/* SPDX-License-Identifier: MIT */
/*
 * test_prefetches - loops on machines with a prefetcher, predicted and
 * simulated
 */
#include "analysis/predict/prefetches.h"
#include "predicted_loops.h"

enum {
	NEXT_LINE = PREFETCHER_NEXT_LINE - 1,
	ADJACENT = PREFETCHER_ADJACENT - 1,
	STRIDE = PREFETCHER_STRIDE - 1,
	MEMORY = 158, /* cycles of golden-c3 */
	L2 = 9,
	/* Lines: more than L2 has, fewer than the LLC. */
	FAR = 1 << 15,
	AGAIN = 1 << 14,
};

static uint64_t up(int i)
{
	return DATA + (uint64_t)i * LINE;
}

static uint64_t every_third(int i)
{
	return DATA + (uint64_t)i * 3 * LINE;
}

/* The even ones of @lines in an order without a rule, then the odd ones. */
static uint64_t even_or_odd(int i, int lines)
{
	int half = lines / 2;
	uint64_t k = (uint64_t)i * 7919 % (uint64_t)half;

	return DATA + (2 * k + (i / half & 1)) * LINE;
}

static uint64_t evens_then_odds(int i)
{
	return even_or_odd(i, FAR);
}

static uint64_t evens_and_odds_again(int i)
{
	return even_or_odd(i, AGAIN);
}

static const char chase[] = "\x48\x8b\x00"; /* mov (%rax),%rax */
static const char load[] = "\x48\x8b\x11";  /* mov (%rcx),%rdx */

START_TEST(a_chase_is_predicted_with_each_prefetcher)
{
	by_equation = false;
	set("core.prefetcher=adjacent_line");
	takes(&(struct loop){ chase, 3, 1, up, false }, (MEMORY + L2) / 2.0,
	      0.02);
}
END_TEST

START_TEST(a_stride_is_found_in_each_page)
{
	/* Of 21 and a third loads of a page, 9 find their line in L2. */
	by_equation = false;
	set("core.prefetcher=stride");
	takes(&(struct loop){ chase, 3, 1, every_third, false },
	      (64 / 3.0 - 9.2) / (64 / 3.0) * MEMORY, 0.04);
}
END_TEST

/* L2 has lost the odd lines when they are needed; the last cache has them. */
START_TEST(what_was_asked_for_long_ago_is_in_the_last_cache)
{
	double alone, with;

	by_equation = false;
	make(&(struct loop){ chase, 3, 1, evens_then_odds, false }, 0);
	alone = cycles_of(0.05);
	set("core.prefetcher=next_line");
	with = cycles_of(0.1);
	ck_assert_double_lt(with, 0.75 * alone);
}
END_TEST

/* What comes back from the last cache is no sooner there. */
START_TEST(what_l2_has_lost_since_comes_from_the_last_cache_again)
{
	by_equation = false;
	set("core.prefetcher=next_line");
	make(&(struct loop){ chase, 3, 1, evens_and_odds_again, false }, 0);
	cycles_of(0.05);
}
END_TEST

/* Memory delivers what nobody uses, too. */
START_TEST(lines_in_vain_take_the_bus)
{
	double alone, with;

	by_equation = false;
	set("memory.bandwidth_gbs=2");
	make(&(struct loop){ load, 3, 1, every_third, false }, 0);
	alone = cycles_of(0.05);
	set("core.prefetcher=next_line");
	with = cycles_of(0.05);
	ck_assert_double_eq_tol(with / alone, 2, 0.1);
}
END_TEST

/* Access @line by micro-operation @uop, which misses L1D. */
static struct micro_access miss(struct prefetches *p, struct workload_thread *t,
				uint64_t line, uint32_t uop)
{
	struct micro_access a = { 0 };

	memset(a.depth, DEPTH_WAYS, sizeof(a.depth));
	prefetches_add(p, t, line, uop, true, &a);
	t->access[t->accesses++] = a;
	return a;
}

START_TEST(each_access_knows_when_its_line_was_asked_for)
{
	struct micro_access access[8];
	struct workload_thread t = { .access = access };
	struct prefetches *p = prefetches_new();
	struct micro_access hit = { 0 };

	for (uint32_t i = 0; i < 5; i++)
		miss(p, &t, 100 + i, 10 * i);
	ck_assert_uint_eq(access[0].asked[NEXT_LINE], 0);
	ck_assert_uint_eq(access[1].asked[NEXT_LINE], 10);
	ck_assert_uint_eq(access[1].asked[ADJACENT], 10);
	ck_assert_uint_eq(access[2].asked[ADJACENT], 0);
	ck_assert_uint_eq(access[2].asked[STRIDE], 0);
	ck_assert_uint_eq(access[3].asked[STRIDE], 10); /* by the third */
	/* The last ones asked for what nobody used yet. */
	ck_assert_uint_eq(access[3].vain, 0);
	ck_assert_uint_eq(access[4].vain,
			  1 << NEXT_LINE | 1 << ADJACENT | 1 << STRIDE);
	prefetches_add(p, &t, 105, 50, true, &hit); /* L1D has it */
	ck_assert_uint_eq(hit.asked[NEXT_LINE], 0);
	ck_assert_uint_eq(access[4].vain & 1 << NEXT_LINE, 1 << NEXT_LINE);
	free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prefetches");
	TCase *t = tcase_create("prefetches");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, a_chase_is_predicted_with_each_prefetcher);
	tcase_add_test(t, a_stride_is_found_in_each_page);
	tcase_add_test(t, what_was_asked_for_long_ago_is_in_the_last_cache);
	tcase_add_test(t,
		       what_l2_has_lost_since_comes_from_the_last_cache_again);
	tcase_add_test(t, lines_in_vain_take_the_bus);
	tcase_add_test(t, each_access_knows_when_its_line_was_asked_for);
	suite_add_tcase(s, t);
	return run_suite(s);
}
