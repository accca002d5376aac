/* SPDX-License-Identifier: MIT */
/*
 * test_plan_asked - which events are opened when the user names them
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/fake/fake_kernel.h"
#include "src/pmu/errors.h"
#include "src/pmu/plan.h"
#include "tests/run_suite.h"

static struct fake_kernel *k;
static struct pmu_plan plan;
static struct pmu_refusal no;

static void close_machine(void)
{
	if (k)
		fake_kernel_free(k);
	k = NULL;
}

static void check_event(int i, enum pmu_role role, uint64_t config,
			uint32_t leader)
{
	ck_assert_int_eq(plan.event[i].role, role);
	ck_assert_uint_eq(plan.event[i].attr.config, config);
	ck_assert_uint_eq(plan.event[i].leader, leader);
}

static int make_asked(enum fake_model model, const char *text)
{
	struct pmu_asked asked;
	const struct pmu_wish wish = { .sigtrap = true, .asked = &asked };

	ck_assert_int_eq(pmu_asked_read(&asked, text), 0);
	if (!k)
		k = fake_kernel_new(model);
	return pmu_plan_make(&plan, &k->calls, PMU_PEBS, &wish, &no);
}

START_TEST(codes_make_a_plan_for_an_unknown_processor)
{
	ck_assert_int_eq(make_asked(FAKE_UNKNOWN_INTEL,
				    "loads=81d0:ALL_LOADS,"
				    "stores=82d0:ALL_STORES"),
			 0);
	ck_assert_uint_eq(plan.events, 2);
	check_event(0, PMU_LOADS, 0x81d0, 0);
	check_event(1, PMU_STORES, 0x82d0, 0);
	ck_assert(pmu_plan_counts(&plan));
	ck_assert_str_eq(plan.model, "family 6, model 0xfe");
	ck_assert_uint_eq(plan.event[1].attr.precise_ip, 3);
}
END_TEST

START_TEST(half_of_the_codes_is_not_enough_there)
{
	char reason[200], advice[200];

	ck_assert_int_eq(make_asked(FAKE_UNKNOWN_INTEL, "loads=81d0"),
			 -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_HALF_ASKED);
	pmu_errors_explain(&no, reason, sizeof(reason), advice, sizeof(advice));
	ck_assert_ptr_nonnull(strstr(reason, "names no stores"));
	ck_assert_ptr_nonnull(strstr(advice, "stores=CODE"));
}
END_TEST

START_TEST(a_known_processor_has_the_other_half_itself)
{
	ck_assert_int_eq(make_asked(FAKE_SKYLAKE, "loads=1cd/40:SLOW_LOADS"),
			 0);
	check_event(0, PMU_LOADS, 0x1cd, 0);
	check_event(1, PMU_STORES, 0x82d0, 0);
	ck_assert_uint_eq(plan.event[0].attr.config1, 0x40);
	ck_assert(plan.event[0].partial && !plan.event[1].partial);
	ck_assert(!pmu_plan_counts(&plan));
	close_machine();
	ck_assert_int_eq(make_asked(FAKE_SAPPHIRE_RAPIDS, "loads=1cd/40"), 0);
	check_event(0, PMU_AUX, 0x8203, 0);
	check_event(1, PMU_LOADS, 0x1cd, 0);
	check_event(2, PMU_STORES, 0x82d0, 0);
	close_machine();
	ck_assert_int_eq(make_asked(FAKE_ALDER_LAKE, "loads=20d1"), 0);
	ck_assert_uint_eq(plan.events, 2); /* of the P cores */
}
END_TEST

START_TEST(codes_are_for_pebs_alone)
{
	ck_assert_int_eq(make_asked(FAKE_ZEN4, "loads=81d0"), -ENOTSUP);
	ck_assert_int_eq(no.cause, PMU_OTHER_VENDOR);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan_asked");
	TCase *tc = tcase_create("plan_asked");

	tcase_add_checked_fixture(tc, NULL, close_machine);
	tcase_add_test(tc, codes_make_a_plan_for_an_unknown_processor);
	tcase_add_test(tc, half_of_the_codes_is_not_enough_there);
	tcase_add_test(tc, a_known_processor_has_the_other_half_itself);
	tcase_add_test(tc, codes_are_for_pebs_alone);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
