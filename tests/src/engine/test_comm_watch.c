/* SPDX-License-Identifier: MIT */
/*
 * test_comm_watch - what Algorithm 1 arms, and what a trap detects
 */
#include <check.h>
#include <errno.h>

#include "comm_hand.h"
#include "tests/run_suite.h"

/* Thread 1 comes to watch @line, to whose first 8 bytes thread 0 stored. */
static void arm_on(uint64_t line, uint64_t now)
{
	store(0, line, now);
	load(1, line + 0x100000, now + 1);
	ck_assert_int_ge(w.hand[1].n, 1);
}

/* An access of @len bytes to the watched range of register @reg. */
static struct access touch(int reg, uint32_t len)
{
	struct access a = { w.hand[1].armed[reg].addr, 0x400123, len,
			    ACCESS_LOAD };

	return a;
}

static bool watches(uint64_t byte)
{
	for (int i = 0; i < w.hand[1].n; i++)
		if (byte - w.hand[1].armed[i].addr < w.hand[1].armed[i].len)
			return true;
	return false;
}

static const struct {
	uint32_t registers, chunk_bytes;
	int ranges;
	uint32_t len;
} shapes[] = {
	{ 1, 8, 1, 8 },   { 2, 8, 2, 8 },    { 3, 8, 3, 8 },   { 4, 8, 4, 8 },
	{ 4, 1, 4, 1 },   { 4, 4, 4, 4 },    { 4, 16, 4, 16 }, { 4, 32, 2, 32 },
	{ 4, 64, 1, 64 }, { 4, 256, 1, 64 }, { 9, 8, 4, 8 },
};

START_TEST(armed_chunks_are_distinct_and_equally_frequent)
{
	enum {
		N = 20000
	};
	int ranges = shapes[_i].ranges, chunks = LINE / shapes[_i].len;
	uint32_t any[LINE] = { 0 }, first[LINE] = { 0 };
	uint64_t now = 1000;

	w.comm.registers = shapes[_i].registers;
	w.comm.chunk_bytes = shapes[_i].chunk_bytes;
	for (int i = 0; i < N; i++, now += 3 * EXPIRY) {
		uint64_t seen = 0;

		arm_on(here, now);
		ck_assert_int_eq(w.hand[1].n, ranges);
		for (int j = 0; j < ranges; j++) {
			struct watch_range *r = &w.hand[1].armed[j];
			int chunk = (r->addr - here) / shapes[_i].len;

			ck_assert_uint_eq(r->len, shapes[_i].len);
			ck_assert_uint_eq(r->addr % r->len, 0);
			ck_assert_int_ge(chunk, 0);
			ck_assert_int_lt(chunk, chunks);
			ck_assert_uint_eq(seen >> chunk & 1, 0);
			seen |= 1ull << chunk;
			any[chunk]++;
			first[chunk] += j == 0;
		}
	}
	if (chunks == 1)
		return;
	ck_assert_double_lt(
		chi_square(any, chunks, N * ranges / (double)chunks),
		chi_square_limit(chunks - 1));
	ck_assert_double_lt(chi_square(first, chunks, N / (double)chunks),
			    chi_square_limit(chunks - 1));
}
END_TEST

START_TEST(pairs_of_armed_chunks_are_equally_frequent)
{
	enum {
		N = 28000,
		PAIRS = 8 * 7
	};
	uint32_t count[PAIRS] = { 0 };
	uint64_t now = 1000;

	for (int i = 0; i < N; i++, now += 3 * EXPIRY) {
		int a, b;

		arm_on(here, now);
		a = (w.hand[1].armed[1].addr - here) / 8;
		b = (w.hand[1].armed[3].addr - here) / 8;
		count[a * 7 + (b > a ? b - 1 : b)]++;
	}
	ck_assert_double_lt(chi_square(count, PAIRS, N / (double)PAIRS),
			    chi_square_limit(PAIRS - 1));
}
END_TEST

/* Entries gathered at one end of the board are no more likely than others. */
START_TEST(every_candidate_is_equally_likely)
{
	enum {
		LINES = 20,
		N = 20000
	};
	uint32_t count[LINES] = { 0 };
	uint64_t line[LINES], l = here;

	for (int i = 0; i < LINES; i++) {
		bool used;

		do {
			used = false;
			l += LINE;
			for (int j = 0; j < i; j++)
				used |= board_slot(w.comm.board, l) ==
					board_slot(w.comm.board, line[j]);
		} while (used ||
			 (i && board_slot(w.comm.board, l) > 2 * LINES));
		line[i] = l;
		store(i % 2 ? 0 : 2, l, 1000);
	}
	for (int i = 0; i < N; i++) {
		int chosen = 0;

		comm_thread_init(&w.hand[1].comm, 1, &w.hand[1], i);
		load(1, 0x900000, 1010);
		while (w.hand[1].armed[0].addr / LINE != line[chosen] / LINE)
			ck_assert_int_lt(++chosen, LINES);
		count[chosen]++;
	}
	ck_assert_double_lt(chi_square(count, LINES, N / LINES),
			    chi_square_limit(LINES - 1));
}
END_TEST

