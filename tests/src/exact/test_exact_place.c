/* SPDX-License-Identifier: MIT */
/*
 * test_exact_place - an access tells when it has its place among others
 */
#include <pthread.h>
#include <sched.h>

#include "exact_hand.h"
#include "tests/run_suite.h"

enum {
	RACERS = 4,
	RACES = 20000,
};

/* The order of the accesses to one line, as their callbacks saw it. */
struct order {
	struct exact *x;
	uint32_t n;
	uint32_t thread[RACERS * RACES]; /* written with the line's lock */
};

struct in_order {
	struct order *order;
	struct exact_thread thread;
};

static void note_place(void *ctx)
{
	struct in_order *i = ctx;

	i->order->thread[i->order->n++] = i->thread.id;
}

static void *store_in_order(void *ctx)
{
	struct in_order *i = ctx;
	struct access a = { .addr = BASE, .len = 4, .flags = ACCESS_STORE };

	for (int k = 0; k < RACES; k++) {
		exact_access_then(i->order->x, &i->thread, &a, 0, note_place,
				  i);
		if (k % 16 == 15)
			sched_yield();
	}
	return NULL;
}

START_TEST(places_are_told_in_the_order_in_which_transfers_are_counted)
{
	static struct in_order racer[RACERS];
	static struct order order;
	struct exact_config c = config(RACERS, NULL);
	uint64_t transfers = 0;
	pthread_t t[RACERS];

	order.x = exact_init(map(exact_size(&c)), &c);
	for (uint32_t i = 0; i < RACERS; i++) {
		racer[i].order = &order;
		exact_thread_init(order.x, &racer[i].thread, i);
		ck_assert_int_eq(
			pthread_create(&t[i], NULL, store_in_order, &racer[i]),
			0);
	}
	for (uint32_t i = 0; i < RACERS; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(order.n, RACERS * RACES);
	for (uint32_t i = 1; i < order.n; i++)
		transfers += order.thread[i] != order.thread[i - 1];
	ck_assert_uint_eq(exact_total(order.x).transfers, transfers);
}
END_TEST

static void count_call(void *calls)
{
	++*(int *)calls;
}

START_TEST(a_place_is_told_once_and_not_if_there_is_none)
{
	const struct exact_config c = config(1, NULL);
	struct exact_thread thread[1];
	struct exact *x = directory(&c, thread);
	struct access a = { .addr = BASE + LINE - 4,
			    .len = 8,
			    .flags = ACCESS_STORE };
	int calls = 0;

	exact_access_then(x, &thread[0], &a, 0, count_call, &calls);
	ck_assert_int_eq(calls, 1); /* of two lines */
	exact_access_then(x, &thread[0], &a, 0, count_call, &calls);
	ck_assert_int_eq(calls, 2);
	a.flags = ACCESS_LOAD;
	exact_access_then(x, &thread[0], &a, 0, count_call, &calls);
	ck_assert_int_eq(calls, 3);
	exact_access(x, &thread[0], &a, 0);
	ck_assert_int_eq(calls, 3);
	thread[0].inside = 1;
	exact_access_then(x, &thread[0], &a, 0, count_call, &calls);
	ck_assert_int_eq(calls, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact_place");
	TCase *tc = tcase_create("exact_place");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(
		tc,
		places_are_told_in_the_order_in_which_transfers_are_counted);
	tcase_add_test(tc, a_place_is_told_once_and_not_if_there_is_none);
	return run_suite(suite);
}
