/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_thread - samples and counts of one thread, on the fake kernel
 */
#include <errno.h>

#include "pmu_hand.h"
#include "tests/run_suite.h"

/*
 * n samples at intervals of mean P and variance P^2 / 48 stand for n P events,
 * with a standard deviation of P sqrt(n / 48), and one interval is cut off at
 * the end.
 */
static void check_total(uint64_t samples, uint64_t true_events, double period)
{
	double bound = period * (3 * sqrt(samples / 48.0) + 1);

	ck_assert_msg(fabs(samples * period - true_events) <= bound,
		      "%g from samples, %g in truth, bound %g",
		      samples * period, (double)true_events, bound);
}

static void check_lines(void)
{
	double chi2 = 0;

	for (int i = 0; i < LINES; i++) {
		double expected =
			(double)truth.by_line[i] / truth.memory * seen.samples;

		chi2 += pow(seen.by_line[i] - expected, 2) / expected;
	}
	ck_assert_msg(chi2 < 37.7, "chi2 %g of 15 degrees", chi2); /* 0.1 % */
}

START_TEST(pebs_samples_stand_for_all_loads_and_stores)
{
	boot(FAKE_SKYLAKE);
	run(OPS, false);
	check_total(seen.loads - seen.both, truth.loads, PERIOD);
	check_total(seen.stores, truth.stores, PERIOD);
	ck_assert_uint_eq(seen.wrong, 0);
	ck_assert_uint_gt(seen.samples, 1000);
	check_lines();
}
END_TEST

START_TEST(ibs_samples_stand_for_all_ops)
{
	uint64_t all;

	boot(_i ? FAKE_ZEN4 : FAKE_ZEN2);
	run(OPS, false);
	all = seen.samples + seen.loss[LOSS_NOT_MEMORY];
	ck_assert_uint_eq(plan.period, PERIOD - PERIOD % 16);
	check_total(all, truth.ops, plan.period);
	check_share(seen.samples, all, (double)truth.memory / truth.ops);
	check_share(seen.loads, seen.samples,
		    (double)truth.loads / truth.memory);
	check_share(seen.stores, seen.samples,
		    (double)truth.stores / truth.memory);
	ck_assert_uint_gt(seen.locked, 0);
	ck_assert_uint_eq(seen.wrong, 0);
	check_lines();
}
END_TEST

