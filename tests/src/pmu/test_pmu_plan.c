/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_plan - which events are opened on each machine, and the advice where
 * none can be opened
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/fake_kernel.h"
#include "src/pmu/plan.h"
#include "src/pmu/errors.h"
#include "tests/run_suite.h"

static struct fake_kernel *k;
static struct pmu_plan plan;
static struct pmu_refusal no;
static char reason[400], advice[400];

static void close_machine(void)
{
	fake_kernel_free(k);
	k = NULL;
}

static int make(enum fake_model model, enum pmu_source source)
{
	const struct pmu_wish wish = { .sigtrap = true };

	if (!k)
		k = fake_kernel_new(model);
	return pmu_plan_make(&plan, &k->calls, source, &wish, &no);
}

static int make_slow(enum fake_model model)
{
	const struct pmu_wish wish = { .ldlat = 30 };

	if (!k)
		k = fake_kernel_new(model);
	return pmu_plan_make(&plan, &k->calls, PMU_PEBS, &wish, &no);
}

static void words(void)
{
	pmu_errors_explain(&no, reason, sizeof(reason), advice, sizeof(advice));
}

#define says(text, part)                                                       \
	ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part)

static void check_event(int i, enum pmu_role role, uint64_t config,
			uint32_t leader)
{
	ck_assert_int_eq(plan.event[i].role, role);
	ck_assert_uint_eq(plan.event[i].attr.config, config);
	ck_assert_uint_eq(plan.event[i].leader, leader);
}

START_TEST(skylake_samples_loads_and_stores_in_one_group_most_precisely)
{
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.events, 2);
	check_event(0, PMU_LOADS, 0x81d0, 0);
	check_event(1, PMU_STORES, 0x82d0, 0);
	ck_assert_uint_eq(plan.event[0].attr.precise_ip, 3);
	ck_assert(!plan.event[0].partial && !plan.takes_turns);
}
END_TEST

START_TEST(lower_precision_is_taken_where_the_highest_does_not_open)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->pmu[0].max_precise = 2;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.event[0].attr.precise_ip, 2);
}
END_TEST

