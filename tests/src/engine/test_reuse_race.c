/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_race - threads that race for the slots of the reuse engine
 */
#include <pthread.h>
#include <unistd.h>

#include "src/engine/reuse_table.h"
#include "reuse_hand.h"
#include "tests/run_suite.h"

enum {
	RACERS = 4,
	RACES = 20000,
};

/* Threads that sample and trap at once, all on few lines and slots. */
struct race {
	struct reuse *reuse;
	struct reuse_table *table;
	_Atomic uint64_t weights, events;
	bool slow;      /* to arm and disarm, now and then */
	uint64_t words; /* if not 0: that each thread sweeps */
};

struct racer {
	struct race *race;
	struct reuse_thread t;
	struct rng rng; /* for pauses */
	pthread_t id;
};

/* As if the processor went to others. */
static void pause_now_and_then(struct racer *r)
{
	if (r->race->slow && !rng_below(&r->rng, 4))
		usleep(200);
}

static int race_arm(void *ctx, const struct reuse_watched *w)
{
	struct racer *r = ctx;

	pause_now_and_then(r);
	reuse_table_add(r->race->table, 0, w);
	return 0;
}

static void race_disarm(void *ctx, uint32_t slot)
{
	struct racer *r = ctx;

	pause_now_and_then(r);
	reuse_table_remove(r->race->table, 0, slot);
}

static void race_decided(void *ctx, const struct reuse_event *v)
{
	struct race *race = ((struct racer *)ctx)->race;

	if (v->outcome == REUSE_NOTHING || !v->weight)
		ck_abort_msg("an event of nothing");
	if (race->words && v->outcome != REUSE_DANGLING &&
	    (v->outcome != REUSE_REUSED || v->time != race->words))
		ck_abort_msg("outcome %d after %lu", v->outcome, v->time);
	race->weights += v->weight;
	race->events++;
}

static const struct reuse_watch race_watch = { race_arm, race_disarm, NULL };
static const struct reuse_sink race_sink = { race_decided };

static void race_access(struct racer *r, const struct access *a, uint64_t i,
			bool sampled)
{
	struct reuse_hit hit[REUSE_TABLE_HITS];
	uint32_t n = reuse_table_find(r->race->table, a, &r->t.place, hit);

	for (uint32_t k = 0; k < n; k++)
		reuse_trap(r->race->reuse, &r->t, hit[k].slot,
			   hit[k].generation, a, i);
	if (sampled)
		reuse_sample(r->race->reuse, &r->t, a, i);
}

static void *run(void *arg)
{
	struct racer *r = arg;
	struct rng rng;

	rng_seed(&rng, 1, r->t.place.thread);
	for (uint64_t i = 1; i <= RACES; i++) {
		struct access a =
			at(BASE + 4 * rng_below(&rng, 60), rng_below(&rng, 2));

		race_access(r, &a, i, !rng_below(&rng, 3));
	}
	reuse_thread_end(r->race->reuse, &r->t);
	return NULL;
}

/* Each thread its own words, again and again. */
static void *run_sweeps(void *arg)
{
	struct racer *r = arg;
	uint64_t base = BASE + 0x1000 * r->t.place.thread;

	for (uint64_t i = 1; i <= RACES; i++) {
		struct access a = at(base + 8 * (i % r->race->words), i % 2);

		race_access(r, &a, i, i % 7 == 0);
	}
	reuse_thread_end(r->race->reuse, &r->t);
	return NULL;
}

static struct reuse_stats race(struct race *race, struct reuse_config c,
			       void *(*fn)(void *))
{
	uint32_t slots[REUSE_TABLE_ENGINES] = { c.slots };
	struct racer racer[RACERS];

	c.spins = 0;
	race->reuse =
		reuse_init(map(reuse_size(&c)), &c, &race_watch, &race_sink);
	race->table = reuse_table_init(map(reuse_table_size(slots)), slots);
	for (int i = 0; i < RACERS; i++) {
		racer[i].race = race;
		rng_seed(&racer[i].rng, 2, i);
		reuse_thread_init(&racer[i].t, &places[i], &racer[i], 1);
		pthread_create(&racer[i].id, NULL, fn, &racer[i]);
	}
	for (int i = 0; i < RACERS; i++)
		pthread_join(racer[i].id, NULL);
	reuse_finish(race->reuse, &racer[0].t);
	return reuse_stats(race->reuse);
}

START_TEST(however_long_arming_takes_times_are_right)
{
	struct race r = { .slow = true, .words = 40 };
	struct reuse_stats s = race(
		&r, config(REUSE_PRIVATE, REUSE_ADDRESS, 2 + _i), run_sweeps);

	ck_assert_uint_gt(r.events, 100);
	ck_assert_uint_eq(r.weights + s.failed, s.uses);
	ck_assert_uint_eq(s.busy + s.busy_traps, 0);
}
END_TEST

START_TEST(threads_that_race_lose_no_weight)
{
	struct race r = { .slow = false };
	struct reuse_stats s =
		race(&r, config(_i % REUSE_SCOPES, _i / REUSE_SCOPES, 3), run);

	ck_assert_uint_gt(s.uses, RACERS * RACES / 4);
	ck_assert_uint_eq(r.weights + s.failed, s.uses);
	ck_assert_uint_eq(s.busy + s.busy_traps, 0);
	/* And the table watches nothing any more. */
	for (uint64_t a = BASE - 256; a < BASE + 512; a += 8)
		ck_assert(!reuse_may_watch(reuse_table_bytes(r.table), a, 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reuse_race");
	TCase *tc = tcase_create("reuse_race");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, however_long_arming_takes_times_are_right, 0,
			    2);
	tcase_add_loop_test(tc, threads_that_race_lose_no_weight, 0,
			    REUSE_SCOPES * REUSE_GRANULARITIES);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
