/* SPDX-License-Identifier: MIT */
/*
 * test_report_caches - what the report says about simulated caches
 */
#include <math.h>

#include "analysis/locality/host_caches.h"
#include "reuse_fixture.h"
#include "src/engine/reuse_histogram.h"
#include "tests/run_suite.h"

enum {
	ACCESSES = 100000,
	SETS = 128, /* a cache of 96 KiB, which no machine has */
	WAYS = 12,
};

static struct store_writer writer;

static void begin_caches(void)
{
	begin(CDP_MODE_REUSE);
	writer = (struct store_writer){ .section = CDP_REUSE };
	fake_thread(&fake, "one");
}

static void put_misses(uint32_t thread, uint32_t depth, bool of_stores,
		       uint64_t ip, uint64_t accesses, double misses)
{
	struct cdp_reuse *r = store_record(&fake.store, &writer);

	ck_assert_ptr_nonnull(r);
	*r = (struct cdp_reuse){
		.kind = CDP_REUSE_CACHE,
		.scope = depth > 1 ? REUSE_GLOBAL : REUSE_PRIVATE,
		.granularity = REUSE_LINE,
		.pairing = of_stores ? REUSE_RAW : REUSE_RAR,
		.thread = thread,
		.bin = depth,
		.use_ip = ip,
		.end_ip = cdp_cache_shape(depth > 1 ? 1024 : SETS, WAYS),
		.weight = misses,
		.count = accesses,
		.map_generation = 1,
	};
	store_commit(&writer);
}

/* Add reuses after @value accesses, or at a stack distance of @value lines. */
static void put_counted(enum cdp_reuse_kind kind, uint32_t thread,
			uint64_t value, double weight)
{
	struct cdp_reuse r = {
		.kind = kind,
		.granularity = REUSE_LINE,
		.outcome = REUSE_REUSED,
		.thread = thread,
		.bin = reuse_bin_of(value),
		.weight = weight,
		.squares = weight,
		.count = (uint64_t)weight,
	};

	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
}

static json_t *find(json_t *array, const char *key, const char *value)
{
	json_t *o;
	size_t i;

	json_array_foreach(array, i,
			   o) if (!strcmp(text_at(o, key), value)) return o;
	ck_abort_msg("nothing has %s %s", key, value);
	return NULL;
}

START_TEST(misses_add_up_by_cache_thread_and_instruction)
{
	json_t *report, *all, *l1, *sites, *c;
	double sum = 0;
	size_t i;

	begin_caches();
	fake_thread(&fake, "two");
	fake_own_maps(&fake);
	put_counted(CDP_REUSE_EXACT, 0, 1, ACCESSES);
	put_counted(CDP_REUSE_EXACT, 1, 1, ACCESSES);
	for (uint32_t t = 0; t < 2; t++) {
		put_misses(t, 1, false, 0x1000, 0, 300);
		put_misses(t, 1, false, 0, 60000, 100);
		put_misses(t, 1, true, 0x1000, 0, 40);
		put_misses(t, 1, true, 0, 40000, t ? 160 : 0);
		put_misses(t, 2, false, 0, 60000, 50);
		put_misses(t, 2, true, 0, 40000, 0);
	}
	report = end();
	all = at(report, "simulated_caches.caches");
	ck_assert_uint_eq(json_array_size(all), 2);
	l1 = find(all, "name", "L1d");
	ck_assert_int_eq(int_at(l1, "bytes"), SETS * WAYS * 64);
	ck_assert_int_eq(int_at(l1, "ways"), WAYS);
	ck_assert_int_eq(int_at(l1, "loads.accesses"), 120000);
	ck_assert_int_eq(int_at(l1, "loads.misses"), 800);
	ck_assert_int_eq(int_at(l1, "stores.misses"), 240);
	ck_assert_double_eq_tol(real_at(l1, "miss_ratio"), 1040. / 200000,
				1e-12);
	ck_assert(json_is_true(at(find(all, "name", "L2"), "shared")));
	c = json_array_get(at(report, "simulated_caches.threads"), 1);
	ck_assert_int_eq(int_at(c, "thread"), 1);
	l1 = find(at(c, "caches"), "name", "L1d");
	ck_assert_int_eq(int_at(l1, "stores.misses"), 200);
	ck_assert_int_eq(int_at(l1, "stores.accesses"), 40000);
	sites = at(report, "simulated_caches.sites");
	ck_assert_uint_eq(json_array_size(sites), 1);
	c = find(at(json_array_get(sites, 0), "caches"), "name", "L1d");
	ck_assert_int_eq(int_at(c, "loads"), 600);
	ck_assert_int_eq(int_at(c, "stores"), 80);
	/* Simulated caches stand beside the expected ratios of the streams. */
	json_array_foreach(at(report, "reuse_exact"), i, c)
	{
		json_t *cache = find(at(c, "caches"), "name", "L1d");
		json_t *thread = json_object_get(c, "thread");
		double ratio = real_at(cache, "simulated");

		if (!thread)
			ck_assert_double_eq_tol(ratio, 1040. / 200000, 1e-12);
		else
			sum += ratio / 2;
	}
	ck_assert_double_eq_tol(sum, 1040. / 200000, 1e-12);
	json_decref(report);
}
END_TEST

