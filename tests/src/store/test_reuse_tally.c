/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_tally - the file counts exactly the uses that were added
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/store/cdp_read.h"
#include "src/engine/reuse_histogram.h"
#include "src/store/reuse_tally.h"
#include "src/base/rng.h"
#include "tests/sandbox.h"
#include "tests/run_suite.h"

#define NAME "a.cdp"

static struct store store;
static struct reuse_tally tally;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME, 64 << 20), 0);
	memset(&tally, 0, sizeof(tally));
	tally.writer.section = CDP_REUSE;
}

static void teardown(void)
{
	reuse_tally_release(&tally);
	store_release(&store);
	sandbox_teardown();
}

static struct reuse_event event(uint64_t time, uint64_t weight)
{
	return (struct reuse_event){
		.outcome = REUSE_REUSED,
		.use = { 0x1000, 0x40, 8, ACCESS_STORE },
		.end = { 0x1000, 0x50, 8, ACCESS_LOAD },
		.use_place = { 3, 1, 2 },
		.end_place = { 3, 1, 2 },
		.time = time,
		.weight = weight,
		.pairing = REUSE_RAW,
		.temporal = true,
	};
}

static int add(const struct reuse_event *v)
{
	return reuse_tally_add(&store, &tally, REUSE_SHARED, REUSE_LINE, v, 7);
}

struct sums {
	struct reuse_histogram histogram;
	struct cdp_reuse last_bin, last_pair;
	double pair_weight, pair_time, rest;
	uint64_t bins, pairs, count;
};

static int collect(void *ctx, const void *record)
{
	const struct cdp_reuse *r = record;
	struct sums *s = ctx;
	struct reuse_mass m = { r->weight, r->squares, r->offset,
				r->offset_squares };

	ck_assert_int_eq(r->scope, REUSE_SHARED);
	ck_assert_int_eq(r->granularity, REUSE_LINE);
	ck_assert_uint_eq(r->thread, 3);
	ck_assert_uint_eq(r->domain, 2);
	if (r->kind == CDP_REUSE_PAIR) {
		s->last_pair = *r;
		s->pairs++;
		s->pair_weight += r->weight;
		s->pair_time += r->offset;
		s->rest += r->use_ip ? 0 : r->weight;
		return 0;
	}
	ck_assert_int_eq(r->kind, CDP_REUSE_BIN);
	s->last_bin = *r;
	s->bins++;
	s->count += r->count;
	if (r->outcome == REUSE_REUSED)
		reuse_mass_merge(&s->histogram.reuse[r->bin], &m);
	else if (r->outcome == REUSE_INVALIDATED)
		reuse_mass_merge(&s->histogram.invalidated[r->bin], &m);
	else
		reuse_mass_merge(&s->histogram.never[r->bin], &m);
	return 0;
}

static struct sums *read_back(void)
{
	static struct sums s;
	struct cdp_reader r;
	uint64_t bad = 0;

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_REUSE, collect, &s, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
	return &s;
}

START_TEST(a_use_is_in_its_bin_and_its_pair)
{
	struct reuse_event v = event(1000, 5);
	struct sums *s;

	v.temporal = false;
	ck_assert_int_eq(add(&v), 0);
	s = read_back();
	ck_assert_uint_eq(s->bins, 1);
	ck_assert_uint_eq(s->pairs, 1);
	ck_assert_uint_eq(s->last_bin.bin, reuse_bin_of(1000));
	ck_assert_int_eq(s->last_bin.pairing, REUSE_RAW);
	ck_assert_int_eq(s->last_bin.spatial, 1);
	ck_assert_uint_eq(s->last_bin.use_ip, 0);
	ck_assert_double_eq(s->last_bin.weight, 5);
	ck_assert_double_eq(s->last_bin.squares, 25);
	ck_assert_double_eq(s->last_bin.offset, 5 * (1000 - 960));
	ck_assert_uint_eq(s->last_pair.use_ip, 0x40);
	ck_assert_uint_eq(s->last_pair.end_ip, 0x50);
	ck_assert_uint_eq(s->last_pair.bin, 9);
	ck_assert_double_eq(s->last_pair.offset, 5 * 1000);
	ck_assert_double_eq(s->last_pair.offset_squares, 5e6);
	ck_assert_uint_eq(s->last_pair.count, 1);
	ck_assert_uint_eq(s->last_pair.map_generation, 7);
}
END_TEST

