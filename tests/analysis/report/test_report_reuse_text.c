/* SPDX-License-Identifier: MIT */
/*
 * test_report_reuse_text - the text about reuses made by hand
 */
#include <math.h>

#include "reuse_fixture.h"
#include "src/engine/reuse_histogram.h"
#include "tests/run_suite.h"

/*
 * A use without a reuse counts at its own site, which misses nothing by that.
 */
START_TEST(uses_without_reuse_stand_apart_from_misses)
{
	json_t *report, *s, *ends;
	struct verb v;
	int seen = 0;
	size_t i;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 3, 0, 100);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, UINT64_C(1) << 40, 3,
	     20);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_DANGLING, 3, 0, 60);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_INVALIDATED, 3, 0, 20);
	report = end();
	json_array_foreach(at(report, "reuse_sites"), i, s)
	{
		json_t *caches = at(s, "caches");

		ends = at(s, "ends");
		if (!strcmp(text_at(s, "offset"), "0x0")) {
			seen++;
			ck_assert_uint_eq(json_array_size(caches), 0);
			ck_assert_uint_eq(json_array_size(ends), 1);
			ck_assert_double_eq(real_at(ends, "0.never"),
					    60 * PERIOD);
			ck_assert_double_eq(real_at(ends, "0.invalidated"),
					    20 * PERIOD);
			ck_assert_str_eq(text_at(ends, "0.scope"), "private");
		} else {
			ck_assert_uint_eq(json_array_size(ends), 0);
		}
		if (!strcmp(text_at(s, "offset"), "0x1") &&
		    json_array_size(caches))
			ck_assert_double_lt(real_at(caches, "0.miss_ratio"),
					    1e-6);
	}
	ck_assert_int_eq(seen, 1);
	json_decref(report);
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out, "Sites whose cache lines are not used again");
	ASSERT_SAYS(v.out, " 30 % 10 % fake+0x0 ");
	/* In any cache, 20 of the uses miss and 80 more have no reuse. */
	if (strstr(v.out, "Sites by reuses that miss")) {
		ASSERT_SAYS(v.out,
			    "these are some 20 of the uses followed; 80 % of");
	}
	verb_free(&v);
}
END_TEST

START_TEST(bars_have_limits_and_hold_all_uses)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 1000, 0, 30);
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 7, 1, 50);
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_INVALIDATED, 100, 0, 12);
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_DANGLING, 9, 0, 8);
	reuse_tally_release(&tally);
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	/* Wilson's limits for 50, 30, 12 and 8 of 100. */
	ASSERT_SAYS(v.out, " 4 up 50 % 40.4 to 59.6");
	ASSERT_SAYS(v.out, " 256 up 30 % 21.9 to 39.6");
	ASSERT_SAYS(v.out, "invalidated 12 % 7.0 to 19.8");
	ASSERT_SAYS(v.out, "never again 8.0 % 4.1 to 15.0");
	ASSERT_SAYS(v.out, "reuses: RAW 100 %");
	ASSERT_SAYS(v.out, "Half of the reuses come within 7 accesses.");
	ck_assert_ptr_null(strstr(v.out, "estimated"));
	verb_free(&v);
}
END_TEST

