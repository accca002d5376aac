/* SPDX-License-Identifier: MIT */
/*
 * test_report_reuse - what the report says about reuses made by hand
 */
#include <math.h>

#include "reuse_fixture.h"
#include "src/engine/reuse_histogram.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	SWEPT = 1000, /* lines: 62.5 KiB */
	USES = 500
};

/* The ratio at 2^@octave bytes. */
static double ratio(json_t *s, int octave)
{
	json_t *p = json_array_get(at(s, "miss_ratio_curve"), octave - 12);

	ck_assert_int_eq(int_at(p, "bytes"), 1 << octave);
	ck_assert_double_le(real_at(p, "low"), real_at(p, "lru"));
	ck_assert_double_ge(real_at(p, "high"), real_at(p, "lru"));
	return real_at(p, "lru");
}

/* Thread 0 sweeps, thread 1 stays on a few lines; three of its uses dangle. */
static void sweep_and_stay(enum reuse_scope scope, uint64_t scale)
{
	uses(scope, REUSE_LINE, 0, REUSE_REUSED, SWEPT * scale, 0, USES);
	uses(scope, REUSE_LINE, 1, REUSE_REUSED, 4 * scale, 1, USES - 3);
	uses(scope, REUSE_LINE, 1, REUSE_DANGLING, 4 * scale, 1, 3);
}

START_TEST(each_thread_is_converted_with_its_own_distances)
{
	json_t *report, *all, *sweep, *stay;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "sweep");
	fake_thread(&fake, "stay");
	sweep_and_stay(REUSE_PRIVATE, 1);
	report = end();
	all = stream(report, "private", "line", -1);
	sweep = stream(report, "private", "line", 0);
	stay = stream(report, "private", "line", 1);
	ck_assert_double_eq(ratio(sweep, 15), 1);
	ck_assert_double_eq(ratio(sweep, 16), 0);
	ck_assert_double_eq_tol(ratio(stay, 12), 3. / USES, 1e-9);
	ck_assert_double_eq_tol(ratio(all, 15), 0.5 + 1.5 / USES, 1e-9);
	ck_assert_double_eq_tol(ratio(all, 16), 1.5 / USES, 1e-9);
	json_decref(report);
}
END_TEST

START_TEST(threads_under_a_cache_share_its_distances)
{
	json_t *report, *sweep;

	begin(CDP_MODE_GLOBAL);
	fake_thread(&fake, "sweep");
	fake_thread(&fake, "stay");
	sweep_and_stay(REUSE_GLOBAL, 2);
	report = end();
	sweep = stream(report, "global", "line", 0);
	/*
	 * Half of the 2000 accesses are to the sweep's own lines; the other
	 * half adds less than a hundredth.
	 */
	ck_assert_double_eq(ratio(sweep, 15), 1);
	ck_assert_double_eq(ratio(sweep, 16), 0);
	ck_assert_ptr_null(stream(report, "private", "line", -1));
	json_decref(report);
}
END_TEST

START_TEST(weights_are_accesses_and_bins_hold_their_times)
{
	json_t *report, *all, *bin;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 1000, 0, 30);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 7, 1, 50);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_INVALIDATED, 100, 0, 12);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_DANGLING, 9, 0, 8);
	report = end();
	all = stream(report, "private", "line", -1);
	ck_assert_int_eq(int_at(all, "samples"), 100);
	ck_assert_double_eq(real_at(all, "weight"), 100 * PERIOD);
	ck_assert_double_eq(real_at(all, "cold"), 8 * PERIOD);
	ck_assert_double_eq(real_at(all, "invalidated"), 12 * PERIOD);
	ck_assert_double_eq(real_at(all, "temporal"), 30 * PERIOD);
	ck_assert_double_eq(real_at(all, "spatial"), 50 * PERIOD);
	ck_assert_double_eq(real_at(all, "kinds.RAW"), 80 * PERIOD);
	ck_assert_double_eq(real_at(all, "kinds.WAR"), 0);
	ck_assert_str_eq(text_at(all, "unit"), "accesses");
	ck_assert_uint_eq(json_array_size(at(all, "bins")), 2);
	bin = at(all, "bins.1");
	ck_assert_int_le(int_at(bin, "low"), 1000);
	ck_assert_int_gt(int_at(bin, "high"), 1000);
	ck_assert_double_eq(real_at(bin, "mean"), 1000);
	ck_assert_double_eq(real_at(bin, "weight"), 30 * PERIOD);
	/* Wilson's limits for 30 of 100. */
	ck_assert_double_eq_tol(real_at(bin, "low95"), 21.9 * PERIOD,
				0.1 * PERIOD);
	ck_assert_double_eq_tol(real_at(bin, "high95"), 39.6 * PERIOD,
				0.1 * PERIOD);
	ck_assert_double_eq(real_at(at(all, "stack_distance.bins"), "0.low"),
			    4);
	json_decref(report);
}
END_TEST