static int collect_paths(void *ctx, const void *record)
{
	const struct cdp_reuse *r = record;
	double *weight = ctx;

	if (r->kind != CDP_REUSE_PATHS)
		return 0;
	ck_assert_uint_eq(r->bin, 0);
	if (!r->use_ip) {
		ck_assert_uint_eq(r->end_ip, 0);
		weight[0] += r->weight;
		return 0;
	}
	ck_assert_double_eq(r->offset, r->weight * 100 * (double)r->use_ip);
	ck_assert_uint_eq(r->end_ip, r->use_ip + 1);
	weight[1] += r->weight;
	weight[2] += 1;
	return 0;
}

/* Times are 100 times the path's number; all paths twice, 3 at a time. */
static void tally_paths(uint32_t paths, double weight[3])
{
	struct cdp_reader r;
	uint64_t bad = 0;

	for (uint32_t i = 0; i < 2 * paths; i++) {
		uint32_t path = 1 + i % paths;
		struct reuse_event v = event(100 * path, 3);

		v.use_path = path;
		v.end_path = path + 1;
		ck_assert_int_eq(add(&v), 0);
	}
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_REUSE, collect_paths, weight, &bad),
			 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

START_TEST(pairs_of_call_paths_are_counted_apart_whatever_their_times)
{
	double weight[3] = { 0 };
	struct reuse_event v = event(1000, 5);

	v.use_path = 1; /* of the reuse none is known */
	ck_assert_int_eq(add(&v), 0);
	tally_paths(50, weight);
	ck_assert_double_eq(weight[0], 0);
	ck_assert_double_eq(weight[1], 300);
	ck_assert_double_eq(weight[2], 50);
}
END_TEST

START_TEST(call_paths_beyond_the_limit_are_counted_together)
{
	double weight[3] = { 0 };

	tally_paths(REUSE_TALLY_PATHS_MAX + 10, weight);
	ck_assert_double_eq(weight[2], REUSE_TALLY_PATHS_MAX);
	ck_assert_double_eq(weight[1], 6.0 * REUSE_TALLY_PATHS_MAX);
	ck_assert_double_eq(weight[0], 60);
}
END_TEST

/* A histogram in memory is the oracle of the one in the file. */
START_TEST(many_uses_are_the_histogram_that_they_would_be_in_memory)
{
	static struct reuse_histogram h;
	struct sums *s;
	struct rng rng;

	memset(&h, 0, sizeof(h));
	rng_seed(&rng, 1, 1);
	for (int i = 0; i < 5000; i++) {
		uint64_t time = 1 + (rng_next(&rng) >> (20 + i % 44));
		struct reuse_event v = event(time, 1 + rng_below(&rng, 9));
		double w = (double)v.weight;

		if (i % 7 == 0) {
			v.outcome = REUSE_INVALIDATED;
			if (i % 2)
				v.time = REUSE_TIME_UNKNOWN;
			reuse_histogram_add_invalidated(&h, v.time, w);
		} else if (i % 11 == 0) {
			v.outcome = REUSE_DANGLING;
			v.end = (struct access){ 0 };
			reuse_histogram_add_never(&h, time, w);
		} else {
			reuse_histogram_add(&h, time, w);
		}
		v.use.ip += i % 3;
		ck_assert_int_eq(add(&v), 0);
	}
	s = read_back();
	ck_assert_uint_eq(s->count, 5000);
	for (uint32_t b = 0; b < REUSE_BINS; b++) {
		const struct reuse_mass *have[] = {
			&s->histogram.reuse[b], &s->histogram.invalidated[b],
			&s->histogram.never[b]
		};
		const struct reuse_mass *want[] = { &h.reuse[b],
						    &h.invalidated[b],
						    &h.never[b] };

		for (int i = 0; i < 3; i++) {
			bool unknown = i && b == REUSE_BINS - 1;

			if (have[i]->weight != want[i]->weight ||
			    have[i]->squares != want[i]->squares ||
			    (have[i]->offset != want[i]->offset && !unknown))
				ck_abort_msg("bin %u", b);
		}
	}
	ck_assert_double_eq(s->pair_weight, reuse_histogram_total(&h).weight);
}
END_TEST

static int last_phase(void *ctx, const void *record)
{
	const struct cdp_reuse *r = record;

	if (r->kind == CDP_REUSE_BIN)
		*(uint64_t *)ctx = r->use_ip;
	return 0;
}

/* Of the last use, which made a record of its own. */
static uint64_t phase_of(enum reuse_scope scope, enum reuse_granularity g,
			 uint64_t at)
{
	static uint64_t time;
	struct reuse_event v = event(1, 1);
	struct cdp_reader r;
	uint64_t bad = 0, phase = 0;

	/* A bin that no other use is in. */
	v.time = reuse_bin_low(10 + time++);
	v.at = at;
	ck_assert_int_eq(reuse_tally_add(&store, &tally, scope, g, &v, 7), 0);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_REUSE, last_phase, &phase, &bad), 0);
	cdp_close(&r);
	return phase;
}