START_TEST(golden_cove_gives_up_precision_before_it_takes_turns)
{
	ck_assert_int_eq(make(FAKE_SAPPHIRE_RAPIDS, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.event[0].attr.precise_ip, 2);
	ck_assert_uint_eq(plan.event[1].attr.precise_ip, 2);
	ck_assert(!plan.takes_turns);
}
END_TEST

START_TEST(sandy_bridge_takes_turns_on_its_one_counter)
{
	ck_assert_int_eq(make(FAKE_SANDY_BRIDGE, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.events, 2);
	check_event(0, PMU_LOADS, 0x01cd, 0);
	check_event(1, PMU_STORES, 0x02cd, 1);
	ck_assert_uint_eq(plan.event[0].attr.config1, 3);
	ck_assert(plan.takes_turns);
	ck_assert(plan.event[0].partial && !plan.event[1].partial);
}
END_TEST

START_TEST(all_loads_need_no_auxiliary_event)
{
	ck_assert_int_eq(make(FAKE_SAPPHIRE_RAPIDS, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.events, 2);
	check_event(0, PMU_LOADS, 0x81d0, 0);
}
END_TEST

START_TEST(slow_loads_bring_the_auxiliary_event_where_it_is_needed)
{
	ck_assert_int_eq(make_slow(FAKE_SAPPHIRE_RAPIDS), 0);
	ck_assert_uint_eq(plan.events, 3);
	check_event(0, PMU_AUX, 0x8203, 0);
	check_event(1, PMU_LOADS, 0x01cd, 0);
	check_event(2, PMU_STORES, 0x82d0, 0);
	ck_assert_uint_eq(plan.event[1].attr.config1, 30);
	ck_assert(plan.event[1].partial);
}
END_TEST

START_TEST(slow_loads_go_without_it_elsewhere)
{
	ck_assert_int_eq(make_slow(FAKE_SKYLAKE), 0);
	ck_assert_uint_eq(plan.events, 2);
	check_event(0, PMU_LOADS, 0x01cd, 0);
}
END_TEST

START_TEST(a_hybrid_gets_a_group_for_each_kind_of_cores)
{
	ck_assert_int_eq(make(FAKE_ALDER_LAKE, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.events, 4);
	check_event(0, PMU_LOADS, 0x81d0, 0);
	check_event(1, PMU_STORES, 0x82d0, 0);
	check_event(2, PMU_LOADS, 0x81d0, 2);
	check_event(3, PMU_STORES, 0x82d0, 2);
	ck_assert_uint_eq(plan.event[0].attr.type, k->pmu[0].type);
	ck_assert_uint_eq(plan.event[2].attr.type, k->pmu[1].type);
}
END_TEST

START_TEST(a_hybrid_with_slow_loads_has_the_auxiliary_event_on_one_kind)
{
	ck_assert_int_eq(make_slow(FAKE_ALDER_LAKE), 0);
	ck_assert_uint_eq(plan.events, 5);
	check_event(0, PMU_AUX, 0x8203, 0);
	check_event(1, PMU_LOADS, 0x01cd, 0);
	check_event(3, PMU_LOADS, 0x05d0, 3);
	check_event(4, PMU_STORES, 0x82d0, 3);
}
END_TEST

START_TEST(a_hybrid_without_its_small_cores_is_no_hybrid)
{
	k = fake_kernel_new(FAKE_ALDER_LAKE);
	k->pmu[0].name = "cpu";
	k->pmu[1].name = NULL;
	ck_assert_int_eq(make(FAKE_ALDER_LAKE, PMU_PEBS), 0);
	ck_assert_uint_eq(plan.events, 2);
}
END_TEST

START_TEST(zen_4_counts_ops_in_user_mode)
{
	ck_assert_int_eq(make(FAKE_ZEN4, PMU_IBS), 0);
	ck_assert_uint_eq(plan.events, 2);
	check_event(0, PMU_OPS, 1 << 19, 0);
	check_event(1, PMU_COUNTS, 0xc1, 1);
	ck_assert_uint_eq(plan.event[0].attr.config2, 1);
	ck_assert(plan.event[0].attr.exclude_kernel && !plan.kernel_too);
	ck_assert_uint_eq(plan.period_max, 0x7fffff0);
	ck_assert(plan.event[0].attr.sample_type & PERF_SAMPLE_RAW);
}
END_TEST

START_TEST(without_the_filter_ibs_takes_the_kernel_too_if_it_may)
{
	k = fake_kernel_new(FAKE_ZEN2);
	fake_kernel_boot(k, "6.12.24");
	k->paranoid = 1;
	ck_assert_int_eq(make(FAKE_ZEN2, PMU_IBS), 0);
	ck_assert(!plan.event[0].attr.exclude_kernel && plan.kernel_too);
	ck_assert_uint_eq(plan.period_max, 0x7fffff0);
}
END_TEST

START_TEST(without_the_filter_paranoid_2_is_too_much)
{
	k = fake_kernel_new(FAKE_ZEN2);
	fake_kernel_boot(k, "6.12.24");
	ck_assert_int_eq(make(FAKE_ZEN2, PMU_IBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_REFUSED);
	ck_assert_int_eq(no.error, EACCES);
	words();
	says(reason, "perf_event_paranoid is 2");
	says(advice, "kernel.perf_event_paranoid=1");
	says(advice, "6.14");
}
END_TEST

START_TEST(short_counters_limit_the_interval)
{
	k = fake_kernel_new(FAKE_ZEN4);
	k->ibs_caps &= ~(1u << 6);
	ck_assert_int_eq(make(FAKE_ZEN4, PMU_IBS), 0);
	ck_assert_uint_eq(plan.period_max, 0xffff0);
	ck_assert_uint_eq(plan.period_min, 0x90);
	ck_assert_uint_eq(plan.period_step, 16);
}
END_TEST

START_TEST(nehalem_is_told_why_not)
{
	ck_assert_int_eq(make(FAKE_NEHALEM, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_UNFIT);
	words();
	says(reason, "stores carry no data address");
	says(advice, "clock");
}
END_TEST

START_TEST(an_unknown_model_is_named)
{
	ck_assert_int_eq(make(FAKE_UNKNOWN_INTEL, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_UNKNOWN_MODEL);
	words();
	says(reason, "family 6, model 0xfe");
	says(reason, "COMDET_EVENT");
	says(advice, "clock");
}
END_TEST

START_TEST(each_source_is_for_its_vendor)
{
	ck_assert_int_eq(make(FAKE_ZEN4, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_OTHER_VENDOR);
	close_machine();
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_IBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_OTHER_VENDOR);
}
END_TEST

START_TEST(a_virtual_machine_without_pmu_is_told_of_bare_metal)
{
	ck_assert_int_eq(make(FAKE_BARE, PMU_IBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_NO_PMU);
	words();
	says(reason, "virtual machines");
	says(advice, "bare metal");
}
END_TEST

START_TEST(ibs_that_the_firmware_switched_off_is_told_of_the_bios)
{
	k = fake_kernel_new(FAKE_ZEN4);
	k->pmu[1].name = NULL;
	ck_assert_int_eq(make(FAKE_ZEN4, PMU_IBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_NO_PMU);
	words();
	says(advice, "BIOS");
}
END_TEST

START_TEST(a_pmu_without_precise_events_is_not_opened)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->pmu[0].max_precise = 0;
	k->hypervisor = true;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_NOT_PRECISE);
	words();
	says(advice, "passes PEBS on");
}
END_TEST

/* Each error of perf_event_open, and a word of the advice for it. */
static const struct {
	int error;
	const char *name, *advice;
} denials[] = {
	{ EPERM, "EPERM", "ask the administrator" },
	{ ENOENT, "ENOENT", "knows this processor" },
	{ EOPNOTSUPP, "EOPNOTSUPP", "virtual PMU" },
	{ EINVAL, "EINVAL", "newer kernel" },
	{ E2BIG, "E2BIG", "newer kernel" },
	{ EMFILE, "EMFILE", "ulimit -n" },
	{ ENFILE, "ENFILE", "fs.file-max" },
	{ ENODEV, "ENODEV", "nolapic" },
	{ EBUSY, "EBUSY", "end the other profiler" },
	{ ENOSPC, "ENOSPC", "end the other profiler" },
	{ ENODATA, "ENODATA", "newer kernel" },
	{ ENOMEM, "ENOMEM", "memory" },
	{ ENOSYS, "ENOSYS", "CONFIG_PERF_EVENTS" },
};
enum {
	DENIALS = sizeof(denials) / sizeof(denials[0])
};

START_TEST(each_refusal_has_its_own_reason_and_advice)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->open_error = denials[_i].error;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_REFUSED);
	ck_assert_int_eq(no.error, denials[_i].error);
	words();
	says(reason, denials[_i].name);
	says(advice, denials[_i].advice);
}
END_TEST

START_TEST(paranoid_above_2_is_named)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->paranoid = 4;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	words();
	says(reason, "perf_event_paranoid is 4");
	says(advice, "kernel.perf_event_paranoid=2");
}
END_TEST

START_TEST(a_seccomp_filter_is_named)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->seccomp = true;
	k->open_error = EPERM;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	words();
	says(reason, "seccomp");
	says(advice, "container");
}
END_TEST

START_TEST(a_limit_of_locked_memory_is_named)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->locked_pages_max = 1;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_NO_RING);
	words();
	says(advice, "perf_event_mlock_kb");
}
END_TEST

START_TEST(a_smaller_ring_is_tried_first)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->locked_pages_max = 2;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), 0);
}
END_TEST

