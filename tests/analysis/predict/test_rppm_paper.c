/* SPDX-License-Identifier: MIT */
/*
 * test_rppm_paper - what De Pestel et al. (ISPASS 2019) print
 */
#include "analysis/base/util.h"
#include "analysis/model/sync_replay.h"
#include "predicted_loops.h"
#include "src/base/rng.h"

enum {
	BARRIERS = 5000,
	APART = 16384 * LINE, /* lines of one set of any cache */
	SLOTS = 10,
};

static struct workload w;

static void collect(void)
{
	struct trace t;

	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	trace_close(&t);
}

/*
 * How much too long the time of @threads is predicted, if each time between two
 * barriers has an error of up to @most, evenly spread around 0.
 */
static double accumulated(uint32_t threads, double most)
{
	const struct sync_options options = { .cores = threads };
	struct sync_thread *thread = xcalloc(threads, sizeof(*thread));
	char why[SYNC_ERROR_BYTES];
	struct sync_replay r;
	struct rng rng;
	double total;

	rng_seed(&rng, 1, threads);
	for (uint32_t t = 0; t < threads; t++) {
		struct sync_epoch *e = xcalloc(BARRIERS, sizeof(*e));

		for (int i = 0; i < BARRIERS; i++) {
			double off =
				(double)rng_below(&rng, 1 << 20) / (1 << 19);

			e[i].duration = 1 + most * (off - 1);
			e[i].event = (struct sync_event){
				.kind = SYNC_BARRIER,
				.object = 64,
				.argument = threads,
			};
		}
		thread[t] = (struct sync_thread){ e, BARRIERS, true };
	}
	ck_assert_msg(!sync_replay(&r, thread, threads, &options, why), "%s",
		      why);
	total = r.total;
	sync_replay_release(&r);
	for (uint32_t t = 0; t < threads; t++)
		free((void *)thread[t].epoch);
	free(thread);
	return total / BARRIERS - 1;
}

/* Within what the paper's million barriers and these ones differ by chance. */
START_TEST(errors_between_barriers_accumulate_as_in_table_1)
{
	static const struct {
		uint32_t threads;
		double percent[3];
	} table[] = {
		{ 1, { 0, 0, 0 } },           { 2, { 0.33, 1.67, 3.34 } },
		{ 4, { 0.60, 3.00, 6.01 } },  { 8, { 0.78, 3.89, 7.79 } },
		{ 16, { 0.88, 4.41, 8.83 } },
	};
	static const double most[] = { 1, 5, 10 };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		for (int k = 0; k < 3; k++)
			ck_assert_double_eq_tol(
				100 * accumulated(table[i].threads,
						  most[k] / 100),
				table[i].percent[k], 0.04 * most[k]);
}
END_TEST

/* The access to a line by its place in the thread. */
static const struct micro_access *access_at(int thread, int n)
{
	const struct workload_thread *t = &w.thread[thread];

	for (size_t i = 0; i < t->uops; i++)
		if (t->uop[i].access && !n--)
			return &t->access[t->uop[i].access - 1];
	ck_abort_msg("no such access");
}

static void has(const struct micro_access *a, uint32_t own, uint32_t all,
		int depth, int shared)
{
	/* The figure counts the accesses between. */
	ck_assert_uint_eq(a->reuse, reuse_bin_of(own + 1));
	ck_assert_uint_eq(a->global, reuse_bin_of(all + 1));
	ck_assert_int_eq(a->depth[0], depth);
	ck_assert_int_eq(a->shared[0], shared);
}

/*
 * In each slot the first thread is first; '.' is an instruction without an
 * access. A comes back to the first thread after 3 of its accesses to 2 other
 * lines, 7 accesses of both to 4 lines; D to the second one after 3 of its own,
 * but 1 after the first thread used it.
 */
