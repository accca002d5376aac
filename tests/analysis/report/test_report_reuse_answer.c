/* SPDX-License-Identifier: MIT */
/*
 * test_report_reuse_answer - what the report says first about reuse
 *
 * The caches are known: hwloc makes the machine from a description.
 */
#include <hwloc.h>
#include <math.h>

#include "reuse_fixture.h"
#include "src/engine/reuse_histogram.h"
#include "tests/run_suite.h"

enum {
	LINE_COLUMNS = 80,
	SOON = 4,
	SWEEP = 1000, /* lines: more than the L1d, fewer than the L2 */
};

#define LATE (UINT64_C(1) << 40)

/* Two cores with caches of 48 KiB, 1 MiB and, shared, 32 MiB. */
static void known_machine(void)
{
	sandbox_setup();
	ck_assert_int_eq(setenv("HWLOC_SYNTHETIC",
				"pack:1 l3:1(size=33554432) l2:2(size=1048576) "
				"l1d:1(size=49152) core:1 pu:1",
				1),
			 0);
}

static struct verb said(void)
{
	struct verb v;

	reuse_tally_release(&tally);
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	return v;
}

static void put(enum cdp_reuse_kind kind, enum reuse_outcome outcome,
		uint64_t value, double weight)
{
	struct cdp_reuse r = {
		.kind = kind,
		.granularity = REUSE_LINE,
		.outcome = outcome,
		.bin = reuse_bin_of(value),
		.weight = weight,
		.squares = weight,
		.count = (uint64_t)weight,
	};

	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
}

START_TEST(few_uses_are_a_weak_answer_and_say_nothing_of_misses)
{
	static const char *const want[] = {
		"1 use was followed to its reuse within each thread: few, a "
		"weak answer.",
		"29 uses were followed to their reuse within each thread: few, "
		"a weak answer.",
	};
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SWEEP, 0, _i ? 29 : 1);
	v = said();
	ASSERT_SAYS(v.out, want[_i]);
	ASSERT_SAYS(v.out, "or sample more often: record -p below 100.");
	ck_assert_ptr_null(strstr(v.out, "Expected to miss"));
	ASSERT_SAYS(v.out, _i ? "29 uses followed" : "1 use followed");
	verb_free(&v);
}
END_TEST

START_TEST(thirty_uses_are_an_answer)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SWEEP, 0, 30);
	v = said();
	ck_assert_ptr_null(strstr(v.out, "weak"));
	ASSERT_SAYS(v.out, "Expected to miss in this machine: 100 % in L1d, 0 "
			   "% in L2 and 0 % in L3.");
	verb_free(&v);
}
END_TEST

START_TEST(a_full_disk_is_said_first_and_nothing_of_misses)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake.store.header->loss[LOSS_STORE_FULL] = 3004;
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SWEEP, 0, 500);
	v = said();
	ASSERT_SAYS(v.out, "within each thread. No room was left for 3,004 "
			   "results");
	ck_assert_ptr_null(strstr(v.out, "Expected to miss"));
	verb_free(&v);
}
END_TEST

/* Wilson's limits for 2 of 1010; one access in 100 was a use. */
START_TEST(ratios_below_one_per_cent_have_two_digits)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SOON, 0, 998);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_DANGLING, SOON, 0, 2);
	v = said();
	ASSERT_SAYS(v.out, "L3 32 MiB shared 0.20 % 0.06 to 0.72");
	verb_free(&v);
}
END_TEST

/* The run measured both. */
START_TEST(sharing_and_reuse_have_an_answer_each)
{
	struct verb v;

	begin(CDP_MODE_COMM | CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SWEEP, 0, 100);
	v = said();
	ck_assert_ptr_nonnull(strstr(v.out, "haring between threads"));
	ck_assert(strstr(v.out, "haring between threads") <
		  strstr(v.out, "100 uses were followed"));
	ASSERT_SAYS(v.out, "Expected to miss in this machine: 100 % in L1d");
	verb_free(&v);
}
END_TEST

/*
 * Private caches follow from each thread's own accesses, the shared one from
 * all.
 */