START_TEST(events_that_open_and_never_deliver_are_found_out)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->silent = k->hypervisor = true;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_SILENT);
	words();
	says(advice, "bare metal");
}
END_TEST

START_TEST(a_watchdog_that_has_the_counter_is_named)
{
	k = fake_kernel_new(FAKE_SKYLAKE);
	k->starved = k->watchdog = true;
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_STARVED);
	words();
	says(advice, "kernel.nmi_watchdog=0");
}
END_TEST

START_TEST(nothing_stays_open_or_locked)
{
	const enum pmu_source source = _i < FAKE_ZEN2 ? PMU_PEBS : PMU_IBS;

	k = fake_kernel_new(_i);
	k->paranoid = 1;
	make(_i, source);
	ck_assert_int_eq(k->open_fds, 0);
	ck_assert_int_eq(k->locked_pages, 0);
	k->map_error = ENOMEM;
	make(_i, source);
	ck_assert_int_eq(k->open_fds, 0);
	ck_assert_int_eq(k->locked_pages, 0);
}
END_TEST

START_TEST(words_are_cut_where_there_is_no_room)
{
	char small[8], none[1];

	ck_assert_int_eq(make(FAKE_UNKNOWN_INTEL, PMU_PEBS), -ENOTSUP);
	pmu_errors_explain(&no, small, sizeof(small), none, sizeof(none));
	ck_assert_str_eq(small, "the eve");
	ck_assert_str_eq(none, "");
}
END_TEST

