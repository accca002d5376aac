/* SPDX-License-Identifier: MIT */
/*
 * test_known - what is looked up is what would be found again
 */
#include "analysis/base/util.h"
#include "analysis/predict/known.h"
#include "analysis/predict/number_table.h"
#include "predicted_loops.h"
#include "src/base/rng.h"

enum {
	LEADERS = 12,
	PHASE = 12000, /* rounds */
	DESIGNS = 150,
	NUMBERS = 5000,
};

static struct workload w;
static struct trace trace;
static struct leaders leaders;

/*
 * Two threads that add, then load lines that some caches hold and others do
 * not, and jump as chance has it, and then store.
 */
static void make_program(void)
{
	struct rng rng;

	rng_seed(&rng, 1, 0);
	fake_trace_block(&fake, CODE);
	for (int i = 0; i < 10; i++)
		fake_trace_insn(&fake, i % 3 ? "\x48\x01\xc0" : "\x0f\xaf\xc0",
				3);
	fake_trace_block(&fake, CODE + 4096);
	fake_trace_insn(&fake, "\x48\x8b\x11", 3); /* mov (%rcx),%rdx */
	fake_trace_insn(&fake, "\x48\x01\xd0", 3); /* add %rdx,%rax */
	fake_trace_insn(&fake, "\x74\x02", 2);     /* je */
	fake_trace_block(&fake, CODE + 4104);
	fake_trace_insn(&fake, "\x48\x89\x11", 3); /* mov %rdx,(%rcx) */
	fake_trace_insn(&fake, "\x48\x01\xc8", 3); /* add %rcx,%rax */
	for (int t = 0; t < 2; t++)
		for (int phase = 0; phase < 4; phase++)
			for (int i = 0; i < PHASE; i++) {
				uint64_t line =
					rng_below(&rng, 64u << 3 * phase);

				if (!phase) {
					fake_trace_run(&fake, t, 0);
					continue;
				}
				fake_trace_run(&fake, t, 1);
				fake_trace_access(&fake, t, 0, false,
						  DATA + LINE * line);
				if (rng_below(&rng, 2))
					continue;
				fake_trace_run(&fake, t, 2);
				fake_trace_access(&fake, t, 0, true,
						  DATA + LINE * line);
			}
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &trace, 0, error), "%s", error);
	leaders_choose(&leaders, &w, LEADERS);
}

static void drop(void)
{
	leaders_release(&leaders);
	workload_release(&w);
	trace_close(&trace);
}

static struct predicted predicted_with(struct known *k)
{
	const struct predict_options how = { .leaders = &leaders, .known = k };
	struct predicted p;

	ck_assert_msg(!predict(&p, &w, &machine, &how, error), "%s", error);
	return p;
}

/* Every value that a design may have, so that each one's effect is seen. */
static const char *const changes[][3] = {
	{ "core.width=2", "core.width=4", "core.width=6" },
	{ "core.rob=64", "core.rob=128", "core.rob=256" },
	{ "core.issue_queue=16", "core.issue_queue=32", "core.issue_queue=64" },
	{ "core.load_queue=8", "core.load_queue=48", "core.load_queue=12" },
	{ "core.store_queue=4", "core.store_queue=32", "core.store_queue=8" },
	{ "core.mshrs=2", "core.mshrs=10", "core.mshrs=4" },
	{ "core.refill=8", "core.refill=14", "core.refill=20" },
	{ "core.predictor=one_bit", "core.predictor=tage",
	  "core.predictor=perfect" },
	{ "core.prefetcher=none", "core.prefetcher=stride",
	  "core.prefetcher=next_line" },
	{ "core.forwarding=1", "core.forwarding=4", "core.forwarding=0" },
	{ "core.forwarding_vector=5", "core.forwarding_vector=0",
	  "core.forwarding_vector=9" },
	{ "core.zero_idioms=true", "core.zero_idioms=false",
	  "core.zero_idioms=true" },
	{ "l1d.after_store=9", "l1d.after_store=0", "l1d.after_store=30" },
	{ "l1d.after_load=0", "l1d.after_load=20", "l1d.after_load=4" },
	{ "l1d.size=16K", "l1d.size=32K", "l1d.size=8K" },
	{ "l1d.latency=4", "l1d.latency=3", "l1d.latency=5" },
	{ "l2.size=128K", "l2.size=256K", "l2.size=512K" },
	{ "l2.latency=8", "l2.latency=12", "l2.latency=16" },
	{ "llc.size=1M", "llc.size=8M", "llc.size=2M" },
	{ "llc.latency=30", "llc.latency=40", "llc.latency=50" },
	{ "coherence.transfer=50", "coherence.transfer=20",
	  "coherence.transfer=90" },
	{ "memory.latency_ns=45", "memory.latency_ns=60",
	  "memory.latency_ns=90" },
	{ "memory.bandwidth_gbs=2", "memory.bandwidth_gbs=8",
	  "memory.bandwidth_gbs=20" },
	{ "frequency_ghz=2.5", "frequency_ghz=3", "frequency_ghz=4" },
	{ "uop.alu=1 on 0,1,5", "uop.alu=2 on 0,1,5", "uop.alu=1 on 0" },
	{ "uop.mul32=3 on 1", "uop.mul32=5 on 1", "uop.mul32=3 on 0 busy 3" },
};