START_TEST(all_threads_together_say_what_the_shared_cache_misses)
{
	struct verb v;

	begin(CDP_MODE_REUSE | CDP_MODE_GLOBAL);
	fake_thread(&fake, "one");
	fake_thread(&fake, "other");
	for (uint32_t t = 0; t < 2; t++) {
		uses(REUSE_PRIVATE, REUSE_LINE, t, REUSE_REUSED, SOON, 0, 50);
		uses(REUSE_GLOBAL, REUSE_LINE, t, REUSE_REUSED, LATE, 0, 50);
	}
	v = said();
	ASSERT_SAYS(v.out, "Expected to miss in this machine: 0 % in L1d, 0 % "
			   "in L2 and 100 % in L3.");
	verb_free(&v);
}
END_TEST

/*
 * None of 200 samples had a long reuse time, but a tenth of all accesses had.
 */
START_TEST(what_was_counted_is_the_answer)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SOON, 0, 200);
	put(CDP_REUSE_EXACT, REUSE_REUSED, SOON, 9000);
	put(CDP_REUSE_EXACT, REUSE_REUSED, LATE, 1000);
	v = said();
	ASSERT_SAYS(v.out, "Each of 10,000 accesses was followed to its reuse "
			   "within each thread.");
	ASSERT_SAYS(v.out, "Expected to miss in this machine: 10 % in L1d, 10 "
			   "% in L2 and 10 % in L3.");
	verb_free(&v);
}
END_TEST

/* Exact counts have no interval, and no heading for one. */
START_TEST(only_samples_have_intervals)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	put(CDP_REUSE_EXACT, REUSE_REUSED, SWEEP, 9000);
	v = said();
	ck_assert_ptr_null(strstr(v.out, "95 % interval"));
	verb_free(&v);
}
END_TEST

/* A table of misses leaves out sites that miss in none of its caches. */
START_TEST(sites_are_ranked_by_a_cache_that_they_miss_in)
{
	static const struct {
		uint64_t time;
		const char *cache;
	} want[] = {
		{ 3 * SWEEP, "Sites by reuses that miss in L1d" },
		{ 50 * SWEEP, "Sites by reuses that miss in L2" },
		{ LATE, "Sites by reuses that miss in L3" },
	};
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, want[_i].time, 0, 100);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SOON, 2, 100);
	v = said();
	ASSERT_SAYS(v.out, want[_i].cache);
	ASSERT_SAYS(v.out, _i < 2 ? "0.0 % fake+0x1 " : "100.0 % fake+0x1 ");
	ASSERT_SAYS(v.out, "these are some 100 of the uses followed.");
	verb_free(&v);
}
END_TEST

START_TEST(sites_that_miss_nothing_have_no_table)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SOON, 0, 1000);
	v = said();
	ck_assert_ptr_null(strstr(v.out, "Sites by"));
	verb_free(&v);
}
END_TEST

/*
 * The machine above with ways, which hwloc reads only from its longer form of
 * description.
 */
static void give_ways(void)
{
	static const char key[] = "cache_associativity=\"";
	const char *next;
	char *xml, path[300];
	hwloc_topology_t t;
	FILE *f;
	int n;

	ck_assert_int_eq(hwloc_topology_init(&t), 0);
	ck_assert_int_eq(hwloc_topology_load(t), 0);
	ck_assert_int_eq(hwloc_topology_export_xmlbuffer(t, &xml, &n, 0), 0);
	snprintf(path, sizeof(path), "%s/machine.xml", sandbox);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	for (const char *at = xml; *at; at = next) {
		next = strstr(at, key);
		next = next ? next + strlen(key) : at + strlen(at);
		fwrite(at, 1, (size_t)(next - at), f);
		if (*next)
			fputs("16", f);
		next += strcspn(next, "\"");
	}
	ck_assert_int_eq(fclose(f), 0);
	hwloc_free_xmlbuffer(t, xml);
	hwloc_topology_destroy(t);
	unsetenv("HWLOC_SYNTHETIC");
	setenv("HWLOC_XMLFILE", path, 1);
}

