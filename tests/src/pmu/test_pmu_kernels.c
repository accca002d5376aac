/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_kernels - what each release of Linux is asked for, and what not
 *
 * The fake kernel behaves as the release does: when a signal comes, whether IBS
 * has threads and a filter, and what becomes of an event whose signal waits.
 * The production code must take what is safe, and refuse the rest with the true
 * reason. "Harm" tests open by hand what it refuses, and find the harm.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/src/pmu/pmu_hand.h"
#include "src/pmu/errors.h"
#include "src/pmu/machine.h"
#include "tests/run_suite.h"

enum {
	SOME_OPS = 200000
};

static struct pmu_refusal no;
static char reason[400], advice[400];

static int make_on(enum fake_model model, const char *release, int paranoid,
		   bool sigtrap)
{
	const struct pmu_wish wish = { .period = PERIOD, .sigtrap = sigtrap };
	int r;

	if (k)
		fake_kernel_free(k);
	k = fake_kernel_new(model);
	fake_kernel_boot(k, release);
	k->paranoid = paranoid;
	k->raise = on_signal;
	r = pmu_plan_make(&plan, &k->calls, is_ibs(model) ? PMU_IBS : PMU_PEBS,
			  &wish, &no);
	pmu_errors_explain(&no, reason, sizeof(reason), advice, sizeof(advice));
	return r;
}

static void shut(void)
{
	if (!k)
		return;
	pmu_thread_close(&thread);
	fake_kernel_free(k);
	k = NULL;
}

#define says(text, part)                                                       \
	ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part)

static const struct expected {
	const char *release;
	enum pmu_cause ibs[3]; /* paranoid 1, 2; 1 with queued signals */
	const char *reason;    /* of the first */
} releases[] = {
	{ "5.13.0",
	  { PMU_NO_THREADS, PMU_NO_THREADS, PMU_NO_THREADS },
	  "Linux 5.13.0 gives IBS to whole processors only" },
	{ "5.15.0-25-generic",
	  { PMU_NO_THREADS, PMU_NO_THREADS, PMU_NO_THREADS },
	  "Linux 5.15.0-25-generic gives IBS to whole processors only" },
	{ "5.19.0",
	  { PMU_NO_THREADS, PMU_NO_THREADS, PMU_NO_THREADS },
	  "whole processors" },
	{ "6.1.0-18-amd64",
	  { PMU_NO_THREADS, PMU_NO_THREADS, PMU_NO_THREADS },
	  "Linux 6.1.0-18-amd64 gives IBS to whole processors only" },
	{ "6.2.0",
	  { PMU_INTERRUPTS, PMU_INTERRUPTS, PMU_INTERRUPTS },
	  "interrupt the program's system calls" },
	{ "6.10.14",
	  { PMU_INTERRUPTS, PMU_INTERRUPTS, PMU_INTERRUPTS },
	  "interrupt the program's system calls" },
	{ "6.11.0",
	  { PMU_HANGS, PMU_HANGS, PMU_INTERRUPTS },
	  "a program that is killed could hang" },
	{ "6.12.23", { PMU_HANGS, PMU_HANGS, PMU_INTERRUPTS }, "could hang" },
	{ "6.12.24", { PMU_FINE, PMU_REFUSED, PMU_INTERRUPTS }, "" },
	{ "6.13.11", { PMU_HANGS, PMU_HANGS, PMU_INTERRUPTS }, "could hang" },
	{ "6.13.12", { PMU_FINE, PMU_REFUSED, PMU_INTERRUPTS }, "" },
	{ "6.14.0", { PMU_FINE, PMU_FINE, PMU_FINE }, "" },
	{ "6.15.0", { PMU_FINE, PMU_FINE, PMU_FINE }, "" },
	{ "7.0.0-rc1", { PMU_FINE, PMU_FINE, PMU_FINE }, "" },
};
enum {
	RELEASES = sizeof(releases) / sizeof(releases[0])
};