/* The report of one thread whose L1d misses @misses loads. */
static char *text_with(double misses)
{
	struct verb v;
	char *text;

	begin_caches();
	fake_own_maps(&fake);
	put_counted(CDP_REUSE_EXACT, 0, 1, ACCESSES);
	put_misses(0, 1, false, 0x1000, 0, misses);
	put_misses(0, 1, false, 0, ACCESSES, 0);
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	text = strdup(v.out);
	verb_free(&v);
	return text;
}

START_TEST(far_more_misses_than_expected_are_conflicts)
{
	char *text = text_with(ACCESSES / 5);

	ASSERT_SAYS(text, "Simulated with its sets, L1d misses 20 %");
	ASSERT_SAYS(text, "L1d misses 20 % where");
	ASSERT_SAYS(text, "pad each row");
	ASSERT_SAYS(text, "Source lines by simulated misses in L1d");
	ASSERT_SAYS(text, "fully associative simulated");
	ASSERT_SAYS(text, " 20.0 %");
	free(text);
}
END_TEST

START_TEST(misses_about_as_expected_are_none)
{
	char *text = text_with(ACCESSES / 250);

	ASSERT_SAYS(text, " 0.40 %");
	ck_assert_ptr_null(strstr(text, "conflict"));
	ck_assert_ptr_null(strstr(text, "pad each row"));
	ck_assert_ptr_null(strstr(text, "no instruction known"));
	free(text);
}
END_TEST

START_TEST(misses_of_no_instruction_have_a_row)
{
	struct verb v;

	begin_caches();
	fake_own_maps(&fake);
	put_counted(CDP_REUSE_EXACT, 0, 1, ACCESSES);
	put_misses(0, 1, false, 0x1000, 0, 15000);
	put_misses(0, 1, false, 0, ACCESSES, 5000);
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "75 % 15,000");
	ASSERT_SAYS(v.out, "25 % 5,000 no instruction known");
	verb_free(&v);
}
END_TEST

/* A damaged file may have more misses than accesses. */
START_TEST(more_misses_than_accesses_are_all_of_them)
{
	json_t *report;
	struct verb v;

	begin_caches();
	put_counted(CDP_REUSE_EXACT, 0, 1, ACCESSES);
	put_misses(0, 1, false, 0, 10, ACCESSES);
	report = end();
	ck_assert_double_eq(
		real_at(report, "simulated_caches.caches.0.miss_ratio"), 1);
	json_decref(report);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "100 % 100,000 no instruction known");
	verb_free(&v);
}
END_TEST

