/* SPDX-License-Identifier: MIT */
/*
 * test_sampled_memory - sampled reuse times in place of counted ones
 *
 * A loop loads two lines in turns, so all of its reuse times are 2. What
 * samples say is made up.
 */
#include "predicted_loops.h"
#include "analysis/predict/levels.h"
#include "analysis/predict/sampled_memory.h"
#include "src/engine/reuse.h"

enum {
	SAMPLED = 100, /* loads a sample */
	LONG = 6000,   /* a reuse time */
	ROWS = 4,
};

static struct workload w;
static struct profile samples;
static struct process process;
static struct thread_row row;
static struct reuse_row reuse[ROWS];

static uint64_t two_lines(int i)
{
	return DATA + (uint64_t)(i % 2) * LINE;
}

static void collect(void)
{
	const struct loop l = { "\x48\x8b\x00", 3, 1, two_lines, false };
	struct trace t;

	begin();
	make(&l, 0);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	trace_close(&t);
	memset(&samples, 0, sizeof(samples));
	memset(&process, 0, sizeof(process));
	process.header.period = SAMPLED;
	samples.process = &process;
	samples.processes = 1;
	samples.thread = &row;
	samples.threads = 1;
	samples.reuse = reuse;
}

static void release(void)
{
	workload_release(&w);
	end();
}

/* @part of the loop's loads end so, as far as samples tell. */
static void sample(enum reuse_outcome outcome, uint64_t time, double part)
{
	ck_assert(samples.reuses < ROWS);
	reuse[samples.reuses++].record = (struct cdp_reuse){
		.kind = CDP_REUSE_BIN,
		.scope = REUSE_PRIVATE,
		.granularity = REUSE_LINE,
		.outcome = outcome,
		.bin = reuse_bin_of(time),
		.weight = part * ROUNDS / SAMPLED,
		.squares = part * ROUNDS / SAMPLED,
		.count = 1,
	};
}

static struct levels_misses misses(void)
{
	struct levels_misses sum = { 0 };
	struct levels l;

	levels_init(&l, &w, 0, &machine, false);
	for (size_t i = 0; i < w.thread[0].windows; i++) {
		struct levels_misses m =
			levels_count(&l, &w.thread[0].window[i], WINDOW_LOADS);

		sum.accesses += m.accesses;
		sum.l1 += m.l1;
		sum.llc += m.llc;
	}
	return sum;
}

static void take(void)
{
	ck_assert_msg(!sampled_memory_take(&w, &samples, error), "%s", error);
}

START_TEST(what_samples_say_replaces_what_the_profile_counts)
{
	struct levels_misses before = misses(), after;

	sample(REUSE_REUSED, 2, 1);
	take();
	after = misses();
	ck_assert_double_eq_tol(after.accesses, before.accesses, 2);
	ck_assert_double_eq_tol(after.l1, 0, 1);
}
END_TEST

/* Two first uses are in the profile; a quarter of all is sampled. */
START_TEST(first_uses_miss_as_often_as_samples_say)
{
	struct levels_misses after;

	sample(REUSE_REUSED, 2, 0.75);
	sample(REUSE_DANGLING, 0, 0.25);
	take();
	after = misses();
	ck_assert_double_eq_tol(after.accesses, ROUNDS, 2);
	ck_assert_double_eq_tol(after.llc, ROUNDS / 4, ROUNDS / 100);
}
END_TEST

/* No micro-trace has them: StatStack says how many lines are in between. */
START_TEST(reuse_times_that_the_profile_lacks_have_expected_distances)
{
	struct levels_misses after;

	sample(REUSE_REUSED, 2, 0.5);
	sample(REUSE_REUSED, LONG, 0.5);
	take();
	after = misses();
	ck_assert_double_eq_tol(after.l1, ROUNDS / 2, ROUNDS / 100);
	ck_assert_double_le(after.llc, 2); /* the two first uses, or none */
}
END_TEST

/* QEMU sees an access of 16 bytes as two, the second of which reuses at once.
 */
START_TEST(accesses_that_are_counted_twice_change_nothing)
{
	sample(REUSE_REUSED, 1, 1);
	sample(REUSE_REUSED, 3, 1);
	take();
	ck_assert_double_eq_tol(misses().l1, 0, 1);
}
END_TEST

/* No micro-trace has one of them. */
START_TEST(uses_after_another_threads_store_stay_where_they_are)
{
	enum {
		USES = 100,
	};
	struct window *x = &w.thread[0].window[w.thread[0].windows / 2];
	double before = misses().accesses;

	x->reuse[WINDOW_LOADS][reuse_bin_of(2)] -= USES;
	x->reuse[WINDOW_LOADS][WORKLOAD_INVALID] += USES;
	for (int i = 0; i < DEPTH_SIZES; i++) {
		uint32_t *depth = x->depth[WINDOW_LOADS][i];

		depth[depth[0] ? 0 : 1] -= USES;
		depth[DEPTH_WAYS] += USES;
	}
	sample(REUSE_REUSED, 2, 1);
	take();
	for (size_t i = 0; i < w.thread[0].windows; i++) {
		const struct window *y = &w.thread[0].window[i];
		uint32_t uses = y == x ? USES : 0;

		ck_assert_uint_eq(y->reuse[WINDOW_LOADS][WORKLOAD_INVALID],
				  uses);
		for (int k = 0; k < DEPTH_SIZES; k++)
			ck_assert_uint_eq(y->depth[WINDOW_LOADS][k][DEPTH_WAYS],
					  uses);
	}
	ck_assert_double_eq_tol(misses().accesses, before, 2);
}
END_TEST

START_TEST(another_number_of_accesses_or_threads_is_refused)
{
	sample(REUSE_REUSED, 2, 0.25);
	ck_assert_int_eq(sampled_memory_take(&w, &samples, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "same program"));
	samples.threads = 2;
	ck_assert_int_eq(sampled_memory_take(&w, &samples, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "2 threads"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sampled_memory");
	TCase *t = tcase_create("sampled_memory");

	tcase_add_checked_fixture(t, collect, release);
	tcase_add_test(t, what_samples_say_replaces_what_the_profile_counts);
	tcase_add_test(t, first_uses_miss_as_often_as_samples_say);
	tcase_add_test(
		t, reuse_times_that_the_profile_lacks_have_expected_distances);
	tcase_add_test(t, accesses_that_are_counted_twice_change_nothing);
	tcase_add_test(t, uses_after_another_threads_store_stay_where_they_are);
	tcase_add_test(t, another_number_of_accesses_or_threads_is_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
