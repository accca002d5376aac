/* SPDX-License-Identifier: MIT */
/*
 * test_record_events - record turns names of events into codes
 *
 * libpfm4 is made to believe in a Skylake server.
 */
#include <check.h>
#include <stdlib.h>

#include "analysis/doctor/pmu_probe.h"
#include "analysis/record/events.h"
#include "tests/fake/fake_kernel.h"
#include "tests/run_suite.h"

static struct fake_kernel *k;

static void boot(enum fake_model model)
{
	k = fake_kernel_new(model);
	pmu_probe_kernel = &k->calls;
	unsetenv("COMDET_EVENT");
}

static void shut_down(void)
{
	fake_kernel_free(k);
}

START_TEST(names_and_codes_become_codes)
{
	boot(FAKE_SKYLAKE);
	setenv("COMDET_EVENT", "mem_load_retired.l3_miss,stores=82d0", 1);
	record_resolve_events("-e");
	ck_assert_str_eq(getenv("COMDET_EVENT"),
			 "loads=0x20d1:mem_load_retired.l3_miss,"
			 "stores=0x82d0");
	/* Once more, as a program that it starts would. */
	record_resolve_events("COMDET_EVENT");
	ck_assert_str_eq(getenv("COMDET_EVENT"),
			 "loads=0x20d1:mem_load_retired.l3_miss,"
			 "stores=0x82d0");
}
END_TEST

START_TEST(an_unknown_processor_gets_what_libpfm4_knows)
{
	char reason[300], advice[300];

	boot(FAKE_UNKNOWN_INTEL);
	ck_assert(pmu_probe(PMU_PEBS, reason, sizeof(reason), advice,
			    sizeof(advice)));
	record_events_for_unknown();
	ck_assert_str_eq(getenv("COMDET_EVENT"),
			 "loads=0x81d0:MEM_INST_RETIRED:ALL_LOADS,"
			 "stores=0x82d0:MEM_INST_RETIRED:ALL_STORES");
}
END_TEST

START_TEST(a_known_processor_and_the_users_wish_stay)
{
	boot(FAKE_SKYLAKE);
	record_events_for_unknown();
	ck_assert_ptr_null(getenv("COMDET_EVENT"));
	shut_down();
	boot(FAKE_UNKNOWN_INTEL);
	setenv("COMDET_EVENT", "loads=1,stores=2", 1);
	record_events_for_unknown();
	ck_assert_str_eq(getenv("COMDET_EVENT"), "loads=1,stores=2");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("record_events");
	TCase *tc = tcase_create("record_events");

	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	tcase_add_checked_fixture(tc, NULL, shut_down);
	tcase_add_test(tc, names_and_codes_become_codes);
	tcase_add_test(tc, an_unknown_processor_gets_what_libpfm4_knows);
	tcase_add_test(tc, a_known_processor_and_the_users_wish_stay);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