START_TEST(the_kernels_ops_are_filtered_by_sample_where_the_driver_does_not)
{
	uint64_t all;

	boot(FAKE_ZEN2);
	run(OPS, true);
	all = seen.samples + seen.loss[LOSS_NOT_MEMORY];
	check_share(seen.loss[LOSS_IN_KERNEL], all + seen.loss[LOSS_IN_KERNEL],
		    1 - (double)truth.user_ops / truth.ops);
	check_share(seen.samples, all, (double)truth.memory / truth.user_ops);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

START_TEST(the_kernels_ops_never_come_where_the_driver_filters)
{
	boot(FAKE_ZEN4);
	run(OPS, true);
	ck_assert_uint_eq(seen.loss[LOSS_IN_KERNEL], 0);
	ck_assert_uint_gt(seen.samples, 500);
	check_share(seen.samples, seen.samples + seen.loss[LOSS_NOT_MEMORY],
		    (double)truth.memory / truth.user_ops);
}
END_TEST

START_TEST(counts_run_freely_and_are_exact_while_nothing_takes_turns)
{
	struct pmu_counts n;

	boot(FAKE_SKYLAKE);
	run(OPS, true);
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_eq(n.loads, truth.loads);
	ck_assert_uint_eq(n.stores, truth.stores);
	ck_assert(!n.scaled && !n.never);
}
END_TEST

START_TEST(counts_are_scaled_where_events_take_turns)
{
	struct pmu_counts n;

	boot(FAKE_SKYLAKE);
	k->rotate = 5000;
	/* A second thread's worth of groups to take turns with. */
	plan.event[1].leader = 1;
	pmu_thread_close(&thread);
	ck_assert_int_eq(pmu_thread_open(&thread, &k->calls, &plan,
					 &(struct pmu_delivery){ .sigtrap = 1 },
					 &rng, NULL),
			 0);
	run(OPS, false);
	pmu_thread_counts(&thread, &n);
	ck_assert(n.scaled);
	/* Each is on half of the time, in 200 turns. */
	ck_assert_double_eq_tol((double)n.loads / truth.loads, 1, 0.01);
	ck_assert_double_eq_tol((double)n.stores / truth.stores, 1, 0.01);
	check_total(2 * seen.stores, truth.stores, PERIOD);
}
END_TEST

START_TEST(sandy_bridge_samples_both_although_they_share_a_counter)
{
	struct pmu_counts n;

	boot(FAKE_SANDY_BRIDGE);
	run(OPS, false);
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_gt(seen.loads, 300);
	ck_assert_uint_gt(seen.stores, 200);
	ck_assert(n.scaled);
	ck_assert_uint_eq(n.loads, 0); /* slow loads are no count of all */
	ck_assert_double_eq_tol((double)n.stores / truth.stores, 1, 0.02);
}
END_TEST

START_TEST(the_counts_of_both_kinds_of_cores_are_added_up_as_an_estimate)
{
	struct pmu_counts n;

	boot(FAKE_ALDER_LAKE);
	run(OPS / 40, false);
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_eq(n.loads, truth.loads);
	ck_assert(!n.scaled); /* of one kind they are exact */
	for (int i = 1; i < 40; i++) {
		fake_kernel_run_thread(k, 0, i % 4 == 3);
		run(OPS / 40, false);
	}
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_eq(n.loads, truth.loads);
	ck_assert_uint_eq(n.stores, truth.stores);
	ck_assert(n.scaled); /* instructions and uops */
	check_total(seen.stores, truth.stores, PERIOD);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

START_TEST(intervals_spread_evenly_around_the_period)
{
	uint64_t low = UINT64_MAX, high = 0;

	boot(FAKE_SKYLAKE);
	for (int i = 0; i < 4000; i++) {
		uint64_t p;

		thread.fired = 1;
		pmu_thread_resume(&thread);
		p = k->event[0].attr.sample_period;
		low = p < low ? p : low;
		high = p > high ? p : high;
	}
	ck_assert_uint_ge(low, PERIOD * 3 / 4);
	ck_assert_uint_le(low, PERIOD * 3 / 4 + 5);
	ck_assert_uint_le(high, PERIOD * 5 / 4);
	ck_assert_uint_ge(high, PERIOD * 5 / 4 - 5);
}
END_TEST

START_TEST(samples_do_not_keep_step_with_a_loop)
{
	uint64_t by_place[8] = { 0 }, all = 0;
	double chi2 = 0;

	boot(FAKE_SKYLAKE);
	pmu_thread_resume(&thread);
	/* A loop of 8 loads: the period is a multiple of it. */
	for (uint64_t i = 0; i < OPS; i++) {
		const struct fake_op op = {
			.access = { .addr = BASE + i % 8 * 64,
				    .ip = 0x400000 + i % 8 * 16,
				    .len = 8,
				    .flags = ACCESS_LOAD },
		};

		fake_run(k, &op);
	}
	for (int i = 0; i < 8; i++)
		all += by_place[i] = seen.by_line[i];
	for (int i = 0; i < 8; i++)
		chi2 += pow(by_place[i] - all / 8.0, 2) / (all / 8.0);
	ck_assert_uint_gt(all, 1500);
	ck_assert_msg(chi2 < 24.3, "chi2 %g of 7 degrees", chi2); /* 0.1 % */
}
END_TEST

START_TEST(a_descriptor_that_the_program_closed_and_reused_stays_open)
{
	struct perf_event_attr other = { .size = sizeof(other),
					 .type = PERF_TYPE_RAW,
					 .exclude_kernel = 1 };
	int fd;

	boot(FAKE_SKYLAKE);
	fd = thread.event[1].fd;
	k->calls.close(k, fd);
	ck_assert_int_eq(k->calls.open(k, &other, 0, -1, -1), fd);
	pmu_thread_close(&thread);
	ck_assert_int_eq(k->open_fds, 1);
	k->calls.close(k, fd);
}
END_TEST

/* A read of a pipe of the program's, say, would take its data. */
START_TEST(a_descriptor_that_the_program_reused_is_not_read)
{
	struct perf_event_attr other;
	struct pmu_counts n;
	int fd;

	boot(FAKE_SKYLAKE);
	run(OPS / 10, false);
	fd = thread.event[1].fd;
	other = plan.event[0].attr;
	k->calls.close(k, fd);
	ck_assert_int_eq(k->calls.open(k, &other, 0, -1, -1), fd);
	run(OPS / 10, false);
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_gt(n.loads, 0);
	ck_assert_uint_eq(n.stores, 0);
	k->calls.close(k, fd);
}
END_TEST

START_TEST(signals_are_queued_where_they_cannot_be_synchronous)
{
	const struct pmu_delivery how = { .signal = 40,
					  .tid = 1,
					  .fd_base = 100 };

	boot(FAKE_SKYLAKE);
	pmu_thread_close(&thread);
	ck_assert_int_eq(
		pmu_thread_open(&thread, &k->calls, &plan, &how, &rng, NULL),
		0);
	ck_assert_int_ge(thread.event[0].fd, 100);
	ck_assert(pmu_thread_has(&thread, thread.event[1].fd));
	ck_assert(!pmu_thread_has(&thread, 3));
	ck_assert(!pmu_thread_has(&thread, -1));
	run(OPS / 10, false);
	ck_assert_uint_gt(k->signals, 50);
	ck_assert_uint_gt(seen.samples, 50);
}
END_TEST

/* Wherever opening fails, nothing stays open. */
START_TEST(an_open_that_fails_leaves_nothing)
{
	const struct pmu_delivery how = { .sigtrap = true, .fd_base = 100 };
	struct pmu_failure at;

	boot(FAKE_ALDER_LAKE);
	pmu_thread_close(&thread);
	k->fds_max = _i;
	ck_assert_int_eq(
		pmu_thread_open(&thread, &k->calls, &plan, &how, &rng, &at),
		-EMFILE);
	ck_assert(!at.ring);
	ck_assert_int_eq(k->open_fds, 0);
}
END_TEST

START_TEST(ibs_does_without_the_counter_of_ops_if_it_must)
{
	struct pmu_counts n;

	boot(FAKE_ZEN4);
	pmu_thread_counts(&thread, &n);
	pmu_thread_close(&thread);
	k->open_error = EINVAL;
	k->open_error_of = PERF_TYPE_RAW;
	ck_assert_int_eq(pmu_thread_open(&thread, &k->calls, &plan,
					 &(struct pmu_delivery){ .sigtrap = 1 },
					 &rng, NULL),
			 0);
	run(OPS / 10, false);
	ck_assert_uint_gt(seen.samples, 50);
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_eq(n.ops, 0);
}
END_TEST

START_TEST(retired_ops_are_counted_beside_ibs)
{
	struct pmu_counts n;

	boot(FAKE_ZEN4);
	run(OPS, true);
	pmu_thread_counts(&thread, &n);
	ck_assert_uint_eq(n.ops, truth.user_ops);
}
END_TEST

static long (*real_ioctl)(void *ctx, int fd, unsigned long request,
			  uint64_t arg);
static uint32_t switched;

/* The thread ends while another one is in the middle of pausing its events. */
static long end_meanwhile(void *ctx, int fd, unsigned long request,
			  uint64_t arg)
{
	if (request == PERF_EVENT_IOC_DISABLE ||
	    request == PERF_EVENT_IOC_ENABLE) {
		switched++;
		pmu_thread_close(&thread);
		return -EBADF;
	}
	return real_ioctl(ctx, fd, request, arg);
}

START_TEST(a_thread_may_end_while_another_one_pauses_it)
{
	boot(_i & 2 ? FAKE_SKYLAKE : FAKE_SANDY_BRIDGE);
	real_ioctl = k->calls.ioctl;
	k->calls.ioctl = end_meanwhile;
	switched = 0;
	if (_i & 1)
		pmu_thread_switch_on(&thread);
	else
		pmu_thread_pause(&thread);
	/* No event that the thread has closed is touched. */
	ck_assert_uint_eq(switched, 1);
	ck_assert_int_eq(k->open_fds, 0);
	pmu_thread_pause(&thread);
	ck_assert_uint_eq(switched, 1);
	k->calls.ioctl = real_ioctl;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu_thread");
	TCase *tc = tcase_create("pmu_thread");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, shut_down);
#define T(name)    tcase_add_test(tc, name)
#define L(name, n) tcase_add_loop_test(tc, name, 0, n)
	T(pebs_samples_stand_for_all_loads_and_stores);
	L(ibs_samples_stand_for_all_ops, 2);
	T(the_kernels_ops_are_filtered_by_sample_where_the_driver_does_not);
	T(the_kernels_ops_never_come_where_the_driver_filters);
	T(counts_run_freely_and_are_exact_while_nothing_takes_turns);
	T(counts_are_scaled_where_events_take_turns);
	T(sandy_bridge_samples_both_although_they_share_a_counter);
	T(the_counts_of_both_kinds_of_cores_are_added_up_as_an_estimate);
	T(intervals_spread_evenly_around_the_period);
	T(samples_do_not_keep_step_with_a_loop);
	T(a_descriptor_that_the_program_closed_and_reused_stays_open);
	T(a_descriptor_that_the_program_reused_is_not_read);
	T(signals_are_queued_where_they_cannot_be_synchronous);
	tcase_add_loop_test(tc, an_open_that_fails_leaves_nothing, 1, 5);
	tcase_add_loop_test(tc, a_thread_may_end_while_another_one_pauses_it, 0,
			    4);
	T(ibs_does_without_the_counter_of_ops_if_it_must);
	T(retired_ops_are_counted_beside_ibs);
#undef T
#undef L
	suite_add_tcase(s, tc);
	return run_suite(s);
}
