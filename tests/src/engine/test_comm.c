/* SPDX-License-Identifier: MIT */
/*
 * test_comm - Algorithm 1 rule by rule, driven by hand
 *
 * Detection and publication; test_comm_watch.c has arming and traps. The last
 * test runs a second, naive implementation beside the engine.
 */
#include <check.h>
#include <stdatomic.h>

#include "comm_hand.h"
#include "tests/run_suite.h"

/* Offsets from the line; the store is published under it. */
static const struct {
	int store, store_len, load, load_len;
	enum sharing sharing;
} overlaps[] = {
	{ 0, 8, 0, 8, SHARING_TRUE },   { 0, 8, 8, 8, SHARING_FALSE },
	{ 8, 8, 0, 8, SHARING_FALSE },  { 0, 8, 7, 1, SHARING_TRUE },
	{ 7, 1, 0, 8, SHARING_TRUE },   { 0, 4, 4, 4, SHARING_FALSE },
	{ 0, 64, 63, 1, SHARING_TRUE }, { 10, 2, 0, 64, SHARING_TRUE },
	{ 0, 1, 63, 1, SHARING_FALSE }, { 3, 4, 6, 4, SHARING_TRUE },
	{ 16, 0, 16, 1, SHARING_TRUE }, /* no length: one byte */
};

START_TEST(sharing_is_true_where_bytes_overlap)
{
	store(0, there, 10);
	sample(0, ACCESS_STORE, here + overlaps[_i].store,
	       overlaps[_i].store_len, 10);
	ck_assert_uint_eq(sample(1, ACCESS_LOAD, here + overlaps[_i].load,
				 overlaps[_i].load_len, 20),
			  1);
	ck_assert_int_eq(w.last.sharing, overlaps[_i].sharing);
	ck_assert_uint_eq(w.last.line, here);
	ck_assert_int_eq(w.last.by, DETECTED_BY_BOARD);
	ck_assert_uint_eq(w.last.periods_q8, 256);
	ck_assert_uint_eq(w.last.publisher_thread, 0);
	ck_assert_uint_eq(w.last.detector_thread, 1);
	ck_assert_uint_eq(w.last.publisher.addr, here + overlaps[_i].store);
	ck_assert_uint_eq(w.last.detector.addr, here + overlaps[_i].load);
}
END_TEST

START_TEST(cores_are_those_at_publishing_and_at_detecting)
{
	struct access a = { here, 0, 8, ACCESS_STORE };

	comm_sample(&w.comm, &w.hand[0].comm, &a, 10, 3);
	comm_sample(&w.comm, &w.hand[0].comm, &a, 20, 7); /* migrated */
	comm_sample(&w.comm, &w.hand[1].comm, &a, 30, 5);
	ck_assert_uint_eq(w.last.publisher_core, 3);
	ck_assert_uint_eq(w.last.detector_core, 5);
}
END_TEST

static bool reaches_there_only(void *ctx, uint64_t line)
{
	return line == there;
}

START_TEST(a_line_out_of_reach_is_not_watched)
{
	uint64_t now = 1000;

	w.comm.reaches = reaches_there_only;
	for (int i = 0; i < 50; i++, now += 3 * EXPIRY) {
		store(0, here, now);
		store(0, there, now + 1);
		load(1, here + 0x100000, now + 2);
		ck_assert_int_eq(w.hand[1].n, 4);
		ck_assert_uint_eq(w.hand[1].armed[0].addr / LINE, there / LINE);
	}
	store(0, here, now);
	load(1, here + 0x100000, now + 1);
	ck_assert_int_eq(w.hand[1].n, 0);
	ck_assert_uint_eq(w.lost[LOSS_NO_REGISTER], 0);
}
END_TEST

START_TEST(loads_are_never_published)
{
	load(0, here, 10);
	ck_assert_uint_eq(store(1, here, 20), 0);
	ck_assert_uint_eq(load(2, there, 20), 0);
	ck_assert_uint_eq(store(3, there, 30), 0);
}
END_TEST

START_TEST(locked_and_modifying_accesses_are_stores)
{
	static const uint32_t flags[] = { ACCESS_LOAD | ACCESS_STORE,
					  ACCESS_LOAD | ACCESS_LOCKED,
					  ACCESS_STORE | ACCESS_IMPLICIT };

	sample(0, flags[_i], here, 8, 10);
	ck_assert_uint_eq(load(1, here, 20), 1);
}
END_TEST

