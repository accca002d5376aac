/* SPDX-License-Identifier: MIT */
/*
 * test_machine_measure - what is measured of this machine: the chains, and the
 * keys made of times
 */
#include <sched.h>
#include <stdlib.h>

#include "analysis/model/machine_chain.h"
#include "analysis/model/machine_host.h"
#include "analysis/model/machine_measure.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

START_TEST(a_chain_comes_to_each_place_once)
{
	static const uint32_t sizes[] = { 1, 2, 3, 64, 1000 };

	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		uint32_t n = sizes[k], at = 0, *next = calloc(n, sizeof(*next));

		machine_circle(next, n);
		for (uint32_t i = 1; i < n; i++) {
			at = next[at];
			ck_assert_uint_ne(at, 0);
		}
		ck_assert_uint_eq(next[at], 0);
		free(next);
	}
}
END_TEST

/*
 * 4 GHz: 0.25 ns a cycle. A load from L2 takes l1d.tag + l2.latency cycles, and
 * so on (docs/machines.md).
 */
START_TEST(times_of_whole_accesses_give_the_keys)
{
	const struct machine_times t = {
		.cycle_ns = 0.25,
		.l2_ns = 4,
		.llc_ns = 14,
		.memory_ns = 100,
		.bandwidth_gbs = 32,
		.round_trip_ns = 60,
	};
	char error[MACHINE_ERROR_BYTES];
	struct machine m;

	ck_assert_int_eq(machine_read(&m, "golden-c3", error), 0);
	m.l1d.tag = 1;
	m.l2.tag = 3;
	m.llc.tag = 10;
	m.directory = 6;
	machine_take_times(&m, &t);
	ck_assert_double_eq(m.ghz, 4);
	ck_assert_uint_eq(m.l2.latency, 16 - 1);
	ck_assert_uint_eq(m.llc.latency, 56 - 1 - 3);
	ck_assert_double_eq(m.memory_gbs, 32);
	/* Tags and directory take 20 cycles, 64 bytes 2 ns. */
	ck_assert_double_eq_tol(m.memory_ns, 100 - 5 - 2, 1e-9);
	/* One way is 120 cycles, of which the LLC takes 56. */
	ck_assert_uint_eq(m.transfer, 120 - 56);
	ck_assert_int_eq(machine_check(&m, error), 0);
}
END_TEST

/* 4 GHz: 0.25 ns a cycle. Of golden-c3 the LLC has 8 MiB, L2 256 KiB. */
START_TEST(times_give_the_part_of_the_llc_and_how_stores_and_streams_go)
{
	static const struct {
		double llc_bytes;
		uint64_t size;
	} llc[] = {
		{ 16 << 20, 8 << 20 },  { 8 << 20, 8 << 20 },
		{ 5 << 20, 5 << 20 },   { 2 << 20, 2 << 20 },
		{ 7 << 18, 7 << 18 },   { (5 << 20) - 1, 9 << 19 },
		{ 1 << 10, 256 << 10 },
	};
	char error[MACHINE_ERROR_BYTES];
	struct machine_times t = { .cycle_ns = 0.25 };
	struct machine m;

	for (size_t i = 0; i < sizeof(llc) / sizeof(*llc); i++) {
		ck_assert_int_eq(machine_read(&m, "golden-c3", error), 0);
		ck_assert_uint_eq(m.llc.size, 8 << 20);
		t.llc_bytes = llc[i].llc_bytes;
		machine_take_times(&m, &t);
		ck_assert_uint_eq(m.llc.size, llc[i].size);
		ck_assert_int_eq(machine_check(&m, error), 0);
	}
	t.rmw_ns = 1.5; /* the addition takes one of 6 cycles */
	t.rmw_double_ns = 4; /* 16 cycles: 3, 5, 2 and 6 more */
	t.memory_ns = 100;
	t.next_ns = 4;
	t.set_load_ns = 2.5;
	t.set_store_ns = 4.3;
	machine_take_times(&m, &t);
	ck_assert_uint_eq(m.after_load, 10);
	ck_assert_uint_eq(m.after_store, 17);
	ck_assert_uint_eq(m.forwarding, 5);
	ck_assert_uint_eq(m.forwarding_vector, 6);
	ck_assert_uint_eq(m.ahead, 24);
	t.rmw_ns = 0.2;
	t.next_ns = 0.1;
	machine_take_times(&m, &t);
	ck_assert_uint_eq(m.forwarding, 1);
	ck_assert_uint_eq(m.ahead, MACHINE_AHEAD_MAX);
	t.next_ns = 200;
	machine_take_times(&m, &t);
	ck_assert_uint_eq(m.ahead, 1);
}
END_TEST

START_TEST(the_median_of_what_could_be_measured_counts)
{
	static const struct machine_times rounds[] = {
		{ .cycle_ns = 3, .llc_bytes = 5, .round_trip_ns = 9 },
		{ .cycle_ns = 1, .llc_bytes = 0, .round_trip_ns = 0 },
		{ .cycle_ns = 2, .llc_bytes = 7, .round_trip_ns = 0 },
		{ .cycle_ns = 9, .llc_bytes = 0, .round_trip_ns = 0 },
		{ .cycle_ns = 8, .llc_bytes = 6, .round_trip_ns = 0 },
	};
	struct machine_times t = { .memory_ns = 4 };

	machine_middle_times(rounds, 5, &t);
	ck_assert_double_eq(t.cycle_ns, 3);
	ck_assert_double_eq(t.llc_bytes, 6);
	ck_assert_double_eq(t.round_trip_ns, 9);
	ck_assert_double_eq(t.memory_ns, 0);
}
END_TEST

