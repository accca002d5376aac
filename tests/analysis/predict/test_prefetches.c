/* SPDX-License-Identifier: MIT */
/*
 * test_prefetches - loops on machines with a prefetcher, predicted and
 * simulated
 */
#include "analysis/predict/levels.h"
#include "analysis/predict/prefetches.h"
#include "analysis/predict/timing.h"
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
	IP = 0x401000,
	LOST = 1 << 14, /* misses, until L2 has lost what was there before */
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

static uint64_t every_third_of_others(int i)
{
	return 2 * DATA + (uint64_t)i * 3 * LINE;
}

/* Threads wait for what others ask for in vain. */
START_TEST(threads_share_the_bus_with_lines_in_vain)
{
	double alone, with;

	by_equation = false;
	set("memory.bandwidth_gbs=2");
	make(&(struct loop){ load, 3, 1, every_third, false }, 0);
	alone = cycles_of(0.05);
	make(&(struct loop){ load, 3, 1, every_third_of_others, false }, 1);
	set("core.prefetcher=next_line");
	with = cycles_of(0.05);
	ck_assert_double_eq_tol(with / alone, 4, 0.2);
}
END_TEST

/* What the micro-traces of one thread do, and the cycles of an access. */
static double time_micros(const struct loop *l, struct timed *to)
{
	struct timing *timing = timing_new(&machine);
	uint8_t level[MICRO_UOPS];
	struct levels levels;
	struct workload w;
	struct trace t;

	make(l, 0);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	levels_init(&levels, &w, 0, &machine, false);
	for (size_t i = 0; i < w.thread[0].micros; i++) {
		const struct micro_trace *m = &w.thread[0].micro[i];

		levels_of_micro(&levels, &w.thread[0], m, level);
		timing_run(timing, &w.thread[0], m, level, 0, to);
	}
	workload_release(&w);
	trace_close(&t);
	timing_free(timing);
	return to->cycles / to->uops;
}

/* The next load of a chase begins when its line is there. */
START_TEST(what_is_saved_is_missing_in_the_time)
{
	struct timed chased = { 0 };
	double took;

	set("core.prefetcher=adjacent_line");
	took = time_micros(&(struct loop){ chase, 3, 1, up, false }, &chased);
	ck_assert_double_eq_tol(took + timed_saved(&chased, LEVEL_MEMORY),
				MEMORY, 1);
	ck_assert_double_lt(took, MEMORY - 60);
	ck_assert_double_lt(timed_vain(&chased), 0.01);
}
END_TEST

START_TEST(a_line_in_vain_is_counted_for_each_that_is_used)
{
	struct timed loaded = { 0 };

	set("core.prefetcher=next_line");
	time_micros(&(struct loop){ load, 3, 1, every_third, false }, &loaded);
	ck_assert_double_eq_tol(timed_vain(&loaded), 1, 0.01);
	ck_assert_double_eq(timed_saved(&loaded, LEVEL_MEMORY), 0);
}
END_TEST

/* Access @line by micro-operation @uop, which misses L1D. */
static struct micro_access miss(struct prefetches *p, struct workload_thread *t,
				uint64_t line, uint32_t uop)
{
	struct micro_access a = { 0 };

	memset(a.depth, DEPTH_WAYS, sizeof(a.depth));
	prefetches_add(p, t, IP, line, uop, true, &a);
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
	prefetches_add(p, &t, IP, 105, 50, true, &hit); /* L1D has it */
	ck_assert_uint_eq(hit.asked[NEXT_LINE], 0);
	ck_assert_uint_eq(access[4].vain & 1 << NEXT_LINE, 1 << NEXT_LINE);
	free(p);
}
END_TEST

/* Line 101 is asked for twice, and lost by L2 in between. */
START_TEST(what_the_last_cache_has_is_not_asked_for_in_vain)
{
	static struct micro_access access[LOST + 4];
	struct workload_thread t = { .access = access };
	struct prefetches *p = prefetches_new();

	miss(p, &t, 100, 0);
	for (uint32_t i = 1; i <= LOST; i++)
		miss(p, &t, 1000 + 2 * i, i);
	ck_assert_uint_eq(access[0].vain & 1 << NEXT_LINE, 1 << NEXT_LINE);
	ck_assert_uint_eq(miss(p, &t, 100, LOST + 1).vain & 1 << NEXT_LINE, 0);
	ck_assert_uint_eq(miss(p, &t, 101, LOST + 3).asked[NEXT_LINE], 2);
	free(p);
}
END_TEST