START_TEST(the_plan_is_said_in_words)
{
	ck_assert_int_eq(make(FAKE_SKYLAKE, PMU_PEBS), 0);
	pmu_plan_describe(&plan, reason, sizeof(reason));
	ck_assert_str_eq(reason,
			 "Skylake X, Cascade Lake: "
			 "cpu/MEM_INST_RETIRED.ALL_LOADS/, "
			 "cpu/MEM_INST_RETIRED.ALL_STORES/ about every 500000, "
			 "precise_ip 3");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu_plan");
	TCase *tc = tcase_create("pmu_plan");

	tcase_add_checked_fixture(tc, NULL, close_machine);
#define T(name) tcase_add_test(tc, name)
	T(skylake_samples_loads_and_stores_in_one_group_most_precisely);
	T(lower_precision_is_taken_where_the_highest_does_not_open);
	T(golden_cove_gives_up_precision_before_it_takes_turns);
	T(sandy_bridge_takes_turns_on_its_one_counter);
	T(all_loads_need_no_auxiliary_event);
	T(slow_loads_bring_the_auxiliary_event_where_it_is_needed);
	T(slow_loads_go_without_it_elsewhere);
	T(a_hybrid_gets_a_group_for_each_kind_of_cores);
	T(a_hybrid_with_slow_loads_has_the_auxiliary_event_on_one_kind);
	T(a_hybrid_without_its_small_cores_is_no_hybrid);
	T(zen_4_counts_ops_in_user_mode);
	T(without_the_filter_ibs_takes_the_kernel_too_if_it_may);
	T(without_the_filter_paranoid_2_is_too_much);
	T(short_counters_limit_the_interval);
	T(nehalem_is_told_why_not);
	T(an_unknown_model_is_named);
	T(each_source_is_for_its_vendor);
	T(a_virtual_machine_without_pmu_is_told_of_bare_metal);
	T(ibs_that_the_firmware_switched_off_is_told_of_the_bios);
	T(a_pmu_without_precise_events_is_not_opened);
	T(paranoid_above_2_is_named);
	T(a_seccomp_filter_is_named);
	T(a_limit_of_locked_memory_is_named);
	T(a_smaller_ring_is_tried_first);
	T(events_that_open_and_never_deliver_are_found_out);
	T(a_watchdog_that_has_the_counter_is_named);
	T(words_are_cut_where_there_is_no_room);
	T(the_plan_is_said_in_words);
#undef T
	tcase_add_loop_test(tc, each_refusal_has_its_own_reason_and_advice, 0,
			    DENIALS);
	tcase_add_loop_test(tc, nothing_stays_open_or_locked, 0, FAKE_MODELS);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
