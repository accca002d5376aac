/* SPDX-License-Identifier: MIT */
/*
 * test_predict_replay - which replays a prediction is made of
 */
#include "analysis/predict/predict_replay.h"
#include "predicted_loops.h"

enum {
	TIMES = 200, /* and a call takes from 0 to 200 cycles */
	MOST = 12,
	WAITED = 0x2000,
	MET = 0x3000,
};

/* What predict says, and what the plain replay does. */
struct both {
	struct predicted noisy, plain;
	bool contended;
};

static struct both predict_both(void)
{
	const struct predict_options how = { 0 };
	struct replay_plan plan;
	struct workload w;
	struct trace t;
	struct both b;

	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&t, path, error));
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	*error = 0;
	ck_assert_msg(!predict(&b.plain, &w, &machine, &how, error), "%s",
		      error);
	ck_assert_msg(!predict(&b.noisy, &w, &machine, &how, error), "%s",
		      error);
	replay_plan_init(&plan, &w);
	ck_assert(!predict_replay(
		&b.plain, &(struct replayed){ &w, &plan, &machine, &how },
		error));
	b.contended = plan.contended;
	replay_plan_release(&plan);
	workload_release(&w);
	trace_close(&t);
	return b;
}

static void release(struct both *b)
{
	predicted_release(&b->noisy);
	predicted_release(&b->plain);
}

static void assert_same(const struct both *b)
{
	ck_assert_double_eq(b->noisy.cycles, b->plain.cycles);
	for (size_t i = 0; i < b->plain.threads; i++) {
		const struct predicted_thread *x = &b->noisy.thread[i];
		const struct predicted_thread *y = &b->plain.thread[i];

		ck_assert_double_eq(x->start, y->start);
		ck_assert_double_eq(x->cycles, y->cycles);
		ck_assert_double_eq(x->idle, y->idle);
		ck_assert_double_eq(x->height, y->height);
		ck_assert_double_eq(x->runs, y->runs);
		for (int k = 0; k < CPI_COMPONENTS; k++)
			ck_assert_double_eq(x->stack[k], y->stack[k]);
	}
}

static void begin_calls(void)
{
	begin();
	set("sync.call=100");
	fake_trace_block(&fake, CODE);
	for (int i = 0; i < 8; i++)
		fake_trace_insn(&fake, "\x48\x01\xc0", 3); /* add %rax,%rax */
}

static void run(int thread, int times)
{
	while (times--)
		fake_trace_run(&fake, thread, 0);
}

/* A thread wakes two others by a broadcast after their waits, @n times. */
static struct both broadcasts(int n)
{
	end();
	begin_calls();
	while (n--) {
		for (int t = 0; t < 3; t++) {
			run(t, t ? 2 : 20);
			fake_trace_event(&fake, t,
					 t ? TRACE_COND_WAIT
					   : TRACE_COND_BROADCAST,
					 WAITED, 0);
		}
		for (int t = 0; t < 3; t++)
			fake_trace_event(&fake, t, TRACE_BARRIER, MET, 3);
	}
	return predict_both();
}

/*
 * If a call takes much longer, one of the two comes too late, and waits for
 * ever: the prediction is that of the replay without noise. With many
 * broadcasts the first noisy replay has such a call, with few a later one.
 */
START_TEST(an_order_without_an_end_tells_nothing)
{
	int failed = 0;

	for (int n = 1; n <= MOST; n++) {
		struct both b = broadcasts(n);

		ck_assert(b.contended);
		if (*error) {
			ck_assert_msg(strstr(error, "waits in a"), "%s", error);
			assert_same(&b);
			failed++;
		}
		release(&b);
	}
	ck_assert_int_ge(failed, MOST - 1);
}
END_TEST

/* Calls that took other times would make each epoch longer. */
START_TEST(threads_that_only_meet_are_replayed_without_noise)
{
	struct both b;

	for (int i = 0; i < 2 * TIMES; i++) {
		run(i % 2, 2);
		fake_trace_event(&fake, i % 2, TRACE_BARRIER, MET, 2);
	}
	b = predict_both();
	ck_assert(!b.contended);
	assert_same(&b);
	release(&b);
}
END_TEST

/* @first of one thread and @second of another, of these objects. */
struct pair {
	enum trace_event_kind first, second;
	uint64_t object[2];
	bool contended;
};

START_TEST(what_several_threads_wait_for_is_contended)
{
	const struct pair pairs[] = {
		{ TRACE_LOCK, TRACE_LOCK, { WAITED, WAITED }, true },
		{ TRACE_LOCK, TRACE_READ_LOCK, { WAITED, WAITED }, true },
		{ TRACE_LOCK, TRACE_LOCK, { WAITED, MET }, false },
		{ TRACE_LOCK, TRACE_SEM_POST, { WAITED, WAITED }, false },
		{ TRACE_SEM_POST, TRACE_SEM_WAIT, { WAITED, WAITED }, false },
	};
	const struct pair *x = &pairs[_i];
	struct both b;

	run(0, 1);
	fake_trace_event(&fake, 0, x->first, x->object[0], 0);
	run(0, 1);
	if (x->first == TRACE_LOCK)
		fake_trace_event(&fake, 0, TRACE_UNLOCK, x->object[0], 0);
	run(1, 100);
	fake_trace_event(&fake, 1, x->second, x->object[1], 0);
	run(1, 1);
	b = predict_both();
	ck_assert_int_eq(b.contended, x->contended);
	release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("predict_replay");
	TCase *t = tcase_create("predict_replay");

	tcase_add_checked_fixture(t, begin_calls, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, an_order_without_an_end_tells_nothing);
	tcase_add_test(t, threads_that_only_meet_are_replayed_without_noise);
	tcase_add_loop_test(t, what_several_threads_wait_for_is_contended, 0,
			    5);
	suite_add_tcase(s, t);
	return run_suite(s);
}
