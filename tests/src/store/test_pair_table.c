/* SPDX-License-Identifier: MIT */
/*
 * test_pair_table - the tallies in the file against a list of all detections
 *
 * The list is the oracle. Folded by comparison of all fields, it must agree
 * with the records that a reader finds.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/base/rng.h"
#include "src/store/store.h"
#include "src/store/store_index.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"

enum {
	LIST_MAX = 40000
};

static struct store store;
static struct detection list[LIST_MAX];
static struct cdp_pair pairs[LIST_MAX];
static struct cdp_core cores[LIST_MAX];
static size_t pairs_read, cores_read;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
}

static int copy_pair(void *ctx, const void *record)
{
	memcpy(&pairs[pairs_read++], record, sizeof(pairs[0]));
	return pairs_read == LIST_MAX;
}

static int copy_core(void *ctx, const void *record)
{
	memcpy(&cores[cores_read++], record, sizeof(cores[0]));
	return cores_read == LIST_MAX;
}

static void read_back(void)
{
	struct cdp_reader r;
	uint64_t bad = 0;

	pairs_read = cores_read = 0;
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_PAIRS, copy_pair, NULL, &bad), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_CORES, copy_core, NULL, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

/* Number @n of a family of detections that differ pairwise. */
static struct detection distinct(uint64_t n)
{
	return (struct detection){
		.publisher = { .addr = 0x1000 + n * 8,
			       .ip = 0x400000,
			       .len = 8,
			       .flags = ACCESS_STORE },
		.detector = { .addr = 0x1000 + n * 8,
			      .ip = 0x400010,
			      .len = 8,
			      .flags = ACCESS_LOAD },
		.line = (0x1000 + n * 8) & ~63ull,
		.publisher_thread = 1,
		.detector_thread = 2,
		.publisher_core = n % 8,
		.detector_core = n % 5,
		.periods_q8 = 256,
	};
}

/* Each field takes one of two values, so that most differ in one or two. */
static struct detection drawn(struct rng *r)
{
	uint64_t bits = rng_next(r) & rng_next(r) & rng_next(r);

#define PICK(a, b) ((bits >>= 1) & 1 ? (b) : (a))
	return (struct detection){
		.publisher = { .addr = PICK(0x1000, 0x1008),
			       .ip = PICK(0x400000, 0x400004),
			       .len = PICK(8, 4),
			       .flags = PICK(ACCESS_STORE,
					     ACCESS_STORE | ACCESS_LOAD) },
		.detector = { .addr = PICK(0x1000, 0x1010),
			      .ip = PICK(0x400010, 0x400000),
			      .len = PICK(8, 1),
			      .flags = PICK(ACCESS_LOAD, ACCESS_STORE) },
		.line = PICK(0x1000, 0x1040),
		.publisher_thread = PICK(1, 3),
		.detector_thread = PICK(2, 1),
		.publisher_core = PICK(0, 7),
		.detector_core = PICK(1, 0),
		.sharing = PICK(SHARING_FALSE, SHARING_TRUE),
		.by = PICK(DETECTED_BY_BOARD, DETECTED_BY_TRAP),
		.periods_q8 = PICK(256, 4096),
	};
#undef PICK
}

static bool counts(const struct cdp_pair *p, const struct detection *d)
{
	return p->publisher_thread == d->publisher_thread &&
	       p->detector_thread == d->detector_thread &&
	       p->publisher_addr == d->publisher.addr &&
	       p->detector_addr == d->detector.addr &&
	       p->publisher_ip == d->publisher.ip &&
	       p->detector_ip == d->detector.ip &&
	       p->publisher_len == d->publisher.len &&
	       p->detector_len == d->detector.len &&
	       p->publisher_flags == d->publisher.flags &&
	       p->detector_flags == d->detector.flags &&
	       p->sharing == d->sharing && p->by == d->by && p->line == d->line;
}