START_TEST(uses_of_lines_say_their_phase)
{
	ck_assert_uint_eq(phase_of(REUSE_PRIVATE, REUSE_LINE, 1 << 20), 0);
	tally.period = 100;
	/* 512 uses are 51,200 accesses, less than 2^16. */
	ck_assert_uint_eq(phase_of(REUSE_PRIVATE, REUSE_LINE, 1000),
			  reuse_phase(16, 1000));
	ck_assert_uint_eq(phase_of(REUSE_GLOBAL, REUSE_LINE, 3 << 16),
			  reuse_phase(16, 3 << 16));
	ck_assert_uint_eq(phase_of(REUSE_SHARED, REUSE_LINE, 1000), 0);
	ck_assert_uint_eq(phase_of(REUSE_PRIVATE, REUSE_ADDRESS, 1000), 0);
	/* No less than a 128th of what there was. */
	ck_assert_uint_eq(
		phase_of(REUSE_PRIVATE, REUSE_LINE, (UINT64_C(1) << 23) - 1),
		reuse_phase(16, (UINT64_C(1) << 23) - 1));
	ck_assert_uint_eq(
		phase_of(REUSE_PRIVATE, REUSE_LINE, UINT64_C(1) << 23),
		reuse_phase(17, UINT64_C(1) << 23));
	/* Another stream of the same tally is not changed by that. */
	ck_assert_uint_eq(phase_of(REUSE_GLOBAL, REUSE_LINE, 1000),
			  reuse_phase(16, 1000));
	/* Many records, longer phases. */
	tally.bins = REUSE_TALLY_PHASE_RECORDS;
	ck_assert_uint_eq(phase_of(REUSE_PRIVATE, REUSE_LINE, 1000),
			  reuse_phase(17, 1000));
	ck_assert_uint_eq(phase_of(REUSE_PRIVATE, REUSE_LINE, 2000),
			  reuse_phase(17, 2000));
}
END_TEST

START_TEST(pairs_beyond_the_limit_count_as_one)
{
	const int more = 100;
	struct sums *s;

	for (int i = 0; i < REUSE_TALLY_PAIRS_MAX + more; i++) {
		struct reuse_event v = event(16, 1);

		v.use.ip = 0x1000 + i;
		ck_assert_int_eq(add(&v), 0);
	}
	/* Those that have a record go on counting in it. */
	for (int i = 0; i < 10; i++) {
		struct reuse_event v = event(16, 1);

		v.use.ip = 0x1000 + i;
		ck_assert_int_eq(add(&v), 0);
	}
	s = read_back();
	ck_assert_uint_eq(s->pairs, REUSE_TALLY_PAIRS_MAX + 1);
	ck_assert_double_eq(s->rest, more);
	ck_assert_double_eq(s->pair_weight, REUSE_TALLY_PAIRS_MAX + more + 10);
	ck_assert_uint_eq(s->bins, 1);
}
END_TEST

START_TEST(a_full_file_is_an_error_and_what_is_in_it_stays)
{
	struct reuse_event v = event(1, 1);
	struct sums *s;
	int err = 0;

	store_release(&store);
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, "b.cdp", STORE_FIRST_BYTES),
		0);
	for (int i = 0; !err && i < 5000; i++) {
		v.use.ip = 0x1000 + i;
		v.time = 1 + i;
		err = add(&v);
	}
	ck_assert_int_eq(err, -ENOSPC);
	store_release(&store);
	ck_assert_int_eq(renameat(sandbox_fd, "b.cdp", sandbox_fd, NAME), 0);
	s = read_back();
	ck_assert_uint_gt(s->bins + s->pairs, 100);
	ck_assert_int_eq(store_create(&store, sandbox_fd, "c.cdp", 1 << 20), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reuse_tally");
	TCase *tc = tcase_create("reuse_tally");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_use_is_in_its_bin_and_its_pair);
	tcase_add_test(
		tc, many_uses_are_the_histogram_that_they_would_be_in_memory);
	tcase_add_test(tc, uses_of_lines_say_their_phase);
	tcase_add_test(tc, pairs_beyond_the_limit_count_as_one);
	tcase_add_test(tc, a_full_file_is_an_error_and_what_is_in_it_stays);
	tcase_add_test(
		tc, pairs_of_call_paths_are_counted_apart_whatever_their_times);
	tcase_add_test(tc, call_paths_beyond_the_limit_are_counted_together);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
