/* SPDX-License-Identifier: MIT */
/*
 * test_looks - lines that go from thread to thread are found in windows
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/rng.h"
#include "src/engine/looks.h"
#include "tests/run_suite.h"

enum {
	LINE = 0x7f0000001000,
	THREADS = 4,
	LINES = 12,
	WINDOWS = 20000,
	WINDOW = 20,
	IP = 0x401000,
};

static struct looks looks;
static struct sighting last;
static int meetings;
static uint32_t dead; /* thread that has ended; 0: none */

static bool lives(uint32_t thread)
{
	return !dead || thread != dead;
}

static void note(void *ctx, const struct sighting *s)
{
	last = *s;
	meetings++;
}

static const struct looks_sink sink = { lives, note };

static void forget(void)
{
	memset(&looks, 0, sizeof(looks));
	meetings = 0;
	dead = 0;
}

static struct access to(uint64_t addr, uint32_t len, uint32_t flags)
{
	return (struct access){
		.addr = addr, .len = len, .flags = flags, .ip = IP + len
	};
}

/* Thread @thread makes one access. */
static void one(uint32_t thread, uint64_t addr, uint32_t flags)
{
	struct access a = to(addr, 8, flags);

	looks_through(&looks, thread, &a, 1, &sink, NULL);
}

START_TEST(the_second_meeting_is_told)
{
	one(1, LINE + 8, ACCESS_STORE);
	one(2, LINE + 16, ACCESS_STORE);
	ck_assert_int_eq(meetings, 0);
	one(1, LINE + 8, ACCESS_STORE);
	ck_assert_int_eq(meetings, 1);
	ck_assert_uint_eq(last.line, LINE);
	ck_assert_uint_eq(last.publisher_thread, 2);
	ck_assert_uint_eq(last.publisher.addr, LINE + 16);
	ck_assert_uint_eq(last.publisher.len, 8);
	ck_assert_uint_eq(last.publisher.ip, IP + 8);
	ck_assert_uint_eq(last.detector.addr, LINE + 8);
	/* its own line again */
	one(1, LINE + 8, ACCESS_STORE);
	ck_assert_int_eq(meetings, 1);
}
END_TEST

/* A stack, or a number, that the next thread has. */
START_TEST(who_has_ended_is_met_no_more)
{
	for (uint32_t i = 1; i < 100; i++) {
		one(i, LINE, ACCESS_STORE);
		one(i, LINE, ACCESS_LOAD);
		dead = i;
	}
	ck_assert_int_eq(meetings, 0);
}
END_TEST

/* Who reads what was stored once meets it once, however often it reads. */
START_TEST(data_that_was_handed_over_for_good_is_not_shared)
{
	one(1, LINE, ACCESS_STORE);
	for (int i = 0; i < 100; i++)
		one(2 + i % 2, LINE, ACCESS_LOAD);
	ck_assert_int_eq(meetings, 0);
}
END_TEST

START_TEST(readers_meet_each_store_that_was_seen_once)
{
	for (int i = 0; i < 10; i++) {
		one(1, LINE, ACCESS_STORE);
		one(2, LINE, ACCESS_LOAD);
		one(3, LINE, ACCESS_LOAD);
	}
	ck_assert_int_eq(meetings, 9);
}
END_TEST

START_TEST(what_nobody_stores_to_and_what_one_thread_has_is_not_told)
{
	for (int i = 0; i < 10; i++)
		for (uint32_t t = 1; t < 4; t++) {
			one(t, LINE, ACCESS_LOAD);
			one(t, LINE + 64 * t, ACCESS_STORE);
			one(t, LINE + 4096, ACCESS_STORE | ACCESS_IMPLICIT);
		}
	ck_assert_int_eq(meetings, 0);
}
END_TEST

START_TEST(an_access_over_two_lines_is_to_both)
{
	for (int i = 0; i < 3; i++)
		for (uint32_t t = 1; t < 3; t++)
			one(t, LINE + 60, ACCESS_STORE);
	/* meetings 2 to 5 on each line */
	ck_assert_int_eq(meetings, 8);
	ck_assert_uint_eq(last.line, LINE + 64);
	ck_assert_uint_eq(last.publisher.addr, LINE + 64);
	ck_assert_uint_eq(last.publisher.len, 4);
}
END_TEST

START_TEST(a_window_tells_of_a_line_once)
{
	struct access a[130];

	for (int i = 0; i < 130; i++)
		a[i] = to(LINE + 8, 8, i % 3 ? ACCESS_LOAD : ACCESS_STORE);
	for (int i = 0; i < 4; i++)
		looks_through(&looks, 1 + i % 2, a, 130, &sink, NULL);
	ck_assert_int_eq(meetings, 2);
}
END_TEST

START_TEST(what_does_not_fit_is_left_out)
{
	struct access a = to(UINT64_MAX - 3, 8, ACCESS_STORE),
		      b = to(0, 8, ACCESS_STORE);

	for (int i = 0; i < 8; i++) {
		looks_through(&looks, 1 + i % 2, &a, 1, &sink, NULL);
		looks_through(&looks, 1 + i % 2, &b, 1, &sink, NULL);
		one(LOOKS_THREADS_MAX + i % 2, LINE, ACCESS_STORE);
	}
	ck_assert_int_eq(meetings, 0);
	/* the largest that fit */
	for (int i = 0; i < 8; i++)
		one(LOOKS_THREADS_MAX - 1 - i % 2, (1ull << 47) - 64,
		    ACCESS_STORE);
	ck_assert_int_eq(meetings, 6);
	ck_assert_uint_eq(last.line, (1ull << 47) - 64);
	ck_assert_uint_eq(last.publisher_thread, LOOKS_THREADS_MAX - 1);
}
END_TEST