/* From the source clock, whatever granularity the file claims. */
START_TEST(nanoseconds_are_no_accesses)
{
	json_t *report, *s, *bin;
	struct cdp_header *h;
	struct verb v;
	char path[300];

	begin(CDP_MODE_REUSE);
	h = fake.store.header;
	strcpy(h->source, "clock");
	strcpy(h->period_unit, "ns");
	fake_thread(&fake, "main")->reuse_resolution = 1800;
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 300, 0, 20);
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 30000, 2, 70);
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_DANGLING, 9, 0, 10);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 30000, 0, 60);
	report = end();
	s = stream(report, "private", "address", -1);
	ck_assert_str_eq(text_at(s, "unit"), "ns");
	ck_assert_str_eq(text_at(s, "weight_unit"), "samples");
	ck_assert(json_is_true(at(s, "estimated")));
	ck_assert_int_eq(int_at(s, "resolution"), 1800);
	/* A period in ns is not a number of accesses. */
	ck_assert_double_eq(real_at(s, "weight"), 100);
	bin = at(s, "bins.1");
	ck_assert_double_eq(real_at(bin, "mean"), 30000);
	ck_assert_double_eq(real_at(s, "pairs.0.mean"), 30000);
	s = stream(report, "private", "line", -1);
	ck_assert_str_eq(text_at(s, "unit"), "ns");
	ck_assert_ptr_null(json_object_get(s, "miss_ratio_curve"));
	ck_assert_ptr_null(json_object_get(s, "stack_distance"));
	ck_assert_ptr_null(json_object_get(s, "caches"));
	json_decref(report);
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out, "Reuse of addresses within each thread, estimated");
	ASSERT_SAYS(v.out, "an estimated 90 % reused");
	ASSERT_SAYS(v.out, "below 4.1 us 20 % 13.3 to 28.9");
	ASSERT_SAYS(v.out, "16 us up 70 %");
	ASSERT_SAYS(v.out, "of CPU time.");
	ck_assert_ptr_null(strstr(v.out, "miss ratio at"));
	ck_assert_ptr_null(strstr(v.out, "Expected to miss"));
	verb_free(&v);
	snprintf(path, sizeof(path), "%s/earlier", sandbox);
	v = VERB(cmd_report, "report", "--svg", "curve.svg", "-o", path,
		 fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "there are no miss ratio curves to draw");
	ASSERT_SAYS(v.err, "not by the clock");
	ck_assert_int_ne(access(path, F_OK), 0);
	verb_free(&v);
}
END_TEST

/* Two programs of one run, with and without hooks. */
START_TEST(times_and_accesses_are_never_added_up)
{
	struct cdp_header *h;
	json_t *report, *s;
	size_t i;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "counts");
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 300, 0, 20);
	reuse_tally_release(&tally);
	h = fake_next(&fake, 4243);
	h->modes = CDP_MODE_REUSE;
	memset(&tally, 0, sizeof(tally));
	tally.writer.section = CDP_REUSE;
	fake_thread(&fake, "times");
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 300, 0, 7);
	report = end();
	ck_assert_uint_eq(json_array_size(at(report, "reuse")), 2);
	json_array_foreach(at(report, "reuse"), i, s)
	{
		bool ns = !strcmp(text_at(s, "unit"), "ns");

		ck_assert_int_eq(ns, i == 1);
		ck_assert_double_eq(real_at(s, "weight"), ns ? 7 : 20 * PERIOD);
	}
	json_decref(report);
}
END_TEST

/*
 * Hundreds of short pairs hide the few that miss, and one kind hides the
 * others.
 */
static void pairs_by_hand(void)
{
	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses_as(REUSE_RAR, REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 4, 0,
		500);
	uses_as(REUSE_RAW, REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED,
		UINT64_C(1) << 40, 1, 60);
	uses_as(REUSE_WAW, REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED,
		UINT64_C(1) << 40, 2, 40);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_DANGLING, 9, 3, 50);
	reuse_tally_release(&tally);
	fake_end(&fake);
}

START_TEST(pairs_come_by_what_they_miss)
{
	json_t *report, *misses;
	struct verb v;

	setenv("HWLOC_SYNTHETIC", "l2:1(size=1048576) core:1 pu:1", 1);
	pairs_by_hand();
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out, "Pairs of use and reuse of cache lines, by misses "
			   "in L2");
	ck_assert_ptr_null(strstr(v.out, "more"));
	ASSERT_SAYS(v.out, "60 % 9.2 % 1,099,511,627,776 RAW fake+0x2 fake+0x3 "
			   "40 % 6.2 % 1,099,511,627,776 WAW fake+0x4 fake+0x5 "
			   "mean: accesses");
	verb_free(&v);
	report = report_of(fake.dir);
	v = VERB(cmd_report, "report", "-n", "1", fake.dir);
	ASSERT_SAYS(v.out, "fake+0x3 ... and 1 more these are some 100 of the");
	ASSERT_SAYS(v.out, "fake+0x2 fake+0x3 ... and 1 more mean: accesses");
	verb_free(&v);
	misses = at(stream(report, "private", "line", -1), "pairs.1.misses");
	ck_assert_double_eq_tol(real_at(misses, "L2"), 60 * PERIOD, 1e-3);
	json_decref(report);
}
END_TEST