START_TEST(a_stream_is_predicted_however_far_it_runs_ahead)
{
	by_equation = false;
	set("core.prefetcher=stream");
	set("core.prefetch_ahead=4");
	takes(&(struct loop){ chase, 3, 1, up, false }, MEMORY / 5.0, 0.02);
}
END_TEST

/* Nor is it slower than the bus, or than L1D. */
START_TEST(a_stream_far_ahead_is_predicted)
{
	by_equation = false;
	set("core.prefetcher=stream");
	set("core.prefetch_ahead=100");
	make(&(struct loop){ chase, 3, 1, every_third, false }, 0);
	cycles_of(0.03);
	set("memory.bandwidth_gbs=1000");
	ck_assert_double_eq_tol(cycles_of(0.03) / ROUNDS, machine.l1d.latency,
				0.1);
}
END_TEST

static uint64_t runs_of_eight(int i)
{
	return DATA + ((uint64_t)i / 8 * 50 + (uint64_t)i % 8) * LINE;
}

/* Of a short run the first lines are late, and what lies behind is in vain. */
START_TEST(short_runs_are_predicted)
{
	by_equation = false;
	set("core.prefetcher=stream");
	make(&(struct loop){ chase, 3, 1, runs_of_eight, false }, 0);
	cycles_of(0.05);
	set("memory.bandwidth_gbs=1.5");
	cycles_of(0.1);
}
END_TEST

/* The third line of a run is place 1, and its last one place 6. */
START_TEST(what_a_run_leaves_behind_is_in_vain)
{
	struct timed all = { 0 }, near = { 0 };

	set("core.prefetcher=stream");
	time_micros(&(struct loop){ load, 3, 1, runs_of_eight, false }, &all);
	ck_assert_double_eq_tol(timed_vain(&all), 6 / 8.0, 0.02);
	set("core.prefetch_ahead=4");
	time_micros(&(struct loop){ load, 3, 1, runs_of_eight, false }, &near);
	ck_assert_double_eq_tol(timed_vain(&near), 4 / 8.0, 0.02);
}
END_TEST

START_TEST(each_access_knows_its_place_in_a_stream)
{
	struct micro_access access[16];
	struct workload_thread t = { .access = access };
	struct prefetches *p = prefetches_new();

	for (uint32_t i = 0; i < 6; i++)
		miss(p, &t, 100 + i, 10 * i);
	miss(p, &t, 500, 60);
	ck_assert_uint_eq(access[2].asked[PREFETCH_STREAM], 0);
	ck_assert_uint_eq(access[3].asked[PREFETCH_STREAM], 10);
	ck_assert_uint_eq(access[3].place, 2);
	ck_assert_uint_eq(access[5].place, 4);
	ck_assert_uint_eq(access[5].ended, 0);
	ck_assert_uint_eq(access[6].asked[PREFETCH_STREAM], 10);
	ck_assert_uint_eq(access[6].place, 0);
	ck_assert_uint_eq(access[6].ended, 4);
	ck_assert_uint_eq(access[6].vain >> PREFETCH_STREAM, 1);
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
	tcase_add_test(t, threads_share_the_bus_with_lines_in_vain);
	tcase_add_test(t, each_access_knows_when_its_line_was_asked_for);
	tcase_add_test(t, what_the_last_cache_has_is_not_asked_for_in_vain);
	tcase_add_test(t, what_is_saved_is_missing_in_the_time);
	tcase_add_test(t, a_line_in_vain_is_counted_for_each_that_is_used);
	tcase_add_test(t, what_a_run_leaves_behind_is_in_vain);
	tcase_add_test(t, a_stream_is_predicted_however_far_it_runs_ahead);
	tcase_add_test(t, a_stream_far_ahead_is_predicted);
	tcase_add_test(t, short_runs_are_predicted);
	tcase_add_test(t, each_access_knows_its_place_in_a_stream);
	suite_add_tcase(s, t);
	return run_suite(s);
}