START_TEST(a_thread_does_not_meet_itself)
{
	store(0, here, 10);
	ck_assert_uint_eq(store(0, here, 20), 0);
	ck_assert_uint_eq(load(0, here + 8, 30), 0);
}
END_TEST

START_TEST(entries_expire)
{
	for (uint32_t i = 1; i < THREADS; i++)
		load(i, there, 100 + EXPIRY); /* long gaps are not the point */
	store(0, here, 100);
	ck_assert_uint_eq(load(1, here, 100 + EXPIRY), 1);
	ck_assert_uint_eq(load(2, here, 100 + EXPIRY + 1), 0);
}
END_TEST

START_TEST(entries_since_the_thread_s_last_sample_are_recent)
{
	load(1, there, 1000);
	load(2, there, 1000);
	store(0, here, 1001);
	ck_assert_uint_eq(load(1, here, 1000 + 50 * EXPIRY), 1);
	load(2, there, 1001 + EXPIRY);
	ck_assert_uint_eq(load(2, here, 1002 + EXPIRY), 0);
}
END_TEST

START_TEST(a_clock_that_is_behind_makes_nothing_old_or_repeated)
{
	store(0, here, 1000);
	ck_assert_uint_eq(load(1, here, 1000 - EXPIRY / 2), 1);
	ck_assert_uint_eq(load(1, here, 1000 - EXPIRY / 2 + 1), 0);
	ck_assert_uint_eq(store(2, here, 990), 1);
	/* It did not replace what it met. */
	ck_assert_uint_eq(load(3, here, 1010), 1);
	ck_assert_uint_eq(w.last.publisher_thread, 0);
}
END_TEST

START_TEST(an_entry_from_far_ahead_is_replaced)
{
	store(0, here, 1ull << 60);
	ck_assert_uint_eq(store(1, here, 1000), 0);
	ck_assert_uint_eq(load(2, here, 1010), 1);
	ck_assert_uint_eq(w.last.publisher_thread, 1);
}
END_TEST

START_TEST(a_publication_is_detected_once_by_each_thread)
{
	store(0, here, 10);
	ck_assert_uint_eq(load(1, here, 20), 1);
	ck_assert_uint_eq(load(1, here, 30), 0);
	ck_assert_uint_eq(load(2, here, 40), 1);
	ck_assert_uint_eq(load(2, here, 50), 0);
	ck_assert_uint_eq(store(1, here, 60), 0);

	/* A new publication is another matter. */
	ck_assert_uint_eq(store(0, here, 10 + 3 * EXPIRY), 0);
	ck_assert_uint_eq(load(1, here, 11 + 3 * EXPIRY), 1);
}
END_TEST

START_TEST(a_publication_at_time_zero_is_one_too)
{
	store(0, here, 0);
	ck_assert_uint_eq(load(1, here, 0), 1);
	ck_assert_uint_eq(load(1, here, 1), 0);
}
END_TEST

START_TEST(what_is_older_than_the_last_detected_counts_as_detected)
{
	store(0, here, 10);
	store(0, there, 20);
	ck_assert_uint_eq(load(1, there, 30), 1);
	ck_assert_uint_eq(load(1, here, 40), 0);
	ck_assert_uint_eq(load(2, here, 40), 1);
	ck_assert_uint_eq(load(2, there, 40), 1);
}
END_TEST

START_TEST(a_recent_entry_is_not_overwritten)
{
	store(0, here, 10);
	store(1, here, 20);     /* another's */
	store(0, here + 8, 30); /* its own */
	ck_assert_uint_eq(load(2, here, 40), 1);
	ck_assert_uint_eq(w.last.publisher_thread, 0);
	ck_assert_uint_eq(w.last.publisher.addr, here);
}
END_TEST

START_TEST(an_expired_entry_is_overwritten)
{
	store(0, here, 10);
	store(1, there, 11);
	store(1, here, 12 + EXPIRY);
	ck_assert_uint_eq(load(2, here, 13 + EXPIRY), 1);
	ck_assert_uint_eq(w.last.publisher_thread, 1);
}
END_TEST