/* If they are simulated, the report does not advise to record them. */
START_TEST(shared_caches_that_are_simulated_are_not_asked_for)
{
	struct verb v;

	begin_caches();
	fake_thread(&fake, "two");
	for (uint32_t t = 0; t < 2; t++) {
		uses(REUSE_PRIVATE, REUSE_LINE, t, REUSE_REUSED, 100, 0, 50);
		put_counted(CDP_REUSE_EXACT, t, 1, ACCESSES);
		put_misses(t, 1, false, 0, ACCESSES, 300);
		put_misses(t, 2, false, 0, ACCESSES, 100);
	}
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "shared");
	ck_assert_ptr_null(strstr(v.out, "Threads share"));
	verb_free(&v);
}
END_TEST

START_TEST(caches_that_this_machine_lacks_are_not_said_to_be_its_own)
{
	char *text = text_with(1000);

	ASSERT_SAYS(text, "caches simulated");
	ASSERT_SAYS(text, "Expected to miss: ");
	ck_assert_ptr_null(strstr(text, "of this machine"));
	free(text);
}
END_TEST

/* An inner cache that cores share is simulated as private to each thread. */
START_TEST(this_machines_caches_are_its_own_whoever_shares_them)
{
	struct host_cache cache[HOST_CACHES_MAX];
	size_t n = host_caches(cache);
	struct cdp_reuse *r;
	struct verb v;

	if (!n || !cache[0].ways || cache[0].line_bytes != 64) {
		puts("this machine does not say what its first cache is");
		return;
	}
	begin_caches();
	put_counted(CDP_REUSE_EXACT, 0, 1, ACCESSES);
	r = store_record(&fake.store, &writer);
	ck_assert_ptr_nonnull(r);
	*r = (struct cdp_reuse){
		.kind = CDP_REUSE_CACHE,
		.scope = cache[0].shared ? REUSE_PRIVATE : REUSE_GLOBAL,
		.granularity = REUSE_LINE,
		.bin = 1,
		.end_ip =
			cdp_cache_shape((uint32_t)cache[0].sets, cache[0].ways),
		.weight = ACCESSES / 5,
		.count = ACCESSES,
	};
	store_commit(&writer);
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "caches of this machine");
	ASSERT_SAYS(v.out, " 20.0 %");
	ck_assert_ptr_null(strstr(v.out, "caches simulated"));
	verb_free(&v);
}
END_TEST

/*
 * By reuse times alone all would miss, but the lines in between were counted.
 */
START_TEST(distances_that_were_counted_are_what_is_expected)
{
	json_t *report, *cache;

	begin_caches();
	put_counted(CDP_REUSE_EXACT, 0, 100000, ACCESSES);
	put_counted(CDP_REUSE_STACK, 0, 10, ACCESSES * 3. / 4);
	put_counted(CDP_REUSE_STACK, 0, 100000, ACCESSES / 4.);
	put_misses(0, 1, false, 0, ACCESSES, ACCESSES / 4.);
	report = end();
	cache = find(at(json_array_get(at(report, "reuse_exact"), 0), "caches"),
		     "name", "L1d");
	ck_assert_double_eq_tol(real_at(cache, "fully_associative"), 0.25,
				1e-9);
	ck_assert_double_eq_tol(real_at(cache, "miss_ratio"), 0.25, 1e-3);
	ck_assert_double_eq_tol(real_at(cache, "simulated"), 0.25, 1e-9);
	json_decref(report);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_caches");
	TCase *tc = tcase_create("report_caches");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, misses_add_up_by_cache_thread_and_instruction);
	tcase_add_test(tc, distances_that_were_counted_are_what_is_expected);
	tcase_add_test(tc, far_more_misses_than_expected_are_conflicts);
	tcase_add_test(tc, misses_about_as_expected_are_none);
	tcase_add_test(
		tc, caches_that_this_machine_lacks_are_not_said_to_be_its_own);
	tcase_add_test(tc,
		       this_machines_caches_are_its_own_whoever_shares_them);
	tcase_add_test(tc, misses_of_no_instruction_have_a_row);
	tcase_add_test(tc, shared_caches_that_are_simulated_are_not_asked_for);
	tcase_add_test(tc, more_misses_than_accesses_are_all_of_them);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