START_TEST(only_others_recent_and_undetected_entries_are_watched)
{
	store(1, here, 100); /* its own */
	load(1, there, 101);
	ck_assert_int_eq(w.hand[1].arms, 0);

	store(0, there, 200); /* detected already */
	ck_assert_uint_eq(load(1, there, 201), 1);
	load(1, 0x900000, 202);
	ck_assert_int_eq(w.hand[1].arms, 0);

	load(2, 0x900000, 201 + EXPIRY); /* expired */
	ck_assert_int_eq(w.hand[2].arms, 0);
	load(3, 0x900000, 199 + EXPIRY); /* recent */
	ck_assert_int_eq(w.hand[3].arms, 1);
}
END_TEST

START_TEST(a_young_watch_stays_and_an_old_one_is_replaced)
{
	arm_on(here, 1000);
	store(0, there, 1050);
	load(1, 0x900000, 1001 + EXPIRY);
	ck_assert_int_eq(w.hand[1].arms, 1);
	ck_assert_uint_eq(w.hand[1].armed[0].addr / LINE, here / LINE);
	load(1, 0x900000, 1002 + EXPIRY);
	ck_assert_int_eq(w.hand[1].arms, 2);
	ck_assert_uint_eq(w.hand[1].armed[0].addr / LINE, there / LINE);
	ck_assert_int_eq(w.hand[1].disarms, 0);
}
END_TEST

START_TEST(an_old_watch_is_disarmed_where_nothing_replaces_it)
{
	arm_on(here, 1000);
	load(1, 0x900000, 1001 + EXPIRY / 2);
	load(1, 0x900000, 1002 + EXPIRY);
	ck_assert_int_eq(w.hand[1].n, 0);
	ck_assert_int_eq(w.hand[1].disarms, 1);
	load(1, 0x900000, 1003 + EXPIRY);
	ck_assert_int_eq(w.hand[1].disarms, 1);
}
END_TEST

START_TEST(a_watch_survives_a_clock_that_is_behind)
{
	arm_on(here, 1000);
	store(2, there, 1000);
	load(1, 0x900000, 990);
	ck_assert_int_eq(w.hand[1].arms, 1);
	ck_assert_int_eq(w.hand[1].disarms, 0);
}
END_TEST

START_TEST(one_opportunity_in_so_many_is_taken)
{
	enum {
		N = 8000
	};
	static const uint32_t one_in[] = { 1, 2, 10 };
	double mean = N / (double)one_in[_i];
	uint64_t now = 1000;

	w.comm.arm_one_in = one_in[_i];
	for (int i = 0; i < N; i++, now += 3 * EXPIRY) {
		store(0, here, now);
		load(1, 0x900000, now + 1);
	}
	ck_assert_double_eq_tol(w.hand[1].arms, mean,
				0.5 + 4 * sqrt(mean * (1 - 1. / one_in[_i])));
}
END_TEST

START_TEST(a_trap_is_judged_by_the_bytes_of_its_access)
{
	for (uint64_t now = 1000; now < 40000; now += 3 * EXPIRY) {
		for (int reg = 0; reg < 4; reg++, now += 3 * EXPIRY) {
			struct access a;

			arm_on(here, now);
			a = touch(reg, 4);
			ck_assert_uint_eq(trap(1, reg, &a, now + 2), 1);
			ck_assert_int_eq(w.last.by, DETECTED_BY_TRAP);
			ck_assert_int_eq(w.last.sharing,
					 a.addr == here ? SHARING_TRUE
							: SHARING_FALSE);
			ck_assert_uint_eq(w.last.detector.addr, a.addr);
			ck_assert_uint_eq(w.last.detector.ip, a.ip);
			ck_assert_uint_eq(w.last.line, here);
			ck_assert_uint_eq(w.last.publisher_thread, 0);
			ck_assert_uint_eq(w.last.detector_thread, 1);
			ck_assert_uint_eq(w.last.detector_core, 10);
			ck_assert_uint_eq(w.last.publisher_core, 0);
		}
	}
	ck_assert_uint_eq(w.lost[LOSS_TRAP_INEXACT], 0);
}
END_TEST

