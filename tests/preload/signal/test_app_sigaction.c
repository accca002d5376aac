/* SPDX-License-Identifier: MIT */
/*
 * test_app_sigaction - the table behind a virtual sigaction
 *
 * The oracle among threads is conservation: of all wishes ever published each
 * is given back exactly once as the one before, but for the last.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "tests/run_suite.h"

/* Last: it forbids what a handler must not call. */
#include "preload/signal/app_sigaction.c"

enum {
	THREADS = 6,
	ROUNDS = 20000
};

/* All fields follow from @id. */
static struct app_sigaction make(uint64_t id)
{
	return (struct app_sigaction){ .handler = (void *)(uintptr_t)(id + 16),
				       .restorer = (void *)(uintptr_t)~id,
				       .mask = id * 3,
				       .flags = (int)id };
}

static uint64_t id_of(const struct app_sigaction *w)
{
	return (uint64_t)(uintptr_t)w->handler - 16;
}

static bool is_whole(const struct app_sigaction *w)
{
	struct app_sigaction should = make(id_of(w));

	return w->restorer == should.restorer && w->mask == should.mask &&
	       w->flags == should.flags;
}

START_TEST(nothing_published_is_the_default)
{
	struct app_sigaction w = make(1);

	ck_assert_uint_eq(app_sigaction_read(&w), 0);
	ck_assert_ptr_null(w.handler);
	ck_assert_int_eq(w.flags, 0);
}
END_TEST

START_TEST(publish_gives_back_the_wish_before)
{
	struct app_sigaction w, before;

	for (uint64_t i = 1; i < 1000; i++) {
		w = make(i);
		ck_assert(app_sigaction_publish(&w, &before));
		if (i > 1)
			ck_assert_uint_eq(id_of(&before), i - 1);
		else
			ck_assert_ptr_null(before.handler);
		ck_assert(app_sigaction_read(&w) != 0);
		ck_assert_uint_eq(id_of(&w), i);
		ck_assert(is_whole(&w));
	}
}
END_TEST

START_TEST(reset_sets_the_default_and_keeps_the_rest)
{
	struct app_sigaction w = make(5), before;
	uint64_t ticket;

	app_sigaction_publish(&w, &before);
	ticket = app_sigaction_read(&w);
	for (int i = 0; i < 200; i++) /* the slots of failures are freed */
		app_sigaction_reset(ticket);
	app_sigaction_read(&w);
	ck_assert_ptr_null(w.handler);
	ck_assert_uint_eq(w.mask, make(5).mask);
	ck_assert_int_eq(w.flags, make(5).flags);
}
END_TEST

START_TEST(reset_leaves_a_newer_wish)
{
	struct app_sigaction w = make(5), before;
	uint64_t ticket;

	app_sigaction_publish(&w, &before);
	ticket = app_sigaction_read(&w);
	w = make(6);
	app_sigaction_publish(&w, &before);
	for (int i = 0; i < 200; i++)
		app_sigaction_reset(ticket);
	app_sigaction_read(&w);
	ck_assert_uint_eq(id_of(&w), 6);
}
END_TEST

START_TEST(without_a_free_slot_publish_refuses)
{
	struct app_sigaction w = make(7), before;

	ck_assert(app_sigaction_publish(&w, &before));
	while (take_slot())
		;
	w = make(8);
	ck_assert(!app_sigaction_publish(&w, &before));
	app_sigaction_read(&w);
	ck_assert_uint_eq(id_of(&w), 7);
}
END_TEST

static _Atomic uint8_t given_back[THREADS * ROUNDS + 1];
static _Atomic int torn, finished;

static void *publish_many(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg * ROUNDS + 1;
	struct app_sigaction w, before;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		w = make(first + i);
		if (!app_sigaction_publish(&w, &before) || !is_whole(&before))
			torn++;
		else
			given_back[id_of(&before)]++;
	}
	finished++;
	return NULL;
}

static void *read_many(void *arg)
{
	struct app_sigaction w;

	while (finished < THREADS)
		if (!app_sigaction_read(&w) || !is_whole(&w))
			torn++;
	return NULL;
}

START_TEST(each_wish_is_whole_and_given_back_once)
{
	struct app_sigaction w = make(0), before;
	pthread_t t[THREADS + 2];

	app_sigaction_publish(&w, &before);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, publish_many, (void *)(uintptr_t)i);
	for (int i = THREADS; i < THREADS + 2; i++)
		pthread_create(&t[i], NULL, read_many, NULL);
	for (int i = 0; i < THREADS + 2; i++)
		pthread_join(t[i], NULL);
	ck_assert_int_eq(torn, 0);
	app_sigaction_read(&w);
	for (uint64_t i = 0; i <= THREADS * ROUNDS; i++)
		ck_assert_msg(given_back[i] == (i != id_of(&w)),
			      "wish %llu was given back %d times",
			      (unsigned long long)i, given_back[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wish");
	TCase *t = tcase_create("wish");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, nothing_published_is_the_default);
	tcase_add_test(t, publish_gives_back_the_wish_before);
	tcase_add_test(t, reset_sets_the_default_and_keeps_the_rest);
	tcase_add_test(t, reset_leaves_a_newer_wish);
	tcase_add_test(t, without_a_free_slot_publish_refuses);
	tcase_add_test(t, each_wish_is_whole_and_given_back_once);
	suite_add_tcase(s, t);
	return run_suite(s);
}
