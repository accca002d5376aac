/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_race - real threads that access the same few lines
 */
#include <pthread.h>
#include <sched.h>

#include "transfer_hand.h"
#include "tests/run_suite.h"

enum {
	RACERS = 4,
	RACES = 10000,
	ROUNDS_MAX = 200
};

struct race {
	struct transfer *transfer;
	_Atomic uint64_t now;
	_Atomic uint64_t armed[2]; /* line number, generation: a word */
	_Atomic uint64_t chains, events;
	pthread_barrier_t start;
};

struct racer {
	struct race *race;
	struct transfer_thread t;
};

static int race_arm(void *ctx, const struct transfer_watched *w, uint64_t now,
		    uint64_t *ready)
{
	struct race *r = ((struct racer *)ctx)->race;

	r->armed[w->slot] =
		(uint64_t)w->generation << 8 | (w->line - BASE) / LINE;
	*ready = r->now;
	return 0;
}

static void race_disarm(void *ctx, uint32_t slot)
{
	((struct racer *)ctx)->race->armed[slot] = 0xFF;
}

static void race_chain(void *ctx, const struct transfer_chain *c)
{
	struct race *r = ((struct racer *)ctx)->race;

	ck_assert_uint_ge(c->n, 1);
	for (uint32_t i = 0; i < c->n; i++) {
		ck_assert_uint_ne(c->event[i].from, c->event[i].to);
		ck_assert_uint_lt(c->event[i].to, RACERS);
		ck_assert_double_gt(c->event[i].weight, 0);
	}
	r->chains++;
	r->events += c->n;
}

static void *race(void *arg)
{
	struct racer *me = arg;
	struct race *r = me->race;
	struct rng rng;

	rng_seed(&rng, 3, me->t.id);
	pthread_barrier_wait(&r->start);
	for (int i = 0; i < RACES; i++) {
		uint32_t line = rng_below(&rng, 3);
		struct access a =
			word(line, rng_below(&rng, 8),
			     rng_below(&rng, 2) ? ACCESS_LOAD : ACCESS_STORE);
		uint64_t now = ++r->now;

		for (uint32_t slot = 0; slot < 2; slot++) {
			uint64_t armed = r->armed[slot];

			if ((armed & 0xFF) == line)
				transfer_trap(r->transfer, &me->t, slot,
					      armed >> 8, 0, &a, now, 0);
		}
		/* There may be fewer cores than threads. */
		if (i % 50 == 0)
			sched_yield();
		if (rng_below(&rng, 20) == 0)
			transfer_sample(r->transfer, &me->t, &a, now, 0);
	}
	return NULL;
}

START_TEST(threads_that_race_keep_the_books_balanced)
{
	static const struct transfer_watch watch = { race_arm, race_disarm };
	static const struct transfer_sink sink = { race_chain };
	struct transfer_config c =
		config(_i % 2 ? TRANSFER_CHAIN : TRANSFER_EPOCH);
	static struct race r;
	struct racer racer[RACERS];
	pthread_t thread[RACERS];
	struct transfer_stats n;

	c.slots = 2;
	c.spins = _i < 2 ? 0 : 3;
	r.armed[0] = r.armed[1] = 0xFF;
	r.transfer = transfer_init(map(transfer_size(&c)), &c, &watch, &sink);
	ck_assert_int_eq(pthread_barrier_init(&r.start, NULL, RACERS), 0);
	for (uint32_t i = 0; i < RACERS; i++) {
		racer[i].race = &r;
		transfer_thread_init(&racer[i].t, i, &racer[i], 9);
	}
	/* Where the kernel runs the threads one after the other, few race. */
	for (int round = 0; round < ROUNDS_MAX && r.chains <= 10; round++) {
		for (uint32_t i = 0; i < RACERS; i++)
			ck_assert_int_eq(pthread_create(&thread[i], NULL, race,
							&racer[i]),
					 0);
		for (int i = 0; i < RACERS; i++)
			pthread_join(thread[i], NULL);
	}
	n = transfer_stats(r.transfer);
	/* Each accepted sample is finished, displaced, or still watched. */
	ck_assert_uint_ge(n.accepted, n.finished + n.displaced + n.arm_failed);
	ck_assert_uint_le(n.accepted,
			  n.finished + n.displaced + n.arm_failed + 2);
	ck_assert_uint_le(n.accepted, n.candidates);
	ck_assert_uint_le(r.events, n.traps);
	ck_assert_uint_gt(r.chains, 10);
	if (_i < 2)
		ck_assert_uint_eq(n.busy, 0);
	transfer_finish(r.transfer, &racer[0].t);
	ck_assert_uint_eq(r.armed[0] & r.armed[1], 0xFF);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_race");
	TCase *tc = tcase_create("transfer_race");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, threads_that_race_keep_the_books_balanced, 0,
			    4);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