START_TEST(records_hold_what_the_list_folds_to)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	uint64_t total = 0;
	struct rng r;

	rng_seed(&r, _i, 0);
	for (uint64_t i = 0; i < 5000; i++) {
		list[i] = drawn(&r);
		ck_assert_int_eq(
			pair_table_add(&store, &t, &list[i], 100 + i, 7), 0);
	}
	read_back();
	ck_assert_uint_gt(pairs_read, 500);
	for (size_t n = 0; n < pairs_read; n++) {
		uint64_t count = 0, periods = 0, first = 0, last = 0;

		for (uint64_t i = 0; i < 5000; i++) {
			if (!counts(&pairs[n], &list[i]))
				continue;
			first = first ? first : 100 + i;
			last = 100 + i;
			count++;
			periods += list[i].periods_q8;
		}
		if (pairs[n].count != count || pairs[n].periods_q8 != periods ||
		    pairs[n].first_mono != first || pairs[n].last_mono != last)
			ck_abort_msg("record %zu", n);
		ck_assert_uint_eq(pairs[n].map_generation, 7);
		total += count;
	}
	ck_assert_uint_eq(total, 5000); /* and so no record twice */
	pair_table_release(&t);
}
END_TEST

START_TEST(core_records_hold_what_the_list_folds_to)
{
	struct core_table t = { .writer.section = CDP_CORES };
	uint64_t total = 0;
	struct rng r;

	rng_seed(&r, _i, 0);
	for (uint64_t i = 0; i < 5000; i++) {
		list[i] = drawn(&r);
		list[i].publisher_core = rng_below(&r, 40);
		list[i].detector_core = rng_below(&r, 40);
		ck_assert_int_eq(core_table_add(&store, &t, &list[i]), 0);
	}
	read_back();
	ck_assert_uint_gt(cores_read, 1000);
	for (size_t n = 0; n < cores_read; n++) {
		uint64_t count[SHARING_KINDS] = { 0 }, traps = 0, periods = 0;

		for (uint64_t i = 0; i < 5000; i++) {
			if (cores[n].publisher_core != list[i].publisher_core ||
			    cores[n].detector_core != list[i].detector_core)
				continue;
			count[list[i].sharing]++;
			traps += list[i].by == DETECTED_BY_TRAP;
			periods += list[i].periods_q8;
		}
		if (memcmp(cores[n].count, count, sizeof(count)) ||
		    cores[n].traps != traps || cores[n].periods_q8 != periods)
			ck_abort_msg("record %zu", n);
		total += count[SHARING_TRUE] + count[SHARING_FALSE];
	}
	ck_assert_uint_eq(total, 5000);
	core_table_release(&t);
}
END_TEST

START_TEST(core_pairs_beyond_the_bound_are_refused_and_known_ones_counted)
{
	struct core_table t = { .writer.section = CDP_CORES };
	struct detection d = distinct(0);

	for (uint32_t n = 0; n < CORE_TABLE_MAX + 100; n++) {
		d.publisher_core = n;
		ck_assert_int_eq(core_table_add(&store, &t, &d),
				 n < CORE_TABLE_MAX ? 0 : -ENOSPC);
	}
	d.publisher_core = 77;
	ck_assert_int_eq(core_table_add(&store, &t, &d), 0);
	read_back();
	ck_assert_uint_eq(cores_read, CORE_TABLE_MAX);
	ck_assert_uint_eq(cores[77].count[SHARING_TRUE], 2);
}
END_TEST

START_TEST(judgements_are_counted_beside_their_detections)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	struct detection d = distinct(0);

	for (int i = 0; i < 5; d.padding = ++i % 3)
		ck_assert_int_eq(pair_table_add(&store, &t, &d, 1, 1), 0);
	read_back();
	ck_assert_uint_eq(pairs[0].avoidable, 2);
	ck_assert_uint_eq(pairs[0].unavoidable, 1);
	pair_table_release(&t);
}
END_TEST

/* One rest, then; its count is what lies beyond the bound. */
START_TEST(pairs_beyond_the_bound_go_to_their_rest)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	struct detection d;
	size_t rests = 0;

	for (uint64_t n = 0; n < PAIR_TABLE_MAX + 1000; n++) {
		d = distinct(n);
		ck_assert_int_eq(pair_table_add(&store, &t, &d, 5, 0), 0);
	}
	d = distinct(3); /* has its own, full or not */
	ck_assert_int_eq(pair_table_add(&store, &t, &d, 5, 0), 0);
	read_back();
	ck_assert_uint_eq(pairs_read, PAIR_TABLE_MAX + 1);
	for (size_t n = 0; n < pairs_read; n++) {
		if (pairs[n].publisher_len) {
			ck_assert_uint_eq(pairs[n].count, n == 3 ? 2 : 1);
			continue;
		}
		ck_assert_uint_eq(pairs[n].count, 1000);
		ck_assert_uint_eq(pairs[n].periods_q8, 256000);
		ck_assert_uint_eq(pairs[n].publisher_thread, 1);
		ck_assert_uint_eq(pairs[n].detector_thread, 2);
		ck_assert_uint_eq(pairs[n].line | pairs[n].publisher_addr |
					  pairs[n].detector_addr |
					  pairs[n].publisher_ip |
					  pairs[n].detector_ip,
				  0);
		rests++;
	}
	ck_assert_uint_eq(rests, 1);
	pair_table_release(&t);
}
END_TEST