START_TEST(a_kind_hides_the_others)
{
	json_t *report;
	struct verb v;

	setenv("HWLOC_SYNTHETIC", "l2:1(size=1048576) core:1 pu:1", 1);
	pairs_by_hand();
	v = VERB(cmd_report, "report", "--kind", "waw", fake.dir);
	ASSERT_SAYS(v.out, "Sites by reuses (WAW) that miss in L2");
	ASSERT_SAYS(v.out, "100 % 100.0 % fake+0x5 these are some 40 of the "
			   "uses followed. Pairs of use and reuse of cache "
			   "lines (WAW), by misses in L2");
	ASSERT_SAYS(v.out, " 100 % 6.2 % 1,099,511,627,776 WAW fake+0x4 "
			   "fake+0x5 mean");
	ck_assert_ptr_null(strstr(v.out, "not used again"));
	verb_free(&v);
	v = VERB(cmd_report, "report", "--json", "-k", "RAR,WAW", fake.dir);
	report = json_loads(v.out, 0, NULL);
	ck_assert_uint_eq(
		json_array_size(
			at(stream(report, "private", "line", -1), "pairs")),
		2);
	json_decref(report);
	verb_free(&v);
}
END_TEST

START_TEST(only_kinds_that_there_are_can_be_asked_for)
{
	static const char *const wrong[] = { "",     "RAW,",      ",RAW",
					     "read", "RAW,RAW,X", "RA" };
	struct verb v;

	pairs_by_hand();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		v = VERB(cmd_report, "report", "-k", wrong[i], fake.dir);
		ck_assert_int_eq(v.status, 1);
		ASSERT_SAYS(v.err, "some of RAR, RAW, WAR and WAW");
		verb_free(&v);
	}
	begin(CDP_MODE_COMM);
	fake_thread(&fake, "main");
	fake_end(&fake);
	v = VERB(cmd_report, "report", "-k", "RAW", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "there is none; record with -m reuse");
	verb_free(&v);
}
END_TEST

START_TEST(text_and_picture_show_the_curve)
{
	struct verb v;
	char svg[300];
	char *picture;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "sweep");
	fake_thread(&fake, "stay");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 1000, 0, 500);
	uses(REUSE_PRIVATE, REUSE_LINE, 1, REUSE_REUSED, 4, 1, 500);
	reuse_tally_release(&tally);
	fake_end(&fake);
	snprintf(svg, sizeof(svg), "%s/curve.svg", sandbox);
	v = VERB(cmd_report, "report", "--svg", svg, fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "Reuse of cache lines within each thread");
	ASSERT_SAYS(v.out, "1,000 uses followed");
	/* Sharing was not measured, so nothing is said about it. */
	ck_assert_ptr_null(strstr(v.out, "haring between"));
	ASSERT_SAYS(v.out,
		    "1,000 uses were followed to their reuse within each "
		    "thread.");
	ASSERT_SAYS(v.out, "miss ratio at each size of an LRU cache");
	verb_free(&v);
	picture = verb_read("curve.svg");
	ck_assert(strstr(picture, "<svg ") && strstr(picture, "</svg>") &&
		  strstr(picture, "within each thread"));
	free(picture);
}
END_TEST

START_TEST(a_picture_that_cannot_be_leaves_an_earlier_report)
{
	char path[300], svg[300], *kept;
	struct verb v;
	FILE *f;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 1000, 0, 500);
	reuse_tally_release(&tally);
	fake_end(&fake);
	snprintf(path, sizeof(path), "%s/report", sandbox);
	snprintf(svg, sizeof(svg), "%s/nowhere/curve.svg", sandbox);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs("an earlier one", f);
	fclose(f);
	v = VERB(cmd_report, "report", "--svg", svg, "-o", path, fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "nowhere/curve.svg: No such file");
	verb_free(&v);
	kept = verb_read("report");
	ck_assert_str_eq(kept, "an earlier one");
	free(kept);
	/* A report that can be written replaces it. */
	v = VERB(cmd_report, "report", "-o", path, fake.dir);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
	kept = verb_read("report");
	ck_assert_ptr_null(strstr(kept, "an earlier one"));
	ASSERT_SAYS(kept, "500 uses followed");
	free(kept);
}
END_TEST