/* The store was to bytes 0 to 7; an access from before reaches into them. */
START_TEST(an_access_that_only_reaches_into_watched_bytes_counts_whole)
{
	struct access a;
	uint64_t now = 1000;

	do {
		now += 3 * EXPIRY;
		arm_on(here, now);
	} while (w.hand[1].armed[0].addr != here + 8);
	a = touch(0, 8);
	a.addr -= 4; /* bytes 4 to 11 */
	ck_assert_uint_eq(trap(1, 0, &a, now + 2), 1);
	ck_assert_int_eq(w.last.sharing, SHARING_TRUE);
}
END_TEST

START_TEST(the_watched_bytes_stand_for_an_access_that_is_unknown)
{
	uint64_t now = 1000;
	int kinds[SHARING_KINDS] = { 0 };

	for (int i = 0; i < 200; i++, now += 3 * EXPIRY) {
		struct watch_range r;

		arm_on(here, now);
		r = w.hand[1].armed[2];
		ck_assert_uint_eq(trap(1, 2, NULL, now + 2), 1);
		ck_assert_int_eq(w.last.sharing,
				 r.addr == here ? SHARING_TRUE : SHARING_FALSE);
		ck_assert_uint_eq(w.last.detector.addr, r.addr);
		ck_assert_uint_eq(w.last.detector.len, r.len);
		ck_assert_uint_eq(w.last.detector.ip, 0);
		kinds[w.last.sharing]++;
	}
	ck_assert_int_eq(w.lost[LOSS_TRAP_INEXACT], 200);
	ck_assert_int_gt(kinds[SHARING_TRUE], 0);
	ck_assert_int_gt(kinds[SHARING_FALSE], 0);
}
END_TEST

START_TEST(an_access_that_misses_the_watched_bytes_did_not_trap)
{
	struct access a;

	arm_on(here, 1000);
	a = touch(0, 8);
	a.addr = there;
	ck_assert_uint_eq(trap(1, 0, &a, 1002), 1);
	ck_assert_uint_eq(w.lost[LOSS_TRAP_INEXACT], 1);
	ck_assert_uint_eq(w.last.line, here);
	ck_assert_uint_eq(w.last.detector.addr, w.hand[1].armed[0].addr);
}
END_TEST

START_TEST(a_trap_disarms_all_and_a_late_one_is_stale)
{
	struct access a;

	arm_on(here, 1000);
	a = touch(3, 8);
	ck_assert_uint_eq(trap(1, 3, &a, 1002), 1);
	ck_assert_int_eq(w.hand[1].n, 0);
	ck_assert_int_eq(w.hand[1].disarms, 1);
	for (int reg = -1; reg < 6; reg++)
		ck_assert_uint_eq(trap(1, reg, &a, 1003), 0);
	ck_assert_uint_eq(w.lost[LOSS_TRAP_STALE], 7);
}
END_TEST

START_TEST(a_trap_of_a_register_beyond_the_armed_is_stale)
{
	struct access a;

	w.arm_limit = 2;
	arm_on(here, 1000);
	a = touch(0, 8);
	ck_assert_uint_eq(trap(1, 2, &a, 1002), 0);
	ck_assert_uint_eq(w.lost[LOSS_TRAP_STALE], 1);
	ck_assert_uint_eq(trap(1, 1, &a, 1003), 1);
}
END_TEST

START_TEST(a_trap_stands_for_line_bytes_by_those_really_watched)
{
	static const uint32_t periods_q8[] = { 0, 2048, 1024, 682, 512 };
	struct access a;

	w.arm_limit = _i;
	arm_on(here, 1000);
	a = touch(0, 1);
	trap(1, 0, &a, 1002);
	ck_assert_uint_eq(w.last.periods_q8, periods_q8[_i]);
}
END_TEST

START_TEST(what_a_trap_detected_is_neither_met_nor_watched_again)
{
	struct access a;

	arm_on(here, 1000);
	a = touch(0, 8);
	trap(1, 0, &a, 1002);
	ck_assert_uint_eq(load(1, here, 1003), 0);
	load(1, 0x900000, 1004);
	ck_assert_int_eq(w.hand[1].arms, 1);
	ck_assert_uint_eq(load(2, here, 1005), 1);
}
END_TEST

START_TEST(a_trap_does_not_make_a_later_entry_of_the_slot_new_again)
{
	uint64_t rival = here;
	struct access a;

	do {
		rival += LINE;
	} while (board_slot(w.comm.board, rival) !=
		 board_slot(w.comm.board, here));
	arm_on(here, 1000);
	store(2, rival, 1010);
	ck_assert_uint_eq(load(1, rival, 1011), 1);
	a = touch(0, 8);
	ck_assert_uint_eq(trap(1, 0, &a, 1012), 1);
	ck_assert_uint_eq(load(1, rival, 1013), 0);
}
END_TEST