START_TEST(another_line_overwrites_a_recent_entry)
{
	uint64_t rival = here;

	do {
		rival += LINE;
	} while (board_slot(w.comm.board, rival) !=
		 board_slot(w.comm.board, here));
	store(0, here, 10);
	store(1, rival, 11);
	ck_assert_uint_eq(load(2, here, 12), 0);
	ck_assert_uint_eq(load(2, rival, 13), 1);
}
END_TEST

START_TEST(a_busy_slot_costs_one_sample_and_is_counted)
{
	char *first = (char *)w.comm.board + board_size(SLOTS) - SLOTS * 64;
	_Atomic uint64_t *sequence =
		(void *)(first + board_slot(w.comm.board, here) * 64);

	store(0, here, 10);
	atomic_fetch_add(sequence, 1);
	ck_assert_uint_eq(store(1, here, 20), 0);
	ck_assert_uint_eq(w.lost[LOSS_BOARD_BUSY], 1);
	atomic_fetch_add(sequence, 1);
	ck_assert_uint_eq(store(1, here, 30), 1);
	ck_assert_uint_eq(w.last.publisher_thread, 0);
}
END_TEST

START_TEST(an_access_across_two_lines_is_about_one_of_them)
{
	uint32_t first = 0, n = 2000;

	/* Publisher and detector overlap on the second line only. */
	sample(0, ACCESS_STORE, here + 56, 8, 10);
	sample(0, ACCESS_STORE, here + 64, 4, 10);
	for (uint32_t i = 0; i < n; i++) {
		struct hand *h = &w.hand[1];

		comm_thread_init(&h->comm, 1, h, i);
		ck_assert_uint_eq(sample(1, ACCESS_LOAD, here + 62, 8, 20), 1);
		ck_assert_int_eq(w.last.sharing, SHARING_TRUE);
		first += w.last.line == here;
	}
	ck_assert_double_eq_tol(first, n / 2., 4 * sqrt(n / 4.));
}
END_TEST

START_TEST(an_access_of_many_lines_is_about_each_equally_often)
{
	enum {
		LINES = 32,
		N = 32000
	};
	uint32_t count[LINES] = { 0 };

	/* A fresh board each time tells by which line it was published. */
	for (int i = 0; i < N; i++) {
		struct board_entry e;

		board_init(w.comm.board, SLOTS, LINE);
		sample(0, ACCESS_STORE, here, LINES * LINE, 10);
		for (int slot = 0; slot < SLOTS; slot++) {
			if (board_read_slot(w.comm.board, slot, &e) != 1)
				continue;
			ck_assert_uint_ge(e.line, here);
			ck_assert_uint_lt(e.line, here + LINES * LINE);
			count[(e.line - here) / LINE]++;
		}
	}
	ck_assert_double_lt(chi_square(count, LINES, N / LINES),
			    chi_square_limit(LINES - 1));
}
END_TEST

START_TEST(odd_addresses_do_no_harm)
{
	static const uint64_t addr[] = {
		0, 1, 63, UINT64_MAX, UINT64_MAX - 70, 1ull << 63
	};

	for (int i = 0; i < 6; i++) {
		sample(0, ACCESS_STORE, addr[i], 8, 10 + i);
		sample(1, ACCESS_STORE, addr[i], UINT32_MAX, 10 + i);
		sample(1, ACCESS_LOAD, addr[i], 0, 10 + i);
	}
	/* There is no line 0. */
	ck_assert_uint_eq(store(2, 0, 20), 0);
	ck_assert_uint_eq(load(3, 8, 21), 0);
}
END_TEST

/* A naive second implementation: a list of entries, no board, no hashing. */
enum {
	REF_LINES = 40
};
static struct {
	uint64_t time;
	bool used;
	uint32_t thread;
	struct access store;
} ref_entry[REF_LINES];
static uint64_t ref_prev[THREADS], ref_last[THREADS];

/* Byte by byte. */
static bool share_a_byte(const struct access *a, const struct access *b)
{
	for (uint32_t i = 0; i < a->len; i++)
		for (uint32_t j = 0; j < b->len; j++)
			if (a->addr + i == b->addr + j)
				return true;
	return false;
}