START_TEST(ibs_is_taken_only_where_it_does_no_harm)
{
	const struct expected *e = &releases[_i];

	for (int m = FAKE_ZEN2; m <= FAKE_ZEN4; m++)
		for (int i = 0; i < 3; i++) {
			make_on(m, e->release, i == 1 ? 2 : 1, i != 2);
			ck_assert_msg(no.cause == e->ibs[i],
				      "%s, case %d: cause %d: %s", e->release,
				      i, no.cause, reason);
		}
	make_on(FAKE_ZEN4, e->release, 1, true);
	says(reason, e->reason);
	if (no.cause != PMU_FINE)
		ck_assert_str_eq(advice, "use Linux 6.15 or later");
	ck_assert(strstr(advice, "5.19") == NULL);
}
END_TEST

/* What the plan asks for does no harm on the release that it was made on. */
START_TEST(what_is_taken_interrupts_no_call_and_hangs_nothing)
{
	const struct pmu_delivery how = { .sigtrap = true };

	for (int m = FAKE_SKYLAKE; m <= FAKE_ZEN4; m++) {
		if (m == FAKE_UNKNOWN_INTEL ||
		    make_on(m, releases[_i].release, 1, true))
			continue;
		memset(&seen, 0, sizeof(seen));
		rng_seed(&rng, 7, m);
		ck_assert_int_eq(pmu_thread_open(&thread, &k->calls, &plan,
						 &how, &rng, NULL),
				 0);
		run(SOME_OPS, true);
		pmu_thread_close(&thread);
		ck_assert_uint_gt(seen.samples, 50);
		ck_assert_uint_eq(seen.wrong, 0);
		ck_assert_uint_eq(k->interrupted, 0);
		ck_assert(!k->hung);
	}
}
END_TEST

START_TEST(pebs_is_taken_on_every_release)
{
	for (int queued = 0; queued < 2; queued++) {
		ck_assert_int_eq(
			make_on(FAKE_SKYLAKE, releases[_i].release, 2, !queued),
			0);
		ck_assert_uint_eq(plan.event[0].attr.exclude_kernel, 1);
	}
}
END_TEST

/* Take the plan for IBS of a release that has it, and open it on @release. */
static int open_by_hand(const char *release, bool sigtrap)
{
	const struct pmu_delivery how = { .sigtrap = sigtrap,
					  .signal = sigtrap ? 0 : 40 };

	ck_assert_int_eq(make_on(FAKE_ZEN4, "6.12.24", 1, true), 0);
	ck_assert(plan.kernel_too);
	fake_kernel_boot(k, release);
	k->interrupted = 0;
	rng_seed(&rng, 7, 1);
	return pmu_thread_open(&thread, &k->calls, &plan, &how, &rng, NULL);
}

/* Run until a signal waits, or came, in the kernel. */
static void run_in_kernel(void)
{
	const struct fake_op op = { .in_kernel = true,
				    .access.ip = 0xffffffff81000000ull };

	pmu_thread_resume(&thread);
	for (int i = 0; i < SOME_OPS && !k->pendings && !k->interrupted; i++)
		fake_run(k, &op);
}

START_TEST(harm_before_6_2_there_are_no_threads)
{
	ck_assert_int_eq(open_by_hand("6.1.0", true), -EINVAL);
}
END_TEST

START_TEST(harm_before_6_11_calls_are_interrupted)
{
	ck_assert_int_eq(open_by_hand("6.10.0", true), 0);
	run_in_kernel();
	ck_assert_uint_gt(k->interrupted, 0);
}
END_TEST

START_TEST(harm_queued_signals_interrupt_calls_on_every_release)
{
	ck_assert_int_eq(open_by_hand("6.13.12", false), 0);
	run_in_kernel();
	ck_assert_uint_gt(k->interrupted, 0);
}
END_TEST