START_TEST(rests_tell_threads_and_kinds_apart_up_to_their_bound)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	uint64_t refused = 0, counted = 0, rests = 0;
	struct detection d;

	for (uint64_t n = 0; n < PAIR_TABLE_MAX; n++) {
		d = distinct(n);
		ck_assert_int_eq(pair_table_add(&store, &t, &d, 5, 0), 0);
	}
	for (uint32_t n = 0; n < 6000; n++) {
		d = distinct(PAIR_TABLE_MAX + n);
		d.publisher_thread = 10 + n % 750; /* times 4 kinds: 3000 */
		d.sharing = n / 750 & 1;
		d.by = n / 1500 & 1;
		refused += pair_table_add(&store, &t, &d, 5, 0) == -ENOSPC;
	}
	read_back();
	for (size_t n = 0; n < pairs_read; n++) {
		if (pairs[n].publisher_len)
			continue;
		rests++;
		counted += pairs[n].count;
		ck_assert_uint_eq(pairs[n].count, 2);
	}
	ck_assert_uint_eq(rests, PAIR_TABLE_RESTS_MAX);
	ck_assert_uint_eq(counted + refused, 6000);
	pair_table_release(&t);
}
END_TEST

/* Memory for 512 slots, and no more: three quarters are pairs. */
START_TEST(without_index_memory_the_rest_still_counts)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	struct detection d;
	size_t rests = 0;

	if (SANITIZED)
		return; /* it maps such blocks itself */
	deny_call_if_second(SYS_mmap, 1024 * sizeof(uint64_t), ENOMEM);
	for (uint64_t n = 0; n < 2000; n++) {
		d = distinct(n);
		ck_assert_int_eq(pair_table_add(&store, &t, &d, 5, 0), 0);
	}
	read_back();
	ck_assert_uint_eq(pairs_read, 512 / 4 * 3 + 1);
	for (size_t n = 0; n < pairs_read; n++)
		if (!pairs[n].publisher_len) {
			ck_assert_uint_eq(pairs[n].count, 2000 - 512 / 4 * 3);
			rests++;
		}
	ck_assert_uint_eq(rests, 1);
	pair_table_release(&t);
}
END_TEST

START_TEST(without_any_index_nothing_is_tallied)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	struct core_table c = { .writer.section = CDP_CORES };
	struct detection d = distinct(0);

	if (SANITIZED)
		return; /* it maps such blocks itself */
	deny_call_if_second(SYS_mmap, 512 * sizeof(uint64_t), ENOMEM);
	ck_assert_int_eq(pair_table_add(&store, &t, &d, 5, 0), -ENOSPC);
	ck_assert_int_eq(core_table_add(&store, &c, &d), -ENOSPC);
	ck_assert_uint_eq(store.header->pages, 1);
}
END_TEST

START_TEST(in_a_full_file_known_pairs_go_on_counting)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	struct detection d;
	uint64_t n = 0;

	store_release(&store);
	ck_assert_int_eq(unlinkat(sandbox_fd, NAME, 0), 0);
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, 2 * CDP_PAGE_BYTES), 0);
	do {
		d = distinct(n);
	} while (!pair_table_add(&store, &t, &d, 5, 0) && ++n < 1000);
	ck_assert_uint_eq(n, cdp_records_a_page(CDP_PAIRS));
	d = distinct(30);
	ck_assert_int_eq(pair_table_add(&store, &t, &d, 6, 0), 0);
	read_back();
	ck_assert_uint_eq(pairs[30].count, 2);
	ck_assert_uint_eq(pairs[30].last_mono, 6);
}
END_TEST