START_TEST(addresses_and_shared_reuses_have_no_miss_ratio)
{
	json_t *report, *s;

	begin(CDP_MODE_REUSE | CDP_MODE_SHARED);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_ADDRESS, 0, REUSE_REUSED, 1000, 0, 30);
	uses(REUSE_SHARED, REUSE_LINE, 0, REUSE_REUSED, 1000, 0, 30);
	uses(REUSE_SHARED, REUSE_LINE, 0, REUSE_SAME_CORE, 50, 0, 20);
	report = end();
	s = stream(report, "private", "address", -1);
	ck_assert_ptr_null(json_object_get(s, "miss_ratio_curve"));
	s = stream(report, "shared", "line", -1);
	ck_assert_ptr_null(json_object_get(s, "miss_ratio_curve"));
	ck_assert_double_eq(real_at(s, "weight"), 30 * PERIOD);
	ck_assert_double_eq(real_at(s, "same_core"), 20 * PERIOD);
	json_decref(report);
}
END_TEST

START_TEST(pairs_name_where_data_was_used_and_reused)
{
	json_t *report, *pairs, *sites;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 1000, 0, 20);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 3000, 0, 20);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 5, 3, 10);
	report = end();
	pairs = at(stream(report, "private", "line", -1), "pairs");
	sites = at(report, "reuse_sites");
	ck_assert_uint_eq(json_array_size(pairs), 2);
	ck_assert_uint_eq(json_array_size(sites), 4);
	ck_assert_double_eq(real_at(pairs, "0.weight"), 40 * PERIOD);
	ck_assert_double_eq(real_at(pairs, "0.mean"), 2000);
	ck_assert_str_eq(text_at(pairs, "0.kind"), "RAW");
	ck_assert_str_eq(
		text_at(json_array_get(sites, (size_t)int_at(pairs, "0.use")),
			"offset"),
		"0x0");
	ck_assert_str_eq(
		text_at(json_array_get(sites, (size_t)int_at(pairs, "1.reuse")),
			"offset"),
		"0x7");
	json_decref(report);
}
END_TEST

/* Either longer than any cache has lines, or shorter than the smallest. */
START_TEST(misses_count_where_the_line_is_missed)
{
	json_t *report, *s, *sites;
	size_t i;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, UINT64_C(1) << 40, 0,
	     100);
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 2, 5, 100);
	report = end();
	sites = at(report, "reuse_sites");
	json_array_foreach(sites, i, s)
	{
		json_t *caches = at(s, "caches");
		bool far = !strcmp(text_at(s, "offset"), "0x1");

		if (!json_array_size(caches))
			continue;
		/* Only sites where lines are reused have misses. */
		ck_assert(far || !strcmp(text_at(s, "offset"), "0xb"));
		ck_assert_double_eq_tol(real_at(caches, "0.miss_ratio"),
					far ? 1 : 0, 1e-6);
	}
	json_decref(report);
}
END_TEST

START_TEST(what_was_counted_stands_beside_what_was_sampled)
{
	struct cdp_reuse r = {
		.kind = CDP_REUSE_EXACT,
		.granularity = REUSE_LINE,
		.outcome = REUSE_REUSED,
		.bin = reuse_bin_of(1000),
		.weight = 5000,
		.squares = 5000,
		.count = 5000,
	};
	json_t *report, *counted;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, 1000, 0, 50);
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	r.kind = CDP_REUSE_STACK;
	r.bin = reuse_bin_of(512);
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	r.kind = CDP_REUSE_EXACT;
	r.outcome = REUSE_COLD;
	r.weight = r.squares = 7;
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	report = end();
	counted = at(report, "reuse_exact.0");
	ck_assert_double_eq(real_at(counted, "weight"), 5000);
	ck_assert_double_eq(real_at(counted, "cold"), 7);
	ck_assert_str_eq(text_at(counted, "stack_distance.method"), "exact");
	/* 32 KiB are 512 lines: a distance of 512 misses. */
	ck_assert_double_eq(ratio(counted, 15), 1);
	ck_assert_double_eq(ratio(counted, 16), 0);
	ck_assert_uint_eq(json_array_size(at(report, "reuse")), 1);
	json_decref(report);
}
END_TEST