/* Few at a time are changed, so that much of a design is known. */
static void change_some(struct rng *rng)
{
	for (int i = 0; i < 2; i++) {
		size_t n = sizeof(changes) / sizeof(*changes);

		ck_assert(!machine_set(
			&machine, changes[rng_below(rng, n)][rng_below(rng, 3)],
			error));
	}
	ck_assert_msg(!machine_check(&machine, error), "%s", error);
}

static void assert_same(const struct predicted *a, const struct predicted *b)
{
	ck_assert_double_eq(a->cycles, b->cycles);
	ck_assert_double_eq(a->low, b->low);
	for (size_t t = 0; t < a->threads; t++)
		for (int k = 0; k < CPI_COMPONENTS; k++)
			ck_assert_double_eq(a->thread[t].stack[k],
					    b->thread[t].stack[k]);
}

START_TEST(a_design_takes_the_same_whatever_was_predicted_before)
{
	struct known *k;
	struct rng rng;

	make_program();
	k = known_new(&w, &leaders);
	rng_seed(&rng, 2, 0);
	for (int i = 0; i < DESIGNS; i++) {
		struct predicted alone, after;

		change_some(&rng);
		alone = predicted_with(NULL);
		after = predicted_with(k);
		assert_same(&alone, &after);
		predicted_release(&alone);
		predicted_release(&after);
	}
	/* Nearly all that designs share was looked up. */
	ck_assert_uint_lt(known_timings(k), DESIGNS * leaders.n * 4 / 5);
	known_free(k);
	drop();
}
END_TEST

static size_t timings_after(struct known *k, const char *change)
{
	struct predicted p;

	if (change)
		set(change);
	p = predicted_with(k);
	predicted_release(&p);
	return known_timings(k);
}

/* A loop in two threads: the same, as if each micro-trace were timed. */
START_TEST(micro_traces_that_execute_alike_are_timed_once)
{
	const struct loop l = { "\x48\x0f\xaf\xc0", 4, 4, NULL, false };
	const struct predict_options all = { 0 };
	struct predicted p, truth;
	struct known *k;

	make(&l, 0);
	make(&l, 1);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &trace, 0, error), "%s", error);
	leaders_choose(&leaders, &w, LEADERS);
	ck_assert_uint_gt(leaders.n, 3);
	k = known_new(&w, &leaders);
	p = predicted_with(k);
	ck_assert_uint_lt(known_timings(k), leaders.n / 2 + 1);
	ck_assert_msg(!predict(&truth, &w, &machine, &all, error), "%s", error);
	ck_assert_double_eq_tol(p.cycles, truth.cycles, truth.cycles / 1000);
	predicted_release(&p);
	predicted_release(&truth);
	known_free(k);
	drop();
}
END_TEST

/*
 * Two threads that execute the same, and miss L2 each time: one goes through a
 * set of L1D, the other one through all.
 */
START_TEST(micro_traces_with_other_sets_are_not_alike)
{
	static const char *const stores[] = { "l1d.after_store=0",
					      "l1d.after_store=17",
					      "l1d.after_store=0" };
	struct known *k;

	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x89\x11", 3); /* mov %rdx,(%rcx) */
	for (int i = 0; i < 3; i++)
		fake_trace_insn(&fake, "\x48\x83\xc0\x01", 4);
	for (int t = 0; t < 2; t++)
		for (int i = 0; i < ROUNDS; i++) {
			uint64_t line = t ? 100000 + i % 6000 : i % 600 * 128;

			fake_trace_run(&fake, t, 0);
			fake_trace_access(&fake, t, 0, true,
					  DATA + LINE * line);
		}
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &trace, 0, error), "%s", error);
	leaders_choose(&leaders, &w, LEADERS);
	k = known_new(&w, &leaders);
	for (int i = 0; i < 3; i++) {
		struct predicted alone, after;

		set(stores[i]);
		alone = predicted_with(NULL);
		after = predicted_with(k);
		assert_same(&alone, &after);
		ck_assert_double_lt(after.thread[1].cycles, 8 * ROUNDS);
		if (i == 1)
			ck_assert_double_gt(after.thread[0].cycles,
					    16 * ROUNDS);
		else
			ck_assert_double_lt(after.thread[0].cycles, 8 * ROUNDS);
		predicted_release(&alone);
		predicted_release(&after);
	}
	known_free(k);
	drop();
}
END_TEST