START_TEST(distances_are_those_of_figure_2)
{
	static const char *const order[2] = { ".ABCBA.BD.", ".EFEFDEFED" };
	int n = 0;

	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x8b\x11", 3); /* mov (%rcx),%rdx */
	fake_trace_block(&fake, CODE + 8);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3); /* add */
	for (int i = 0; i < SLOTS; i++)
		for (int t = 0; t < 2; t++) {
			char line = order[t][i];

			fake_trace_run(&fake, t, line == '.');
			if (line != '.')
				fake_trace_access(&fake, t, 0, false,
						  DATA + (uint64_t)APART *
								  (line - 'A'));
			n += line != '.';
		}
	ck_assert_int_eq(n, 7 + 9);
	collect();
	has(access_at(0, 4), 3, 7, 2, 4);
	has(access_at(1, 8), 3, 1, 2, 1);
	workload_release(&w);
}
END_TEST

static void rounds(int thread, int n)
{
	while (n-- > 0)
		fake_trace_run(&fake, thread, 0);
}

/*
 * The first thread computes for @before rounds, makes @workers threads that
 * compute for @each, computes for @beside and waits for them.
 */
static struct predicted fork_and_join(int workers, int before, int each,
				      int beside)
{
	const struct predict_options how = { 0 };
	struct predicted p;

	fake_trace_block(&fake, CODE);
	for (int i = 0; i < 8; i++)
		fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	rounds(0, before);
	for (int i = 1; i <= workers; i++)
		fake_trace_event(&fake, 0, TRACE_CREATE, (uint64_t)i, 0);
	rounds(0, beside);
	for (int i = 1; i <= workers; i++)
		fake_trace_event(&fake, 0, TRACE_JOIN, (uint64_t)i, 0);
	for (int i = 1; i <= workers; i++) {
		fake_trace_event(&fake, i, TRACE_BEGIN, 0, 0);
		rounds(i, each);
	}
	set("sync.call=0");
	collect();
	ck_assert_msg(!predict(&p, &w, &machine, &how, error), "%s", error);
	workload_release(&w);
	return p;
}

static void box(const struct predicted *p, int thread, double share,
		double width)
{
	const struct predicted_thread *t = &p->thread[thread];

	ck_assert_double_eq_tol(t->height / p->cycles, share, 0.01);
	ck_assert_double_eq_tol(t->runs / t->height, width, 0.02);
}

/* Figure 6, top: four balanced workers; the first thread only waits. */
START_TEST(balanced_workers_share_the_bottlegraph)
{
	struct predicted p = fork_and_join(4, 0, ROUNDS, 1);

	for (int t = 1; t <= 4; t++)
		box(&p, t, 0.25, 4);
	ck_assert_double_lt(p.thread[0].height / p.cycles, 0.01);
	predicted_release(&p);
}
END_TEST

/*
 * Figure 6, bottom left: the first thread computes as its three workers do, and
 * a third as much alone.
 */
START_TEST(a_first_thread_that_does_more_is_taller_and_narrower)
{
	struct predicted p = fork_and_join(3, ROUNDS / 2, ROUNDS, ROUNDS);

	for (int t = 1; t <= 3; t++)
		box(&p, t, 1 / 4.0 / 1.5, 4);
	box(&p, 0, (0.5 + 0.25) / 1.5, 1.5 / 0.75);
	predicted_release(&p);
}
END_TEST

/* Figure 6, bottom right: three workers, or the first thread alone. */
START_TEST(a_first_thread_that_works_alone_has_the_width_of_one)
{
	struct predicted p = fork_and_join(3, ROUNDS / 4, ROUNDS, 0);

	for (int t = 1; t <= 3; t++)
		box(&p, t, 1 / 3.0 / 1.25, 3);
	box(&p, 0, 0.25 / 1.25, 1);
	predicted_release(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rppm_paper");
	TCase *t = tcase_create("rppm_paper");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, errors_between_barriers_accumulate_as_in_table_1);
	tcase_add_test(t, distances_are_those_of_figure_2);
	tcase_add_test(t, balanced_workers_share_the_bottlegraph);
	tcase_add_test(t, a_first_thread_that_does_more_is_taller_and_narrower);
	tcase_add_test(t, a_first_thread_that_works_alone_has_the_width_of_one);
	suite_add_tcase(s, t);
	return run_suite(s);
}