/* uses() makes stores that are reused by loads. */
START_TEST(loads_and_stores_have_ratios_of_their_own)
{
	struct cdp_reuse r = {
		.kind = CDP_REUSE_BIN,
		.granularity = REUSE_LINE,
		.outcome = REUSE_REUSED,
		.pairing = REUSE_WAR,
		.bin = 2,
		.weight = 100,
		.squares = 100,
		.count = 100,
	};
	json_t *report, *caches;

	begin(CDP_MODE_REUSE);
	fake_thread(&fake, "main");
	uses(REUSE_PRIVATE, REUSE_LINE, 0, REUSE_REUSED, UINT64_C(1) << 40, 0,
	     100);
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	report = end();
	caches = at(stream(report, "private", "line", -1), "caches");
	if (json_array_size(caches)) {
		ck_assert_double_eq_tol(real_at(caches, "0.loads"), 1, 1e-6);
		ck_assert_double_eq_tol(real_at(caches, "0.stores"), 0, 1e-6);
		ck_assert_double_eq_tol(real_at(caches, "0.miss_ratio"), 0.5,
					1e-6);
	}
	json_decref(report);
}
END_TEST

START_TEST(without_reuses_there_is_nothing_of_them)
{
	json_t *report;

	begin(CDP_MODE_COMM);
	fake_thread(&fake, "main");
	report = end();
	ck_assert_ptr_null(json_object_get(report, "reuse"));
	ck_assert_ptr_null(json_object_get(report, "reuse_exact"));
	ck_assert_ptr_null(json_object_get(report, "reuse_sites"));
	json_decref(report);
}
END_TEST

static double random_sum(struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		return 0;
	case 1:
		return 1e18;
	case 2:
		return 1e-18;
	default:
		return (double)rng_below(r, 1000);
	}
}

START_TEST(whatever_records_hold_ratios_stay_ratios)
{
	json_t *report, *s, *p;
	struct rng rng;
	size_t i, k;

	begin(CDP_MODE_REUSE | CDP_MODE_GLOBAL);
	fake_thread(&fake, "main");
	rng_seed(&rng, 5, (uint64_t)_i);
	for (int n = 0; n < 300; n++) {
		struct cdp_reuse r = {
			.kind = 1 + rng_below(&rng, CDP_REUSE_KINDS - 1),
			.scope = rng_below(&rng, REUSE_SCOPES),
			.granularity = rng_below(&rng, REUSE_GRANULARITIES),
			.outcome = 1 + rng_below(&rng, REUSE_OUTCOMES - 1),
			.pairing = rng_below(&rng, REUSE_PAIRINGS),
			.domain = rng_below(&rng, 3),
			.thread = rng_below(&rng, 4) ? 0 : UINT32_MAX,
			.bin = rng_below(&rng, REUSE_BINS),
			.use_ip = rng_below(&rng, 3),
			.end_ip = rng_below(&rng, 3),
			.weight = random_sum(&rng) + 1e-9,
			.squares = random_sum(&rng),
			.offset = random_sum(&rng),
			.offset_squares = random_sum(&rng),
			.count = rng_next(&rng),
		};

		reuse_tally_put(&fake.store, &tally, &r);
	}
	report = end();
	json_array_foreach(at(report, "reuse"), i, s)
	{
		if (!json_object_get(s, "miss_ratio_curve"))
			continue;
		json_array_foreach(at(s, "miss_ratio_curve"), k, p)
		{
			ck_assert_double_ge(real_at(p, "low"), 0);
			ck_assert_double_le(real_at(p, "high"), 1);
			ck_assert_double_ge(real_at(p, "lru"), 0);
			ck_assert_double_le(real_at(p, "lru"), 1);
		}
	}
	json_decref(report);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_reuse");
	TCase *t = tcase_create("report_reuse");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, each_thread_is_converted_with_its_own_distances);
	tcase_add_test(t, threads_under_a_cache_share_its_distances);
	tcase_add_test(t, weights_are_accesses_and_bins_hold_their_times);
	tcase_add_test(t, addresses_and_shared_reuses_have_no_miss_ratio);
	tcase_add_test(t, pairs_name_where_data_was_used_and_reused);
	tcase_add_test(t, misses_count_where_the_line_is_missed);
	tcase_add_test(t, what_was_counted_stands_beside_what_was_sampled);
	tcase_add_test(t, loads_and_stores_have_ratios_of_their_own);
	tcase_add_test(t, without_reuses_there_is_nothing_of_them);
	tcase_add_loop_test(t, whatever_records_hold_ratios_stay_ratios, 0, 5);
	suite_add_tcase(s, t);
	return run_suite(s);
}