/* The note appears once, however many tables there are. */
START_TEST(ratios_say_what_they_leave_out)
{
	struct verb v;

	if (_i)
		give_ways();
	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "one");
	fake_thread(&fake, "other");
	for (uint32_t t = 0; t < 2; t++)
		uses(REUSE_PRIVATE, REUSE_LINE, t, REUSE_REUSED, SWEEP, 0, 50);
	put(CDP_REUSE_EXACT, REUSE_REUSED, SWEEP, 5000);
	v = said();
	ck_assert_int_eq(times_in(v.out, "to fall into sets at random"), _i);
	ck_assert_int_eq(times_in(v.out, "   fully associative"), 2 * _i);
	ck_assert_int_eq(times_in(v.out, "QEMU splits a 16-byte access"), 1);
	ck_assert_int_eq(times_in(v.out, "record with -m reuse,global"), 1);
	verb_free(&v);
}
END_TEST

/* Under QEMU there are no debug registers, and reuses need none. */
START_TEST(registers_are_named_where_there_are_some)
{
	static const struct {
		uint32_t modes;
		const char *source, *says;
	} want[] = {
		{ CDP_MODE_REUSE, "emu", "watchpoints in software, every" },
		{ CDP_MODE_REUSE | CDP_MODE_COMM, "emu",
		  "registers 4 debug registers in use, simulated" },
		{ CDP_MODE_REUSE, "clock",
		  "registers 4 debug registers in use time" },
	};
	struct cdp_header *h;
	struct verb v;

	begin(want[_i].modes);
	h = fake.store.header;
	strcpy(h->source, want[_i].source);
	h->registers = 4;
	fake_thread(&fake, "main");
	v = said();
	ASSERT_SAYS(v.out, want[_i].says);
	ck_assert_int_eq(times_in(v.out, "debug register"), _i > 0);
	verb_free(&v);
}
END_TEST

/* P(at least @ways of @lines fall into one of @sets). */
static double crowded(int lines, double sets, int ways)
{
	double none = 0;

	for (int k = 0; k < ways; k++)
		none += exp(lgamma(lines + 1) - lgamma(k + 1) -
			    lgamma(lines - k + 1) - k * log(sets) +
			    (lines - k) * log1p(-1 / sets));
	return 1 - none;
}

/* 768 lines hold the 699 in between, but 48 sets of 16 do not always. */
START_TEST(a_cache_is_told_with_its_sets_and_without)
{
	json_t *report, *l1d;

	give_ways();
	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 700, 0, 500);
	report = end();
	l1d = at(stream(report, "private", "line", -1), "caches.0");
	ck_assert_double_eq(real_at(l1d, "fully_associative"), 0);
	ck_assert_double_eq_tol(real_at(l1d, "miss_ratio"),
				crowded(699, 48, 16), 0.005);
	json_decref(report);
}
END_TEST

/* Thread 0 stays, thread 1 sweeps, thread 2 does nothing. */
START_TEST(a_thread_that_is_asked_for_is_spoken_of_alone)
{
	static const char *const want[] = {
		"40 uses were followed to their reuse within thread 0. "
		"Expected to miss in this machine: 0 % in L1d and 0 % in L2.",
		"60 uses were followed to their reuse within thread 1. "
		"Expected to miss in this machine: 100 % in L1d and 0 % in "
		"L2.",
		"No use by thread 2 was followed.",
	};
	static const char *const ids[] = { "0", "1", "2" };
	json_t *report, *s;
	struct verb v;
	size_t i;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "stay");
	fake_thread(&fake, "sweep");
	fake_thread(&fake, "idle");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, SOON, 0, 40);
	uses(REUSE_PRIVATE, REUSE_LINE, 1, REUSE_REUSED, SWEEP, 2, 60);
	reuse_tally_release(&tally);
	fake_end(&fake);
	v = VERB(cmd_report, "report", "-t", ids[_i], fake.dir);
	ASSERT_SAYS(v.out, want[_i]);
	ck_assert_int_eq(times_in(v.out, "fake+0x5") > 0, _i == 1);
	ck_assert_int_eq(times_in(v.out, "Reuse of cache lines"), _i < 2);
	verb_free(&v);
	v = VERB(cmd_report, "report", "--json", "-t", ids[_i], fake.dir);
	report = json_loads(v.out, 0, NULL);
	ck_assert_ptr_nonnull(report);
	json_array_foreach(at(report, "reuse"), i, s)
	{
		json_t *of = json_object_get(s, "thread");
		json_t *pairs = json_object_get(s, "pairs");

		ck_assert_int_eq(!!pairs, of && json_integer_value(of) == _i);
		if (pairs)
			ck_assert_uint_eq(json_array_size(pairs), 1);
	}
	json_decref(report);
	verb_free(&v);
}
END_TEST

