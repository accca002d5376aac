/* SPDX-License-Identifier: MIT */
/*
 * test_inside - a sandbox waits for threads between two of our system calls
 */
#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "preload/core/inside.h"
#include "preload/core/runtime.h"
#include "preload/core/timing.h"
#include "tests/run_suite.h"

#define SECOND 1000000000ull

static _Atomic bool active;
static uint64_t now, step; /* of a clock that goes on at each look */

bool runtime_active(void)
{
	return active;
}

uint64_t now_ns(void)
{
	return now += step;
}

static void set_up(void)
{
	active = true;
	now = step = 0;
	inside_reset();
}

static sem_t entered;
static _Atomic bool left;

/* A thread that has no processor for a fifth of a second. */
static void *enter(void *argument)
{
	const struct timespec wait = { .tv_nsec = 200 * 1000 * 1000 };

	ck_assert(inside_enter());
	sem_post(&entered);
	nanosleep(&wait, NULL);
	left = true;
	inside_leave();
	return NULL;
}

START_TEST(draining_waits_for_a_thread_that_is_slow)
{
	pthread_t t;

	left = false;
	sem_init(&entered, 0, 0);
	ck_assert_int_eq(pthread_create(&t, NULL, enter, NULL), 0);
	sem_wait(&entered);
	active = false;
	inside_drain();
	ck_assert(left);
	pthread_join(t, NULL);
}
END_TEST

START_TEST(who_enters_later_is_told)
{
	active = false;
	inside_drain();
	ck_assert(!inside_enter());
	inside_leave();
}
END_TEST

START_TEST(draining_ends_though_one_never_leaves)
{
	step = SECOND;
	ck_assert(inside_enter());
	active = false;
	inside_drain();
	ck_assert_uint_ge(now, 10 * SECOND);
	ck_assert_uint_le(now, 12 * SECOND);
	inside_reset(); /* a forked child */
	now = 0;
	inside_drain();
	ck_assert_uint_le(now, 2 * SECOND);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("inside");
	TCase *tc = tcase_create("inside");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, draining_waits_for_a_thread_that_is_slow);
	tcase_add_test(tc, who_enters_later_is_told);
	tcase_add_test(tc, draining_ends_though_one_never_leaves);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
