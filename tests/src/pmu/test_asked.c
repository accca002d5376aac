/* SPDX-License-Identifier: MIT */
/*
 * test_asked - COMDET_EVENT as users and record write it
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/pmu/asked.h"
#include "tests/run_suite.h"

static struct pmu_asked asked;

START_TEST(what_is_written_is_read)
{
	static const char *const all[] = {
		"",
		"loads=0x81d0",
		"stores=0x82d0",
		"loads=0x1cd/0x1e,stores=0x82d0",
		"loads=0x81d0:MEM_INST_RETIRED:ALL_LOADS,"
		"stores=0x82d0:MEM_INST_RETIRED:ALL_STORES",
	};
	char text[PMU_ASKED_TEXT_BYTES];

	ck_assert_int_eq(pmu_asked_read(&asked, all[_i]), 0);
	pmu_asked_write(&asked, text, sizeof(text));
	ck_assert_str_eq(text, all[_i]);
	ck_assert_int_eq(pmu_asked_any(&asked), all[_i][0] != 0);
}
END_TEST

START_TEST(codes_need_no_prefix_and_may_be_in_capitals)
{
	ck_assert_int_eq(pmu_asked_read(&asked, "stores=82D0/0XA,loads=81d0"),
			 -EINVAL);
	ck_assert_int_eq(pmu_asked_read(&asked, "stores=82D0/a,loads=81d0"), 0);
	ck_assert_uint_eq(asked.event[PMU_ASKED_STORES].config, 0x82d0);
	ck_assert_uint_eq(asked.event[PMU_ASKED_STORES].config1, 10);
	ck_assert_uint_eq(asked.event[PMU_ASKED_LOADS].config, 0x81d0);
	ck_assert_str_eq(asked.event[PMU_ASKED_LOADS].name, "");
	ck_assert_int_eq(pmu_asked_read(&asked, NULL), 0);
	ck_assert(!pmu_asked_any(&asked) && !pmu_asked_any(NULL));
}
END_TEST

START_TEST(anything_else_is_refused_as_a_whole)
{
	static const char *const all[] = {
		"81d0",
		"loads=",
		"loads=0",
		"loads=xyz",
		"loads=81d0,",
		",loads=81d0",
		"loads=81d0 stores=82d0",
		"loads=81d0,loads=81d0",
		"loads=11112222333344445",
		"loads=81d0/",
		"loads=81d0:",
		"ops=c1",
		"loads=81d0:a_name_that_is_longer_than_there_is_room_for_it",
		"loads=81d0,stores=82d0,stores=82d0",
	};

	ck_assert_int_eq(pmu_asked_read(&asked, all[_i]), -EINVAL);
	ck_assert(!pmu_asked_any(&asked));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("asked");
	TCase *tc = tcase_create("asked");

	tcase_add_loop_test(tc, what_is_written_is_read, 0, 5);
	tcase_add_test(tc, codes_need_no_prefix_and_may_be_in_capitals);
	tcase_add_loop_test(tc, anything_else_is_refused_as_a_whole, 0, 14);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
