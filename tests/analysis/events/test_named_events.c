/* SPDX-License-Identifier: MIT */
/*
 * test_named_events - names of events, on a Skylake server as libpfm4 knows it
 *
 * LIBPFM_FORCE_PMU makes libpfm4 believe in that processor. Our table of events
 * is the oracle for the codes.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/named_events.h"
#include "src/pmu/events.h"
#include "tests/run_suite.h"

static struct pmu_asked asked;
static char why[256];

static int ask(const char *name)
{
	return named_event_find(name, &asked, why, sizeof(why));
}

static void clear(void)
{
	memset(&asked, 0, sizeof(asked));
	why[0] = 0;
}

START_TEST(names_have_the_codes_of_our_table)
{
	const struct pmu_core_events *e = pmu_core_events(PMU_CORE_SKYLAKE);

	ck_assert_int_eq(ask(e->loads.name), 0);
	ck_assert_int_eq(ask(e->stores.name), 0);
	ck_assert_uint_eq(asked.event[PMU_ASKED_LOADS].config, e->loads.config);
	ck_assert_uint_eq(asked.event[PMU_ASKED_STORES].config,
			  e->stores.config);
	ck_assert_str_eq(asked.event[PMU_ASKED_LOADS].name, e->loads.name);
	ck_assert(pmu_asked_counts_all(&asked.event[PMU_ASKED_LOADS]));
}
END_TEST

START_TEST(names_may_be_small_and_have_colons_and_a_threshold)
{
	ck_assert_int_eq(ask("mem_load_retired:l3_miss"), 0);
	ck_assert_uint_eq(asked.event[PMU_ASKED_LOADS].config, 0x20d1);
	ck_assert(!pmu_asked_counts_all(&asked.event[PMU_ASKED_LOADS]));
	clear();
	ck_assert_int_eq(ask("MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=30"), 0);
	ck_assert_uint_eq(asked.event[PMU_ASKED_LOADS].config, 0x1cd);
	ck_assert_uint_eq(asked.event[PMU_ASKED_LOADS].config1, 30);
}
END_TEST

START_TEST(what_cannot_be_sampled_is_refused_with_a_reason)
{
	static const char *const all[][2] = {
		{ "NO_SUCH_LOADS", "event not found" },
		{ "LD_BLOCKS.STORE_FORWARD", "no such precise event" },
		{ "INST_RETIRED.ANY", "loads or stores" },
	};

	ck_assert_int_ne(ask(all[_i][0]), 0);
	ck_assert_msg(strstr(why, all[_i][1]) != NULL, "%s", why);
	ck_assert(strstr(why, "reusetrack list events") != NULL);
	ck_assert(!pmu_asked_any(&asked));
}
END_TEST

START_TEST(two_events_of_one_kind_are_refused)
{
	ck_assert_int_eq(ask("MEM_INST_RETIRED.ALL_LOADS"), 0);
	ck_assert_int_ne(ask("MEM_LOAD_RETIRED.L3_MISS"), 0);
	ck_assert(strstr(why, "one event of loads") != NULL);
}
END_TEST

START_TEST(all_loads_and_stores_of_the_processor_are_found)
{
	ck_assert(named_events_all(&asked));
	ck_assert_uint_eq(asked.event[PMU_ASKED_LOADS].config, 0x81d0);
	ck_assert_uint_eq(asked.event[PMU_ASKED_STORES].config, 0x82d0);
}
END_TEST

static int seen, found;

static void see(void *ctx, const char *name, const char *what)
{
	seen++;
	found += !strcmp(name, "MEM_INST_RETIRED.ALL_STORES");
	ck_assert_str_ne(what, "");
	clear();
	ck_assert_msg(!ask(name), "%s: %s", name, why);
}

START_TEST(each_event_of_the_list_can_be_asked_for)
{
	ck_assert_int_eq(named_events_each(see, NULL, why, sizeof(why)), 0);
	ck_assert_int_eq(found, 1);
	ck_assert_int_gt(seen, 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("named_events");
	TCase *tc = tcase_create("named_events");

	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	tcase_add_checked_fixture(tc, clear, NULL);
	tcase_add_test(tc, names_have_the_codes_of_our_table);
	tcase_add_test(tc, names_may_be_small_and_have_colons_and_a_threshold);
	tcase_add_loop_test(tc, what_cannot_be_sampled_is_refused_with_a_reason,
			    0, 3);
	tcase_add_test(tc, two_events_of_one_kind_are_refused);
	tcase_add_test(tc, all_loads_and_stores_of_the_processor_are_found);
	tcase_add_test(tc, each_event_of_the_list_can_be_asked_for);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