/* Sampled and counted, in two scopes: four curves with different names. */
START_TEST(curves_of_a_picture_have_different_names)
{
	static const char *const names[] = {
		">within each thread, from samples<",
		">within each thread, every access counted<",
		">among all threads under a cache, from samples<",
		">among all threads under a cache, every access counted<",
	};
	struct cdp_reuse r = {
		.granularity = REUSE_LINE,
		.outcome = REUSE_REUSED,
		.bin = reuse_bin_of(1000),
		.weight = 100,
		.squares = 100,
		.count = 100,
	};
	char path[300], *picture;
	struct verb v;

	begin(CDP_MODE_REUSE | CDP_MODE_GLOBAL);
	fake_thread(&fake, "one");
	fake_thread(&fake, "other");
	for (int i = 0; i < 8; i++) {
		r.thread = i % 2;
		r.scope = i / 2 % 2 ? REUSE_GLOBAL : REUSE_PRIVATE;
		r.kind = i / 4 ? CDP_REUSE_EXACT : CDP_REUSE_STACK;
		ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
		uses(r.scope, REUSE_LINE, r.thread, REUSE_REUSED, 1000, 0, 40);
	}
	snprintf(path, sizeof(path), "%s/curve.svg", sandbox);
	reuse_tally_release(&tally);
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--svg", path, fake.dir);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
	picture = verb_read("curve.svg");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_int_eq(times_in(picture, names[i]), 1);
	ck_assert_int_eq(times_in(picture, "stroke-width=\"2\" d="), 4);
	free(picture);
}
END_TEST

/* In each scope, every thread has a row or is counted among those left out. */
START_TEST(threads_have_a_row_in_each_scope)
{
	struct verb v;

	setenv("HWLOC_SYNTHETIC",
	       "l3:1(size=33554432) l2:2(size=1048576) core:1 pu:1", 1);
	begin(CDP_MODE_REUSE | CDP_MODE_GLOBAL);
	fake_thread(&fake, "sweep");
	fake_thread(&fake, "stay");
	fake_thread(&fake, "short");
	for (uint32_t t = 0; t < 3; t++) {
		uint64_t time = t ? 4 : UINT64_C(1) << 40;
		int n = t < 2 ? 100 : 29;

		uses(REUSE_PRIVATE, REUSE_LINE, t, REUSE_REUSED, time, 0, n);
		uses(REUSE_GLOBAL, REUSE_LINE, t, REUSE_REUSED, time, 0, n);
	}
	reuse_tally_release(&tally);
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out,
		    "Miss ratios of the threads, with 95 % intervals "
		    "0 sweep L2 100.0 % 96.3 to 100.0 "
		    "1 stay L2 0.0 % 0.0 to 3.7 "
		    "1 with fewer than 30 uses left out "
		    "Miss ratios of the threads in caches that they share, "
		    "with 95 % intervals 0 sweep L3 100.0 % 96.3 to 100.0 "
		    "1 stay L3 0.0 % 0.0 to 3.7 "
		    "1 with fewer than 30 uses left out");
	verb_free(&v);
}
END_TEST

START_TEST(no_picture_of_nothing)
{
	struct verb v;

	begin(CDP_MODE_COMM);
	fake_thread(&fake, "main");
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--svg", "curve.svg", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "there are no miss ratio curves to draw");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_reuse_text");
	TCase *t = tcase_create("report_reuse_text");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, uses_without_reuse_stand_apart_from_misses);
	tcase_add_test(t, bars_have_limits_and_hold_all_uses);
	tcase_add_test(t, nanoseconds_are_no_accesses);
	tcase_add_test(t, times_and_accesses_are_never_added_up);
	tcase_add_test(t, pairs_come_by_what_they_miss);
	tcase_add_test(t, a_kind_hides_the_others);
	tcase_add_test(t, only_kinds_that_there_are_can_be_asked_for);
	tcase_add_test(t, text_and_picture_show_the_curve);
	tcase_add_test(t, curves_of_a_picture_have_different_names);
	tcase_add_test(t, threads_have_a_row_in_each_scope);
	tcase_add_test(t, no_picture_of_nothing);
	tcase_add_test(t, a_picture_that_cannot_be_leaves_an_earlier_report);
	suite_add_tcase(s, t);
	return run_suite(s);
}