START_TEST(only_what_a_change_can_reach_is_timed_again)
{
	const struct loop l = { "\x48\x8b\x00", 3, 4, NULL, false };
	size_t first;
	struct known *k;

	make(&l, 0);
	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&trace, path, error));
	ck_assert(!workload_collect(&w, &trace, 0, error));
	leaders_choose(&leaders, &w, LEADERS);
	k = known_new(&w, &leaders);
	first = timings_after(k, NULL);
	ck_assert_uint_eq(first, 1); /* all execute alike */
	/* Nothing goes beyond L1D. */
	ck_assert_uint_eq(timings_after(k, "l2.size=1M"), first);
	ck_assert_uint_eq(timings_after(k, "l2.latency=20"), first);
	ck_assert_uint_eq(timings_after(k, "cores=2"), first);
	ck_assert_uint_eq(timings_after(k, "core.mshrs=4"), first);
	ck_assert_uint_eq(timings_after(k, "core.rob=200"), 2 * first);
	ck_assert_uint_eq(timings_after(k, "core.rob=128"), 2 * first);
	known_free(k);
	drop();
}
END_TEST

static uint64_t walk(int i)
{
	return DATA + (uint64_t)i * LINE;
}

static uint64_t jump(int i)
{
	return 2 * DATA + (uint64_t)i * 7919 % (1 << 16) * LINE;
}

static void assert_led_as_alone(struct known *k)
{
	const struct known_caches *c = known_caches(k, &machine);
	struct timed *led = xcalloc(leaders.groups + 1, sizeof(*led));
	struct timing *timing = timing_new(&machine);
	struct timed alone = { 0 };
	double sum = 0;

	known_led(k, c, &machine, led);
	for (size_t i = 0; i < leaders.groups; i++)
		sum += led[i].cycles;
	for (size_t i = 0; i < leaders.n; i++) {
		const struct leader *l = &leaders.leader[i];
		const struct workload_thread *t = &w.thread[l->thread];
		uint8_t level[MICRO_UOPS];
		struct levels levels;

		levels_init(&levels, &w, l->thread, &machine, false);
		levels_of_micro(&levels, t, &t->micro[l->micro], level);
		timing_run(timing, t, &t->micro[l->micro], level, 0, &alone);
	}
	ck_assert_double_eq(sum, alone.cycles);
	timing_free(timing);
	free(led);
	known_give_back(c);
}

/* Both threads execute alike and miss all caches, but one is prefetched. */
START_TEST(a_leader_takes_what_it_takes_alone_with_each_prefetcher)
{
	const struct loop walks = { "\x48\x8b\x00", 3, 1, walk, false };
	const struct loop jumps = { "\x48\x8b\x00", 3, 1, jump, false };
	struct known *k;

	make(&walks, 0);
	make(&jumps, 1);
	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&trace, path, error));
	ck_assert(!workload_collect(&w, &trace, 0, error));
	leaders_choose(&leaders, &w, LEADERS);
	k = known_new(&w, &leaders);
	set("core.prefetcher=none");
	assert_led_as_alone(k);
	set("core.prefetcher=next_line");
	assert_led_as_alone(k);
	known_free(k);
	drop();
}
END_TEST

static uint64_t hash_of(const void *things, uint32_t i)
{
	/* Many have the same. */
	return ((const uint64_t *)things)[i] % 64;
}

static bool is(const void *things, uint32_t i, const void *key)
{
	return ((const uint64_t *)things)[i] == *(const uint64_t *)key;
}

START_TEST(a_number_is_found_by_what_it_stands_for)
{
	struct number_table t = { .hash = hash_of, .is = is };
	static uint64_t thing[NUMBERS];
	uint64_t other = 7;

	ck_assert_uint_eq(number_table_find(&t, thing, 7, &other), NUMBER_NONE);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		thing[i] = UINT64_C(3) * i;
		number_table_add(&t, thing, i);
	}
	for (uint32_t i = 0; i < NUMBERS; i++)
		ck_assert_uint_eq(
			number_table_find(&t, thing, thing[i] % 64, &thing[i]),
			i);
	ck_assert_uint_eq(number_table_find(&t, thing, 7, &other), NUMBER_NONE);
	number_table_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("known");
	TCase *t = tcase_create("known");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t,
		       a_design_takes_the_same_whatever_was_predicted_before);
	tcase_add_test(t, micro_traces_that_execute_alike_are_timed_once);
	tcase_add_test(t, micro_traces_with_other_sets_are_not_alike);
	tcase_add_test(t, only_what_a_change_can_reach_is_timed_again);
	tcase_add_test(t,
		       a_leader_takes_what_it_takes_alone_with_each_prefetcher);
	tcase_add_test(t, a_number_is_found_by_what_it_stands_for);
	suite_add_tcase(s, t);
	return run_suite(s);
}
