/* SPDX-License-Identifier: MIT */
/*
 * test_sync_slow - random threads, against a second implementation
 *
 * The second one keeps no lists: after each event it looks at all threads that
 * wait, those that came first before the others, whether they may go on.
 */
#include <math.h>

#include "src/base/rng.h"
#include "tests/fake/fake_epochs.h"
#include "tests/run_suite.h"

enum {
	LOCKS = 3,
	TRIES = 2000,
};

static struct {
	size_t next;
	double at; /* of its next event; while it waits: when it came */
	bool waits, over;
} slow[THREADS];
static int owner[LOCKS], readers[LOCKS], arrived;
static double end_of[THREADS];
static struct rng rng;

static double some_time(void)
{
	return 1 + (double)rng_below(&rng, 1000000) / 1000;
}

/* Locks around work, and the same number of barriers in each thread. */
static void make_threads(uint32_t n)
{
	uint32_t meetings = (uint32_t)rng_below(&rng, 3);

	for (uint32_t i = 0; i < n; i++) {
		add_thread(true);
		for (uint32_t k = 0; k <= meetings; k++) {
			for (uint64_t j = rng_below(&rng, 4); j; j--) {
				uint64_t lock = rng_below(&rng, LOCKS);

				add(i, some_time(),
				    rng_below(&rng, 3) ? SYNC_LOCK
						       : SYNC_READ_LOCK,
				    lock);
				add(i, some_time(), SYNC_UNLOCK, lock);
			}
			if (k < meetings)
				add(i, some_time(), SYNC_BARRIER, 99)
					->argument = n;
		}
		add_end(i, some_time());
	}
}

static const struct sync_epoch *now_of(uint32_t i)
{
	return &epoch[i][slow[i].next];
}

/* May thread @i, which asked for a lock, have it? */
static bool free_for(uint32_t i)
{
	uint64_t lock = now_of(i)->event.object;
	bool reads = now_of(i)->event.kind == SYNC_READ_LOCK;

	return owner[lock] < 0 && (reads || !readers[lock]);
}

static void have_lock(uint32_t i)
{
	uint64_t lock = now_of(i)->event.object;

	if (now_of(i)->event.kind == SYNC_READ_LOCK)
		readers[lock]++;
	else
		owner[lock] = (int)i;
}

static void go_on(uint32_t i, double time)
{
	slow[i].waits = false;
	slow[i].next++;
	slow[i].at = time + now_of(i)->duration;
}

/* Those that wait for @lock, in the order of coming. */
static void let_in(uint64_t lock, double time)
{
	for (;;) {
		int best = -1;

		for (uint32_t i = 0; i < threads; i++)
			if (slow[i].waits &&
			    now_of(i)->event.kind != SYNC_BARRIER &&
			    now_of(i)->event.object == lock && free_for(i) &&
			    (best < 0 || slow[i].at < slow[best].at))
				best = (int)i;
		if (best < 0)
			return;
		have_lock((uint32_t)best);
		go_on((uint32_t)best, time);
	}
}

static void do_event(uint32_t i)
{
	const struct sync_event *e = &now_of(i)->event;
	double time = slow[i].at;

	switch (e->kind) {
	case SYNC_LOCK:
	case SYNC_READ_LOCK:
		slow[i].waits = !free_for(i);
		if (slow[i].waits)
			return;
		have_lock(i);
		go_on(i, time);
		break;
	case SYNC_UNLOCK:
		if (owner[e->object] == (int)i)
			owner[e->object] = -1;
		else
			readers[e->object]--;
		let_in(e->object, time);
		go_on(i, time);
		break;
	case SYNC_BARRIER:
		slow[i].waits = true;
		if (++arrived < (int)threads)
			return;
		arrived = 0;
		for (uint32_t k = 0; k < threads; k++)
			go_on(k, time);
		break;
	default:
		slow[i].over = true;
		end_of[i] = time;
	}
}

static void run_slowly(void)
{
	memset(slow, 0, sizeof(slow));
	memset(readers, 0, sizeof(readers));
	arrived = 0;
	for (int i = 0; i < LOCKS; i++)
		owner[i] = -1;
	for (uint32_t i = 0; i < threads; i++)
		slow[i].at = epoch[i][0].duration;
	for (;;) {
		int first = -1;

		for (uint32_t i = 0; i < threads; i++)
			if (!slow[i].waits && !slow[i].over &&
			    (first < 0 || slow[i].at < slow[first].at))
				first = (int)i;
		if (first < 0)
			return;
		do_event((uint32_t)first);
	}
}

START_TEST(both_implementations_agree_on_random_threads)
{
	rng_seed(&rng, 1, 7);
	for (int k = 0; k < TRIES; k++) {
		begin();
		make_threads(2 + (uint32_t)rng_below(&rng, THREADS - 1));
		run();
		run_slowly();
		for (uint32_t i = 0; i < threads; i++)
			ck_assert_msg(fabs(replay.time[i].end - end_of[i]) <
					      1e-6,
				      "try %d, thread %u: %f, not %f", k, i,
				      replay.time[i].end, end_of[i]);
		end();
	}
}
END_TEST

/* With fewer cores nothing ends sooner, and no time is lost. */
START_TEST(time_on_cores_waits_and_queues_add_up)
{
	rng_seed(&rng, 1, 8);
	for (int k = 0; k < TRIES; k++) {
		begin();
		make_threads(2 + (uint32_t)rng_below(&rng, THREADS - 1));
		options.cores = 1 + (uint32_t)rng_below(&rng, THREADS);
		run();
		for (uint32_t i = 0; i < threads; i++) {
			const struct sync_times *t = &replay.time[i];
			double active = 0;

			for (size_t e = 0; e < thread[i].epochs; e++)
				active += epoch[i][e].duration;
			ck_assert_double_eq_tol(t->end - t->start,
						active + t->waited + t->queued,
						1e-6);
		}
		for (size_t a = 0; a < replay.intervals; a++)
			for (size_t b = 0; b < a; b++)
				ck_assert(replay.interval[a].core !=
						  replay.interval[b].core ||
					  replay.interval[a].begin >=
						  replay.interval[b].end);
		end();
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sync_slow");
	TCase *t = tcase_create("sync_slow");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, both_implementations_agree_on_random_threads);
	tcase_add_test(t, time_on_cores_waits_and_queues_add_up);
	suite_add_tcase(s, t);
	return run_suite(s);
}