/* So the preload asks for queued signals there. */
START_TEST(harm_before_5_19_a_blocked_signal_kills)
{
	static const struct {
		const char *release;
		bool sigtrap, kills;
	} all[] = { { "5.13.0", true, true },
		    { "5.18.19", true, true },
		    { "5.13.0", false, false },
		    { "5.19.0", true, false },
		    { "6.15.0", true, false } };
	const struct pmu_delivery how = { .sigtrap = all[_i].sigtrap,
					  .signal = all[_i].sigtrap ? 0 : 40 };

	ck_assert_int_eq(
		make_on(FAKE_SKYLAKE, all[_i].release, 2, all[_i].sigtrap), 0);
	memset(&seen, 0, sizeof(seen));
	rng_seed(&rng, 7, 1);
	ck_assert_int_eq(
		pmu_thread_open(&thread, &k->calls, &plan, &how, &rng, NULL),
		0);
	k->signals = 0;
	k->blocked = true;
	run(SOME_OPS, false);
	ck_assert_int_eq(k->killed, all[_i].kills);
	if (all[_i].kills || !all[_i].sigtrap)
		return;
	ck_assert_uint_eq(k->signals, 0);
	k->blocked = false;
	run(SOME_OPS, false);
	ck_assert_uint_gt(k->signals, 0);
}
END_TEST

START_TEST(harm_from_6_11_a_waiting_signal_hangs_its_event)
{
	static const struct {
		const char *release;
		bool hangs;
	} all[] = { { "6.11.0", true },
		    { "6.12.23", true },
		    { "6.12.24", false },
		    { "6.13.12", false } };

	ck_assert_int_eq(open_by_hand(all[_i].release, true), 0);
	run_in_kernel();
	ck_assert_uint_eq(k->interrupted, 0);
	ck_assert_int_gt(k->pendings, 0);
	pmu_thread_close(&thread); /* as the end of a killed process */
	ck_assert_int_eq(k->hung, all[_i].hangs);
}
END_TEST

/*
 * The interrupt of PEBS, and of IBS with its filter, comes some ops after the
 * sampled one, so some come in a system call.
 */
static const struct late {
	const char *release;
	enum fake_model model;
	bool sigtrap, interrupts;
} lates[] = {
	{ "5.13.0", FAKE_SKYLAKE, false, true },
	{ "5.19.0", FAKE_SKYLAKE, true, true },
	{ "6.1.0", FAKE_SKYLAKE, true, true },
	{ "6.2.0", FAKE_SKYLAKE, true, true },
	{ "6.10.0", FAKE_SKYLAKE, true, true },
	{ "6.11.0", FAKE_SKYLAKE, true, false },
	{ "6.15.0", FAKE_SKYLAKE, true, false },
	{ "6.15.0", FAKE_SKYLAKE, false, true },
	{ "6.14.0", FAKE_ZEN4, true, false },
	{ "6.15.0", FAKE_ZEN4, true, false },
	{ "6.15.0", FAKE_ZEN4, false, true },
};
enum {
	LATES = sizeof(lates) / sizeof(lates[0])
};

static void open_late(const struct late *l)
{
	const struct pmu_delivery how = { .sigtrap = l->sigtrap,
					  .signal = l->sigtrap ? 0 : 40 };

	ck_assert_int_eq(make_on(l->model, l->release, 2, l->sigtrap), 0);
	k->skid = 3;
	memset(&seen, 0, sizeof(seen));
	rng_seed(&rng, 7, l->model);
	ck_assert_int_eq(
		pmu_thread_open(&thread, &k->calls, &plan, &how, &rng, NULL),
		0);
}

START_TEST(late_interrupts_reach_system_calls_as_the_page_says)
{
	open_late(&lates[_i]);
	run(SOME_OPS, true);
	ck_assert_int_eq(k->interrupted > 0, lates[_i].interrupts);
	/* Each is taken for what it is: a sample of the program. */
	ck_assert_uint_gt(seen.samples, 50);
	ck_assert_uint_eq(seen.wrong, 0);
	ck_assert_uint_eq(seen.loss[LOSS_IN_KERNEL], 0);
}
END_TEST

