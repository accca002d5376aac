/* SPDX-License-Identifier: MIT */
/*
 * test_store_queue - loops whose stores fill their queue from time to time,
 * predicted and simulated
 *
 * Micro-traces of such loops differ: some are full of misses, others have none,
 * and in some the misses of the warm part are waited for in the counted one.
 */
#include "analysis/predict/leaders.h"
#include "analysis/predict/timing.h"
#include "predicted_loops.h"

enum {
	FAR = DATA + 0x1000000,
	ADDITIONS = 50, /* of the block that stores nothing */
	STORES = 10 * ROUNDS, /* 100 micro-traces, and more bursts than those */
};

/* Blocks: a store with @additions behind it, and additions alone. */
static void make_blocks(int additions)
{
	by_equation = false;
	set("core.store_queue=64");
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x89\x11", 3); /* mov %rdx,(%rcx) */
	for (int i = 0; i < additions; i++)
		fake_trace_insn(&fake, "\x48\x83\xc0\x01", 4); /* add $1,%rax */
	fake_trace_block(&fake, CODE + 4096);
	for (int i = 0; i < ADDITIONS; i++)
		fake_trace_insn(&fake,
				i % 2 ? "\x48\x83\xc0\x01" : "\x48\x83\xc3\x01",
				4); /* add $1,%rbx */
}

static void store_to(uint64_t address)
{
	fake_trace_run(&fake, 0, 0);
	fake_trace_access(&fake, 0, 0, true, address);
}

/*
 * Of each @period stores the first @misses, or those from @later on, go to the
 * next of @lines lines, which L1D does not hold, others to eight that it does.
 */
static const struct phases {
	int period, misses, later, additions;
	const char *where; /* the lines are */
	uint64_t lines;
	double near;
} phases[] = {
	/* From memory; more stores than micro-traces have of them. */
	{ 1000, 250, 0, 0, "llc.size=8M", 1 << 20, 0.02 },
	{ 1000, 64, 200, 0, "llc.size=8M", 1 << 20, 0.02 },
	{ 2000, 250, 0, 0, "llc.size=8M", 1 << 20, 0.08 },
	{ 4000, 150, 200, 0, "llc.size=8M", 1 << 20, 0.08 },
	{ 1000, 64, 0, 3, "llc.size=8M", 1 << 20, 0.18 },
	/* From the LLC, and from L2. */
	{ 4000, 150, 200, 0, "l2.size=64K", 1200, 0.02 },
	{ 4000, 150, 200, 0, "l2.size=1M", 1200, 0.03 },
	{ 20000, 900, 0, 0, "l2.size=64K", 1200, 0.01 },
	{ 20000, 900, 0, 0, "l2.size=1M", 1200, 0.01 },
};

START_TEST(stores_wait_for_the_misses_that_there_are)
{
	const struct phases *p = &phases[_i];
	uint64_t n = 0;

	make_blocks(p->additions);
	set(p->where);
	for (int i = 0; i < STORES; i++) {
		bool miss = (i + p->period - p->later) % p->period < p->misses;

		store_to(miss ? FAR + n++ % p->lines * LINE
			      : DATA + (uint64_t)(i % 8) * LINE);
	}
	cycles_of(p->near);
}
END_TEST

/*
 * Bursts of stores to one set of L1D, and additions. When a micro-trace ends
 * behind a burst and is timed again, the set is still the same.
 */
static const struct {
	int stores, rest, after_store;
} bursts[] = {
	{ 40, 20, 30 },  { 100, 20, 30 }, { 60, 20, 17 },
	{ 100, 20, 17 }, { 200, 18, 17 },
};

START_TEST(a_set_that_pauses_was_not_left)
{
	char gap[40];

	snprintf(gap, sizeof(gap), "l1d.after_store=%d",
		 bursts[_i].after_store);
	make_blocks(0);
	set(gap);
	for (int i = 0; i < ROUNDS; i += bursts[_i].stores) {
		for (int k = 0; k < bursts[_i].stores; k++)
			store_to(DATA + (uint64_t)(k % 8) * 8192);
		for (int k = 0; k < bursts[_i].rest; k++)
			fake_trace_run(&fake, 0, 1);
	}
	cycles_of(0.05);
}
END_TEST

/* All micro-traces stand for all: what is looked up is what was timed. */
START_TEST(leaders_know_what_stores_waited_for)
{
	struct predict_options how = { 0 };
	struct predicted all, led;
	struct leaders leaders;
	struct workload w;
	struct trace t;

	make_blocks(0);
	set("l1d.after_store=17");
	for (int i = 0; i < ROUNDS; i++)
		store_to(i % 4000 < 200 ? FAR + (uint64_t)i * LINE
					: DATA + (uint64_t)(i % 8) * 8192);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	ck_assert_msg(!predict(&all, &w, &machine, &how, error), "%s", error);
	ck_assert_uint_eq(w.thread[0].windows, 1);
	leaders_choose(&leaders, &w, w.thread[0].micros);
	ck_assert_uint_eq(leaders.groups, 1);
	how.leaders = &leaders;
	ck_assert_msg(!predict(&led, &w, &machine, &how, error), "%s", error);
	ck_assert_double_eq_tol(led.cycles / all.cycles, 1, 1e-9);
	predicted_release(&led);
	predicted_release(&all);
	leaders_release(&leaders);
	workload_release(&w);
	trace_close(&t);
}
END_TEST

static double cycles_of_micro(struct timing *timing, const struct workload *w,
			      size_t micro)
{
	const struct workload_thread *t = &w->thread[0];
	uint8_t level[MICRO_UOPS];
	struct timed timed = { 0 };
	struct levels levels;

	levels_init(&levels, w, 0, &machine, false);
	levels_of_micro(&levels, t, &t->micro[micro], level);
	timing_run(timing, t, &t->micro[micro], level, 0, &timed);
	return timed.cycles;
}

/* Whatever was timed before, and that nothing was. */
START_TEST(a_micro_trace_takes_what_it_takes_alone)
{
	double alone[10];
	struct workload w;
	struct trace t;
	size_t n;

	make_blocks(3);
	set("l1d.after_store=17");
	for (int i = 0; i < ROUNDS; i++) /* columns of two kinds */
		store_to(i % 3000 < 1500
				 ? DATA + (uint64_t)(i % 8) * 8192
				 : DATA + (uint64_t)(i % 16) * 8192 +
					   (uint64_t)(i / 128 % 64) * LINE);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	n = w.thread[0].micros < 10 ? w.thread[0].micros : 10;
	ck_assert_uint_gt(n, 4);
	for (size_t i = 0; i < n; i++) {
		struct timing *timing = timing_new(&machine);

		alone[i] = cycles_of_micro(timing, &w, i);
		for (size_t k = 0; k < n; k++) {
			cycles_of_micro(timing, &w, k);
			ck_assert_double_eq(cycles_of_micro(timing, &w, i),
					    alone[i]);
		}
		timing_free(timing);
	}
	workload_release(&w);
	trace_close(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store_queue");
	TCase *t = tcase_create("store_queue");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, stores_wait_for_the_misses_that_there_are, 0,
			    sizeof(phases) / sizeof(*phases));
	tcase_add_loop_test(t, a_set_that_pauses_was_not_left, 0,
			    sizeof(bursts) / sizeof(*bursts));
	tcase_add_test(t, leaders_know_what_stores_waited_for);
	tcase_add_test(t, a_micro_trace_takes_what_it_takes_alone);
	suite_add_tcase(s, t);
	return run_suite(s);
}