/* Returns the publisher whose entry @a finds, or -1. */
static int ref_sample(uint32_t thread, int line, const struct access *a,
		      uint64_t now, bool *is_true)
{
	uint64_t window = EXPIRY, age = now - ref_entry[line].time;
	bool recent;
	int met = -1;

	if (ref_last[thread] && now - ref_last[thread] > window)
		window = now - ref_last[thread] - 1;
	ref_last[thread] = now;
	recent = ref_entry[line].used && age <= window;
	if (recent && ref_entry[line].thread != thread &&
	    ref_entry[line].time > ref_prev[thread]) {
		ref_prev[thread] = ref_entry[line].time;
		*is_true = share_a_byte(a, &ref_entry[line].store);
		met = ref_entry[line].thread;
	}
	if (!recent && (a->flags & ACCESS_STORE)) {
		ref_entry[line].time = now;
		ref_entry[line].used = true;
		ref_entry[line].thread = thread;
		ref_entry[line].store = *a;
	}
	return met;
}

START_TEST(the_board_alone_agrees_with_a_naive_implementation)
{
	uint64_t line[REF_LINES], now = 1000, met_any = 0;
	bool taken[SLOTS] = { false };
	struct rng r;

	w.comm.registers = 0;
	rng_seed(&r, 9, _i);
	for (int i = 0; i < REF_LINES; i++) {
		do {
			line[i] = rng_next(&r) >> 20 << 6 | LINE;
		} while (taken[board_slot(w.comm.board, line[i])]);
		taken[board_slot(w.comm.board, line[i])] = true;
	}
	for (int i = 0; i < 100000; i++) {
		uint32_t thread = rng_below(&r, THREADS);
		int n = rng_below(&r, REF_LINES >> rng_below(&r, 5));
		struct access a = {
			.len = 1 << rng_below(&r, 4),
			.flags = rng_below(&r, 2) ? ACCESS_LOAD : ACCESS_STORE,
		};
		uint32_t before = w.detections;
		bool is_true = false;
		int met;

		a.addr = line[n] + rng_below(&r, LINE / a.len) * a.len;
		now += rng_below(&r, 40) ? rng_below(&r, 20) : 3 * EXPIRY;
		met = ref_sample(thread, n, &a, now, &is_true);
		comm_sample(&w.comm, &w.hand[thread].comm, &a, now, 0);
		ck_assert_uint_eq(w.detections - before, met >= 0);
		if (met < 0)
			continue;
		met_any++;
		ck_assert_uint_eq(w.last.publisher_thread, met);
		ck_assert_uint_eq(w.last.line, line[n]);
		ck_assert_int_eq(w.last.sharing,
				 is_true ? SHARING_TRUE : SHARING_FALSE);
	}
	ck_assert_uint_gt(met_any, 10000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("comm");
	TCase *t = tcase_create("samples");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, sharing_is_true_where_bytes_overlap, 0, 11);
	tcase_add_test(t, cores_are_those_at_publishing_and_at_detecting);
	tcase_add_test(t, a_line_out_of_reach_is_not_watched);
	tcase_add_test(t, loads_are_never_published);
	tcase_add_loop_test(t, locked_and_modifying_accesses_are_stores, 0, 3);
	tcase_add_test(t, a_thread_does_not_meet_itself);
	tcase_add_test(t, entries_expire);
	tcase_add_test(t, entries_since_the_thread_s_last_sample_are_recent);
	tcase_add_test(t, a_clock_that_is_behind_makes_nothing_old_or_repeated);
	tcase_add_test(t, an_entry_from_far_ahead_is_replaced);
	tcase_add_test(t, a_publication_is_detected_once_by_each_thread);
	tcase_add_test(t, a_publication_at_time_zero_is_one_too);
	tcase_add_test(t,
		       what_is_older_than_the_last_detected_counts_as_detected);
	tcase_add_test(t, a_recent_entry_is_not_overwritten);
	tcase_add_test(t, an_expired_entry_is_overwritten);
	tcase_add_test(t, another_line_overwrites_a_recent_entry);
	tcase_add_test(t, a_busy_slot_costs_one_sample_and_is_counted);
	tcase_add_test(t, an_access_across_two_lines_is_about_one_of_them);
	tcase_add_test(t, an_access_of_many_lines_is_about_each_equally_often);
	tcase_add_test(t, odd_addresses_do_no_harm);
	tcase_add_loop_test(
		t, the_board_alone_agrees_with_a_naive_implementation, 0, 4);
	suite_add_tcase(s, t);
	return run_suite(s);
}