/* The rules once more, in the plainest form, of a line. */
struct plain {
	int64_t owner; /* -1: nobody */
	bool met;
	int meetings;
};

static void plain_access(struct plain *p, uint32_t thread, bool store)
{
	bool meets = p->owner >= 0 && p->owner != thread && !p->met;

	if (meets) {
		p->meetings++;
		p->met = true;
	}
	if (store) {
		p->owner = thread;
		p->met = false;
	}
}

static int told[LINES];

static void note_line(void *ctx, const struct sighting *s)
{
	uint64_t i = (s->line - LINE) / 64;

	ck_assert_uint_lt(i, LINES);
	told[i]++;
}

static const struct looks_sink by_line = { lives, note_line };

/* In a window the first load of a line and its first store are looked up. */
static void plain_window(struct plain *p, uint32_t thread,
			 const struct access *a)
{
	bool looked[LINES] = { 0 }, stored[LINES] = { 0 };

	for (int i = 0; i < WINDOW; i++) {
		int line = (a[i].addr - LINE) / 64;
		bool store = a[i].flags & ACCESS_STORE;

		if (looked[line] && (!store || stored[line]))
			continue;
		looked[line] = true;
		stored[line] |= store;
		plain_access(&p[line], thread, store);
	}
}

START_TEST(random_windows_agree_with_the_plain_rules)
{
	struct plain plain[LINES];
	struct rng rng;
	int all = 0;

	rng_seed(&rng, _i, 0);
	memset(told, 0, sizeof(told));
	for (int i = 0; i < LINES; i++)
		plain[i] = (struct plain){ .owner = -1 };
	for (int w = 0; w < WINDOWS; w++) {
		uint32_t thread = rng_below(&rng, THREADS);
		struct access a[WINDOW];

		for (int i = 0; i < WINDOW; i++)
			a[i] = to(LINE + 64 * rng_below(&rng, LINES) +
					  8 * rng_below(&rng, 8),
				  8,
				  rng_below(&rng, 4) ? ACCESS_LOAD
						     : ACCESS_STORE);
		plain_window(plain, thread, a);
		looks_through(&looks, thread, a, WINDOW, &by_line, NULL);
	}
	for (int i = 0; i < LINES; i++) {
		ck_assert_int_eq(told[i], plain[i].meetings - 1);
		all += told[i];
	}
	ck_assert_int_gt(all, WINDOWS / 10);
}
END_TEST

static _Atomic int all_seen, mixed_up;

static void check_sighting(void *ctx, const struct sighting *s)
{
	uint32_t thread = *(uint32_t *)ctx;

	ck_assert_uint_eq(s->line % 64, 0);
	ck_assert_uint_eq(s->publisher.addr / 64, s->line / 64);
	ck_assert_uint_eq(s->publisher.ip, IP + 8);
	ck_assert_uint_lt(s->publisher_thread, THREADS);
	ck_assert_uint_ne(s->publisher_thread, thread);
	atomic_fetch_add(&all_seen, 1);
	/* each thread has its word of each line */
	if (s->publisher.addr % 64 != 8 * s->publisher_thread)
		atomic_fetch_add(&mixed_up, 1);
}

static const struct looks_sink checked = { lives, check_sighting };

static void *look_on(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg;
	struct rng rng;

	rng_seed(&rng, 7, thread);
	for (int w = 0; w < WINDOWS; w++) {
		struct access a[WINDOW];

		/* of 20,000 lines: entries have a new line all the time */
		for (int i = 0; i < WINDOW; i++)
			a[i] = to(LINE + 64 * rng_below(&rng, 20000) +
					  8 * thread,
				  8, ACCESS_STORE);
		a[0].addr = LINE + 8 * thread;
		looks_through(&looks, thread, a, WINDOW, &checked, &thread);
		sched_yield(); /* on one processor they take turns */
	}
	return NULL;
}

/* Under TSan, too. Of mixed words the check lets one in 128 through. */
START_TEST(threads_look_at_the_same_time)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, look_on, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_gt(all_seen, WINDOWS / 100);
	ck_assert_int_le(mixed_up, all_seen / 128);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("looks");
	TCase *t = tcase_create("looks");

	tcase_add_checked_fixture(t, forget, NULL);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, the_second_meeting_is_told);
	tcase_add_test(t, who_has_ended_is_met_no_more);
	tcase_add_test(t, data_that_was_handed_over_for_good_is_not_shared);
	tcase_add_test(t, readers_meet_each_store_that_was_seen_once);
	tcase_add_test(
		t, what_nobody_stores_to_and_what_one_thread_has_is_not_told);
	tcase_add_test(t, an_access_over_two_lines_is_to_both);
	tcase_add_test(t, a_window_tells_of_a_line_once);
	tcase_add_test(t, what_does_not_fit_is_left_out);
	tcase_add_loop_test(t, random_windows_agree_with_the_plain_rules, 0, 5);
	tcase_add_test(t, threads_look_at_the_same_time);
	suite_add_tcase(s, t);
	return run_suite(s);
}