START_TEST(harm_a_late_signal_hangs_the_call_that_frees_its_event)
{
	static const struct {
		const char *release;
		bool hangs;
	} all[] = { { "6.10.0", false }, { "6.11.0", true },
		    { "6.12.23", true }, { "6.12.24", false },
		    { "6.14.2", true },  { "6.14.3", false },
		    { "6.15.0", false } };
	const struct late l = { all[_i].release, FAKE_SKYLAKE, true, false };
	const struct fake_op store = { .access = { BASE, 0x400000, 8,
						   ACCESS_STORE } };
	const struct fake_op call = { .in_kernel = true,
				      .access.ip = 0xffffffff81000000ull };

	open_late(&l);
	pmu_thread_resume(&thread);
	while (!k->pendings)
		fake_run(k, &store);
	for (uint32_t i = 0; i < k->skid; i++)
		fake_run(k, &call);
	pmu_thread_close(&thread);
	ck_assert_int_eq(k->hung, all[_i].hangs);
}
END_TEST

START_TEST(ibs_needs_no_physical_address)
{
	const struct late l = { "6.15.0", FAKE_ZEN4, true, false };
	struct seen shown;

	for (int hidden = 0; hidden < 2; hidden++) {
		open_late(&l);
		k->paranoid = hidden ? 2 : 1;
		run(SOME_OPS, true);
		pmu_thread_close(&thread);
		if (!hidden)
			shown = seen;
	}
	ck_assert_uint_gt(seen.samples, 50);
	ck_assert_mem_eq(&seen, &shown, sizeof(seen));
}
END_TEST

START_TEST(a_vendor_with_threads_but_no_filter_is_told_of_the_calls)
{
	const struct pmu_wish wish = { .sigtrap = true };

	make_on(FAKE_ZEN4, "5.14.0-427.el9.x86_64", 1, true);
	k->ibs_of_threads = true;
	ck_assert_int_eq(pmu_plan_make(&plan, &k->calls, PMU_IBS, &wish, &no),
			 -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_INTERRUPTS);
	k->filter = true;
	ck_assert_int_eq(pmu_plan_make(&plan, &k->calls, PMU_IBS, &wish, &no),
			 0);
}
END_TEST

START_TEST(versions_are_read_as_uname_prints_them)
{
	static const struct {
		const char *release;
		uint32_t version;
	} all[] = {
		{ "6.12.24", PMU_LINUX(6, 12, 24) },
		{ "6.1.0-18-amd64", PMU_LINUX(6, 1, 0) },
		{ "6.15-rc3", PMU_LINUX(6, 15, 0) },
		{ "5.19.300-x", PMU_LINUX(5, 19, 255) },
		{ "x", 0 },
	};
	char release[PMU_RELEASE_BYTES];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		make_on(FAKE_ZEN4, all[i].release, 1, true);
		ck_assert_uint_eq(pmu_linux_version(&k->calls, release),
				  all[i].version);
		ck_assert_str_eq(release, all[i].release);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu_kernels");
	TCase *tc = tcase_create("pmu_kernels");

	tcase_add_checked_fixture(tc, NULL, shut);
	tcase_add_loop_test(tc, ibs_is_taken_only_where_it_does_no_harm, 0,
			    RELEASES);
	tcase_add_loop_test(tc,
			    what_is_taken_interrupts_no_call_and_hangs_nothing,
			    0, RELEASES);
	tcase_add_loop_test(tc, pebs_is_taken_on_every_release, 0, RELEASES);
	tcase_add_loop_test(tc, harm_before_5_19_a_blocked_signal_kills, 0, 5);
	tcase_add_test(tc, harm_before_6_2_there_are_no_threads);
	tcase_add_test(tc, harm_before_6_11_calls_are_interrupted);
	tcase_add_test(tc,
		       harm_queued_signals_interrupt_calls_on_every_release);
	tcase_add_loop_test(tc, harm_from_6_11_a_waiting_signal_hangs_its_event,
			    0, 4);
	tcase_add_loop_test(tc,
			    late_interrupts_reach_system_calls_as_the_page_says,
			    0, LATES);
	tcase_add_loop_test(
		tc, harm_a_late_signal_hangs_the_call_that_frees_its_event, 0,
		7);
	tcase_add_test(tc, ibs_needs_no_physical_address);
	tcase_add_test(
		tc, a_vendor_with_threads_but_no_filter_is_told_of_the_calls);
	tcase_add_test(tc, versions_are_read_as_uname_prints_them);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