/* Where a pair of cores goes in an index of @slots without a secret. */
static uint32_t public_slot(uint32_t publisher, uint32_t detector,
			    uint32_t slots)
{
	uint64_t w = publisher | (uint64_t)detector << 32;
	uint64_t h = 0x9E3779B97F4A7C15ull;
	unsigned __int128 m =
		(unsigned __int128)(h ^ w) * 0xD1342543DE82EF95ull;

	h = (uint64_t)m ^ (uint64_t)(m >> 64) ^ (h << 23);
	h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
	return (uint32_t)(h >> 32) & (slots - 1);
}

/* Slots that follow each other without an empty one. */
static uint32_t longest_run(const struct store_index *x)
{
	uint32_t run = 0, longest = 0;

	for (uint32_t i = 0; i < 2 * x->slots; i++) {
		run = x->slot[i % x->slots] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* A search walks a run of slots; in a half full table none is 200 long. */
START_TEST(keys_that_were_chosen_to_meet_do_not)
{
	struct core_table t = { .writer.section = CDP_CORES };
	struct detection d = distinct(0);
	uint32_t n = 0, slots = 4096, wanted = 1000;

	if (_i) /* that without a secret they do is what makes this a test */
		store.secret = 0x9E3779B97F4A7C15ull;
	for (d.publisher_core = 0; n < wanted; d.publisher_core++) {
		if (public_slot(d.publisher_core, 1, slots))
			continue;
		d.detector_core = 1;
		ck_assert_int_eq(core_table_add(&store, &t, &d), 0);
		n++;
	}
	ck_assert_uint_le(t.index.slots, slots);
	if (_i)
		ck_assert_uint_ge(longest_run(&t.index), wanted);
	else
		ck_assert_uint_lt(longest_run(&t.index), 200);
	core_table_release(&t);
}
END_TEST

START_TEST(records_do_not_depend_on_the_secret)
{
	static struct cdp_pair first[5000];
	size_t n = 0;

	for (int round = 0; round < 2; round++) {
		struct pair_table t = { .writer.section = CDP_PAIRS };
		struct rng r;

		rng_seed(&r, 9, 0);
		store.secret = rng_splitmix(&(uint64_t){ round });
		for (uint64_t i = 0; i < 5000; i++) {
			struct detection d = drawn(&r);

			pair_table_add(&store, &t, &d, 100 + i, 7);
		}
		pair_table_release(&t);
		read_back();
		if (!round) {
			n = pairs_read;
			ck_assert_uint_gt(n, 500);
			memcpy(first, pairs, n * sizeof(pairs[0]));
			store_release(&store);
			sandbox_teardown();
			setup();
		}
	}
	ck_assert_uint_eq(pairs_read, n);
	ck_assert_int_eq(memcmp(first, pairs, n * sizeof(pairs[0])), 0);
}
END_TEST

static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

START_TEST(release_gives_the_index_back)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	int before = mappings();
	struct detection d;

	for (int round = 0; round < 50; round++) {
		for (uint64_t n = 0; n < 1000; n++) {
			d = distinct(n);
			pair_table_add(&store, &t, &d, 5, 0);
		}
		pair_table_release(&t);
	}
	ck_assert_int_le(mappings(), before + 2); /* of the reading itself */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pair_table");
	TCase *tc = tcase_create("pair_table");

	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, records_hold_what_the_list_folds_to, 1, 4);
	tcase_add_loop_test(tc, core_records_hold_what_the_list_folds_to, 1, 4);
	tcase_add_test(
		tc,
		core_pairs_beyond_the_bound_are_refused_and_known_ones_counted);
	tcase_add_test(tc, judgements_are_counted_beside_their_detections);
	tcase_add_test(tc, pairs_beyond_the_bound_go_to_their_rest);
	tcase_add_test(tc,
		       rests_tell_threads_and_kinds_apart_up_to_their_bound);
	tcase_add_test(tc, without_index_memory_the_rest_still_counts);
	tcase_add_test(tc, without_any_index_nothing_is_tallied);
	tcase_add_test(tc, in_a_full_file_known_pairs_go_on_counting);
	tcase_add_test(tc, release_gives_the_index_back);
	tcase_add_loop_test(tc, keys_that_were_chosen_to_meet_do_not, 0, 2);
	tcase_add_test(tc, records_do_not_depend_on_the_secret);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