/* Chains of several threads at once; the circle through 64 KiB is in caches. */
START_TEST(a_chain_of_each_core_takes_its_time)
{
	double one = machine_chain_ns(64 << 10, 20000, machine_circle, 1);
	double three = machine_chain_ns(64 << 10, 20000, machine_circle, 3);
	double far = machine_chain_ns(64 << 20, 20000, machine_circle, 1);

	ck_assert(one > 0.1 && three > 0.1);
	ck_assert_double_gt(far, 2 * one);
}
END_TEST

START_TEST(what_was_not_measured_stays)
{
	static const struct machine_times nothing, clock = { .cycle_ns = 0.5 };
	char error[MACHINE_ERROR_BYTES];
	struct machine m, before;

	ck_assert_int_eq(machine_read(&m, "golden-c3", error), 0);
	before = m;
	machine_take_times(&m, &nothing);
	ck_assert_double_eq(m.ghz, before.ghz);
	machine_take_times(&m, &clock);
	ck_assert_double_eq(m.ghz, 2);
	ck_assert_uint_eq(m.l2.latency, before.l2.latency);
	ck_assert_uint_eq(m.llc.latency, before.llc.latency);
	ck_assert_double_eq(m.memory_ns, before.memory_ns);
	ck_assert_double_eq(m.memory_gbs, before.memory_gbs);
	ck_assert_uint_eq(m.transfer, before.transfer);
	ck_assert_uint_eq(m.after_store, before.after_store);
}
END_TEST

START_TEST(times_shorter_than_the_tags_give_a_machine_that_can_be)
{
	const struct machine_times t = {
		.cycle_ns = 1,
		.l2_ns = 0.1,
		.llc_ns = 0.1,
		.memory_ns = 0.1,
		.bandwidth_gbs = 1,
		.round_trip_ns = 0.1,
	};
	char error[MACHINE_ERROR_BYTES];
	struct machine m;

	ck_assert_int_eq(machine_read(&m, "golden-c3", error), 0);
	machine_take_times(&m, &t);
	ck_assert_uint_eq(m.l2.latency, 1);
	ck_assert_uint_eq(m.llc.latency, 1);
	ck_assert_uint_eq(m.transfer, 0);
	ck_assert_int_eq(machine_check(&m, error), 0);
}
END_TEST

START_TEST(a_processor_has_the_core_of_a_similar_machine)
{
	static const struct {
		enum pmu_vendor vendor;
		uint32_t family, model;
		const char *like;
	} cases[] = {
		{ PMU_VENDOR_INTEL, 6, 0x1a, "golden-c3" },   /* Nehalem */
		{ PMU_VENDOR_INTEL, 6, 0x3c, "skylake" },     /* Haswell */
		{ PMU_VENDOR_INTEL, 6, 0x9e, "skylake" },     /* Kaby Lake */
		{ PMU_VENDOR_INTEL, 6, 0x8f, "golden-cove" }, /* SPR */
		{ PMU_VENDOR_INTEL, 6, 0xff, "golden-c3" },   /* unknown */
		{ PMU_VENDOR_AMD, 0x17, 0x31, "zen2" },       /* Rome */
		{ PMU_VENDOR_AMD, 0x19, 0x11, "zen4" },       /* Zen 4 */
		{ PMU_VENDOR_AMD, 0x1a, 2, "zen5" },          /* Zen 5 */
		{ PMU_VENDOR_AMD, 0x10, 2, "golden-c3" },     /* K10 */
		{ PMU_VENDOR_OTHER, 6, 0x1a, "golden-c3" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_str_eq(machine_like(pmu_model_find(cases[i].vendor,
							     cases[i].family,
							     cases[i].model)),
				 cases[i].like);
}
END_TEST

/* Whatever it measures, what it prints is a machine file. */
START_TEST(a_measured_machine_can_be_read)
{
	char error[MACHINE_ERROR_BYTES];
	struct machine m;
	struct verb v = VERB(cmd_machine, "machine", "--host", "--measure");

	ck_assert_int_eq(v.status, 0);
	ck_assert_int_eq(machine_parse(&m, "measured", v.out, error), 0);
	ck_assert_int_eq(machine_check(&m, error), 0);
	ck_assert(m.ghz > 0 && m.memory_gbs > 0);
	verb_free(&v);
	v = VERB(cmd_machine, "machine", "--measure", "golden-c3");
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "--measure goes with --host");
	verb_free(&v);
}
END_TEST

/* No line goes from one processor to itself. */
START_TEST(what_one_processor_cannot_measure_is_named)
{
	cpu_set_t all, one;
	struct verb v;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	v = VERB(cmd_machine, "machine", "--host", "--measure");
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.err, "could not measure a line's way between two cores; "
			   "what is printed");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("machine_measure");
	TCase *t = tcase_create("machine_measure");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, a_chain_comes_to_each_place_once);
	tcase_add_test(t, times_of_whole_accesses_give_the_keys);
	tcase_add_test(
		t,
		times_give_the_part_of_the_llc_and_how_stores_and_streams_go);
	tcase_add_test(t, the_median_of_what_could_be_measured_counts);
	tcase_add_test(t, a_chain_of_each_core_takes_its_time);
	tcase_add_test(t, what_was_not_measured_stays);
	tcase_add_test(t,
		       times_shorter_than_the_tags_give_a_machine_that_can_be);
	tcase_add_test(t, a_processor_has_the_core_of_a_similar_machine);
	tcase_add_test(t, a_measured_machine_can_be_read);
	tcase_add_test(t, what_one_processor_cannot_measure_is_named);
	suite_add_tcase(s, t);
	return run_suite(s);
}