START_TEST(a_sample_that_meets_the_watched_line_ends_the_watch)
{
	uint64_t unwatched = here;

	store(2, there, 999);
	do {
		comm_stop(&w.comm, &w.hand[1].comm);
		arm_on(here, 1000);
	} while (!watches(here));
	while (watches(unwatched))
		unwatched += 8;
	ck_assert_uint_eq(load(1, there, 1002), 1);
	ck_assert_int_eq(w.hand[1].n, 4);
	ck_assert_uint_eq(load(1, unwatched, 1003), 1);
	ck_assert_int_eq(w.hand[1].n, 0);
}
END_TEST

START_TEST(a_failure_to_arm_is_counted_and_leaves_nothing_armed)
{
	struct access a = { here, 0, 8, ACCESS_LOAD };

	w.arm_limit = _i ? -ENOSPC : 0;
	store(0, here, 1000);
	load(1, 0x900000, 1001);
	ck_assert_uint_eq(w.lost[LOSS_NO_REGISTER], 1);
	ck_assert_uint_eq(trap(1, 0, &a, 1002), 0);
	ck_assert_uint_eq(w.lost[LOSS_TRAP_STALE], 1);
	comm_stop(&w.comm, &w.hand[1].comm);
	ck_assert_int_eq(w.hand[1].disarms, 0);
}
END_TEST

START_TEST(without_registers_or_watch_nothing_is_armed)
{
	if (_i)
		w.comm.watch = NULL;
	else
		w.comm.registers = 0;
	store(0, here, 1000);
	load(1, 0x900000, 1001);
	ck_assert_int_eq(w.hand[1].arms, 0);
	ck_assert_uint_eq(w.lost[LOSS_NO_REGISTER], 0);
	comm_stop(&w.comm, &w.hand[1].comm);
	ck_assert_uint_eq(load(1, here, 1002), 1);
}
END_TEST

START_TEST(stopping_disarms_once)
{
	arm_on(here, 1000);
	comm_stop(&w.comm, &w.hand[1].comm);
	comm_stop(&w.comm, &w.hand[1].comm);
	ck_assert_int_eq(w.hand[1].disarms, 1);
	ck_assert_int_eq(w.hand[1].n, 0);
}
END_TEST

START_TEST(threads_draw_their_chunks_independently)
{
	int same = 0;

	w.comm.registers = 1;
	for (uint64_t seed = 0; seed < 2000; seed++) {
		for (int i = 1; i < 3; i++)
			comm_thread_init(&w.hand[i].comm, i, &w.hand[i], seed);
		store(0, here, 1000);
		load(1, 0x900000, 1001);
		load(2, 0x900000, 1001);
		same += w.hand[1].armed[0].addr == w.hand[2].armed[0].addr;
	}
	/* One in eight; 4 standard deviations. */
	ck_assert_double_eq_tol(same, 250, 60);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("comm_watch");
	TCase *t = tcase_create("watch");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, armed_chunks_are_distinct_and_equally_frequent,
			    0, 11);
	tcase_add_test(t, pairs_of_armed_chunks_are_equally_frequent);
	tcase_add_test(t, every_candidate_is_equally_likely);
	tcase_add_test(t,
		       only_others_recent_and_undetected_entries_are_watched);
	tcase_add_test(t, a_young_watch_stays_and_an_old_one_is_replaced);
	tcase_add_test(t, an_old_watch_is_disarmed_where_nothing_replaces_it);
	tcase_add_test(t, a_watch_survives_a_clock_that_is_behind);
	tcase_add_loop_test(t, one_opportunity_in_so_many_is_taken, 0, 3);
	tcase_add_test(t, a_trap_is_judged_by_the_bytes_of_its_access);
	tcase_add_test(
		t, an_access_that_only_reaches_into_watched_bytes_counts_whole);
	tcase_add_test(t,
		       the_watched_bytes_stand_for_an_access_that_is_unknown);
	tcase_add_test(t, an_access_that_misses_the_watched_bytes_did_not_trap);
	tcase_add_test(t, a_trap_disarms_all_and_a_late_one_is_stale);
	tcase_add_test(t, a_trap_of_a_register_beyond_the_armed_is_stale);
	tcase_add_loop_test(
		t, a_trap_stands_for_line_bytes_by_those_really_watched, 1, 5);
	tcase_add_test(t,
		       what_a_trap_detected_is_neither_met_nor_watched_again);
	tcase_add_test(
		t, a_trap_does_not_make_a_later_entry_of_the_slot_new_again);
	tcase_add_test(t, a_sample_that_meets_the_watched_line_ends_the_watch);
	tcase_add_loop_test(
		t, a_failure_to_arm_is_counted_and_leaves_nothing_armed, 0, 2);
	tcase_add_loop_test(t, without_registers_or_watch_nothing_is_armed, 0,
			    2);
	tcase_add_test(t, stopping_disarms_once);
	tcase_add_test(t, threads_draw_their_chunks_independently);
	suite_add_tcase(s, t);
	return run_suite(s);
}