/* With one thread, the numbers over all threads are its own. */
START_TEST(a_thread_alone_is_all)
{
	struct verb v;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "idle");
	fake_thread(&fake, "busy");
	uses(REUSE_PRIVATE, REUSE_LINE, 1, REUSE_REUSED, SOON, 0, 40);
	reuse_tally_release(&tally);
	fake_end(&fake);
	v = VERB(cmd_report, "report", "-t", "1", fake.dir);
	ASSERT_SAYS(v.out, "followed to their reuse within thread 1.");
	verb_free(&v);
	v = VERB(cmd_report, "report", "-t", "0", fake.dir);
	ASSERT_SAYS(v.out, "No use by thread 0 was followed.");
	verb_free(&v);
}
END_TEST

static void check_layout(const char *text)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		ck_assert_msg(n <= LINE_COLUMNS, "%zu columns: %.*s", n, (int)n,
			      line);
		ck_assert_msg(!n || line[n - 1] != ' ', "ends blank: %.*s",
			      (int)n, line);
		line += n + (line[n] == '\n');
	}
}

/* The longest names and numbers that the layout allows. */
START_TEST(no_line_is_wider_than_a_terminal)
{
	static const enum reuse_scope scope[] = { REUSE_PRIVATE, REUSE_SHARED,
						  REUSE_GLOBAL };
	struct verb v;

	give_ways();
	begin(CDP_MODE_REUSE | CDP_MODE_SHARED | CDP_MODE_GLOBAL);
	fake_thread(&fake, "one");
	fake_thread(&fake, "other");
	for (uint32_t t = 0; t < 2; t++)
		for (int i = 0; i < 3; i++)
			for (int g = 0; g < REUSE_GRANULARITIES; g++) {
				uses(scope[i], g, t, REUSE_REUSED, SWEEP, 0,
				     500);
				uses(scope[i], g, t, REUSE_REUSED, LATE, 1,
				     500);
				uses(scope[i], g, t, REUSE_INVALIDATED, SOON, 2,
				     480);
				uses(scope[i], g, t, REUSE_DANGLING, SOON, 4,
				     1);
				uses(scope[i], g, t, REUSE_SAME_CORE, SOON, 5,
				     50);
			}
	put(CDP_REUSE_EXACT, REUSE_REUSED, SWEEP, 5e9);
	put(CDP_REUSE_EXACT, REUSE_INVALIDATED, SWEEP, 5e9);
	put(CDP_REUSE_EXACT, REUSE_DANGLING, SWEEP, 1);
	v = said();
	ASSERT_SAYS(v.out, "invalidated by another's store,");
	check_layout(v.out);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_reuse_answer");
	TCase *t = tcase_create("report_reuse_answer");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, known_machine, sandbox_teardown);
	tcase_add_loop_test(
		t, few_uses_are_a_weak_answer_and_say_nothing_of_misses, 0, 2);
	tcase_add_test(t, a_full_disk_is_said_first_and_nothing_of_misses);
	tcase_add_test(t, ratios_below_one_per_cent_have_two_digits);
	tcase_add_test(t, sharing_and_reuse_have_an_answer_each);
	tcase_add_test(t, thirty_uses_are_an_answer);
	tcase_add_test(t,
		       all_threads_together_say_what_the_shared_cache_misses);
	tcase_add_test(t, what_was_counted_is_the_answer);
	tcase_add_test(t, only_samples_have_intervals);
	tcase_add_loop_test(t, sites_are_ranked_by_a_cache_that_they_miss_in, 0,
			    3);
	tcase_add_test(t, sites_that_miss_nothing_have_no_table);
	tcase_add_loop_test(t, ratios_say_what_they_leave_out, 0, 2);
	tcase_add_loop_test(t, registers_are_named_where_there_are_some, 0, 3);
	tcase_add_test(t, a_cache_is_told_with_its_sets_and_without);
	tcase_add_loop_test(t, a_thread_that_is_asked_for_is_spoken_of_alone, 0,
			    3);
	tcase_add_test(t, a_thread_alone_is_all);
	tcase_add_test(t, no_line_is_wider_than_a_terminal);
	suite_add_tcase(s, t);
	return run_suite(s);
}
