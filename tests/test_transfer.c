/* SPDX-License-Identifier: MIT */
/*
 * test_transfer - the rules of the estimators, driven by hand
 *
 * A watch that only writes down what it is asked, a sink that keeps the last
 * chain, and samples and traps one by one.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/transfer.h"
#include "src/transfer_tally.h"

enum {
	LINE = 64,
	BASE = 0x40000,
	PERIOD = 1000,
	THREADS = 4,
	RACERS = 4,
	RACES = 10000
};

/* The caller of an estimator; all of its threads share one. */
struct hand {
	struct transfer *transfer;
	struct transfer_thread thread[THREADS];
	struct transfer_watched armed[TRANSFER_SLOTS_MAX];
	bool live[TRANSFER_SLOTS_MAX];
	int arms, disarms, chains;
	int fail;       /* what arming returns */
	uint64_t delay; /* that arming takes */
	struct transfer_chain chain;
	struct transfer_event event[16];
	/* Called once while the registers are being programmed. */
	void (*meanwhile)(struct hand *h);
	/* Called once by the sink. */
	void (*in_sink)(struct hand *h);
};

static void call_once(struct hand *h, void (**what)(struct hand *h))
{
	void (*f)(struct hand * h) = *what;

	*what = NULL;
	if (f)
		f(h);
}

static int hand_arm(void *ctx, const struct transfer_watched *w, uint64_t now,
		    uint64_t *ready)
{
	struct hand *h = ctx;

	h->arms++;
	call_once(h, &h->meanwhile);
	*ready = now + h->delay;
	if (h->fail)
		return h->fail;
	h->armed[w->slot] = *w;
	h->live[w->slot] = true;
	return 0;
}

static void hand_disarm(void *ctx, uint32_t slot)
{
	struct hand *h = ctx;

	h->disarms++;
	call_once(h, &h->meanwhile);
	h->live[slot] = false;
}

static void hand_chain(void *ctx, const struct transfer_chain *c)
{
	struct hand *h = ctx;

	h->chains++;
	h->chain = *c;
	memcpy(h->event, c->event, (c->n < 16 ? c->n : 16) * sizeof(*c->event));
	call_once(h, &h->in_sink);
}

static const struct transfer_watch hand_watch = { hand_arm, hand_disarm };
static const struct transfer_sink hand_sink = { hand_chain };

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static struct transfer_config config(enum transfer_kind kind)
{
	return (struct transfer_config){
		.kind = kind,
		.threads = THREADS,
		.slots = 1,
		.line_bytes = LINE,
		.chunk_bytes = LINE,
		.ranges = 1,
		.spins = 10,
		.period = PERIOD,
	};
}

static struct hand hand;

static struct hand *start(struct transfer_config c, uint64_t seed)
{
	struct hand *h = &hand;

	memset(h, 0, sizeof(*h));
	ck_assert_uint_ne(transfer_size(&c), 0);
	h->transfer = transfer_init(map(transfer_size(&c)), &c, &hand_watch,
				    &hand_sink);
	ck_assert_ptr_nonnull(h->transfer);
	for (uint32_t i = 0; i < THREADS; i++)
		transfer_thread_init(&h->thread[i], i, h, seed);
	return h;
}

static struct access word(uint32_t line, uint32_t n, uint32_t flags)
{
	return (struct access){ .addr = BASE + line * LINE + n * 8,
				.len = 8,
				.flags = flags };
}

static void sample(struct hand *h, uint32_t thread, struct access a,
		   uint64_t now)
{
	transfer_sample(h->transfer, &h->thread[thread], &a, now, 0);
}

static enum transfer_need trap(struct hand *h, uint32_t thread, struct access a,
			       uint64_t now)
{
	return transfer_trap(h->transfer, &h->thread[thread], 0,
			     h->armed[0].generation, 0, &a, now, 10 + thread);
}

static struct transfer_stats stats(const struct hand *h)
{
	return transfer_stats(h->transfer);
}

START_TEST(epoch_credits_each_first_touch_until_the_next_store)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	ck_assert(h->live[0]);
	ck_assert_uint_eq(h->armed[0].line, BASE);
	ck_assert_uint_eq(h->armed[0].n, 1);
	ck_assert_uint_eq(h->armed[0].range[0].len, LINE);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 1);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 2);
	trap(h, 0, word(0, 1, ACCESS_LOAD), 3);
	trap(h, 2, word(0, 5, ACCESS_LOAD), 4);
	ck_assert_int_eq(h->chains, 0);
	trap(h, 3, word(0, 5, ACCESS_STORE), 5);
	ck_assert_int_eq(h->chains, 1);
	ck_assert(!h->live[0]);
	ck_assert_uint_eq(h->chain.n, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(h->event[i].from, 0);
		ck_assert_uint_eq(h->event[i].to, i + 1);
		ck_assert_uint_eq(h->event[i].to_core, 11 + i);
		ck_assert_double_eq(h->event[i].weight, PERIOD);
		ck_assert_double_eq(h->event[i].weight_false,
				    i == 0 ? 0 : PERIOD);
	}
	trap(h, 2, word(0, 1, ACCESS_STORE), 6);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(stats(h).stale, 1);
	ck_assert_uint_eq(stats(h).traps, 3);
	ck_assert_uint_eq(stats(h).idle_traps, 2);
}
END_TEST

START_TEST(false_mark_is_taken_back_within_the_epoch)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 2, ACCESS_LOAD), 1);
	trap(h, 2, word(0, 2, ACCESS_LOAD), 2);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 3);
	/* The store that ends the epoch is an access of it too. */
	trap(h, 2, word(0, 1, ACCESS_STORE), 4);
	ck_assert_uint_eq(h->chain.n, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_double_eq(h->event[i].weight, PERIOD);
		ck_assert_double_eq(h->event[i].weight_false, 0);
	}
}
END_TEST

START_TEST(what_has_to_be_watched_shrinks_as_an_epoch_goes_on)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	ck_assert_int_eq(trap(h, 0, word(0, 1, ACCESS_LOAD), 1),
			 TRANSFER_NEED_STORES);
	ck_assert_int_eq(trap(h, 1, word(0, 2, ACCESS_LOAD), 2),
			 TRANSFER_NEED_STORES_AND_ORIGIN);
	ck_assert_int_eq(trap(h, 1, word(0, 1, ACCESS_LOAD), 3),
			 TRANSFER_NEED_STORES);
	ck_assert_int_eq(trap(h, 1, word(0, 1, ACCESS_STORE), 4),
			 TRANSFER_NEED_NOTHING);
	h = start(config(TRANSFER_CHAIN), 1);
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	ck_assert_int_eq(trap(h, 0, word(0, 1, ACCESS_STORE), 1),
			 TRANSFER_NEED_ALL);
	ck_assert_int_eq(trap(h, 1, word(0, 1, ACCESS_LOAD), 2),
			 TRANSFER_NEED_ALL);
}
END_TEST

START_TEST(chain_starts_at_the_first_store_after_arming)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 1, ACCESS_STORE), 100);
	trap(h, 1, word(0, 1, ACCESS_STORE), 109); /* early */
	trap(h, 1, word(0, 1, ACCESS_LOAD), 110);  /* of X: ignored */
	ck_assert_uint_eq(stats(h).early, 1);
	/* Y1 comes at once: 16 epochs, of two transfers each. */
	trap(h, 2, word(0, 3, ACCESS_STORE), 112);
	for (int i = 0; i < TRANSFER_EPOCHS; i++) {
		ck_assert_int_eq(h->chains, 0);
		trap(h, 3, word(0, 3, ACCESS_LOAD), 200 + 100 * i);
		trap(h, 1 + i % 2, word(0, 3, ACCESS_STORE), 250 + 100 * i);
	}
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS);
	ck_assert_uint_eq(h->chain.n, 2 * TRANSFER_EPOCHS);
	ck_assert_uint_eq(h->event[0].from, 2);
	ck_assert_uint_eq(h->event[0].to, 3);
	for (int i = 0; i < 16; i++)
		ck_assert_double_eq(h->event[i].weight,
				    (double)PERIOD / TRANSFER_EPOCHS);
}
END_TEST

START_TEST(chain_after_a_pause_ends_with_the_first_long_epoch)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 1, ACCESS_STORE), 21); /* 11 after: a pause */
	for (int i = 1; i < 30; i++)
		trap(h, 1, word(0, 1, ACCESS_STORE), 21 + 10 * i);
	ck_assert_int_eq(h->chains, 0);
	trap(h, 2, word(0, 1, ACCESS_STORE), 21 + 10 * 29 + 11);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, 30);
	ck_assert_uint_eq(h->chain.n, 1);
	ck_assert_double_eq_tol(h->event[0].weight, PERIOD / 30.0, 1e-9);
}
END_TEST

START_TEST(chain_after_a_pause_holds_several_epochs)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	for (int i = 1; i <= TRANSFER_EPOCHS_LEAST; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE), 100 * i);
	ck_assert_int_eq(h->chains, 0);
	trap(h, 1, word(0, 1, ACCESS_STORE), 1000);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS_LEAST);
}
END_TEST

START_TEST(a_clock_that_goes_back_makes_no_pause)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 1, ACCESS_STORE), 100);
	for (int i = 1; i < 30; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE), 100 - i);
	ck_assert_int_eq(h->chains, 0);
}
END_TEST

START_TEST(chain_after_a_pause_has_an_end)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 1, ACCESS_STORE), 1000);
	for (int i = 1; i <= TRANSFER_EPOCHS_MAX; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE), 1000 + i);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS_MAX);
	ck_assert(!h->live[0]);
}
END_TEST

START_TEST(the_nth_candidate_is_kept_once_in_n_and_weighs_n_periods)
{
	enum {
		TRIES = 4000,
		N = 5
	};
	double credit[N] = { 0 };
	int kept[N] = { 0 };

	for (int seed = 0; seed < TRIES; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);
		uint32_t line;

		for (int i = 0; i < N; i++)
			sample(h, 0, word(i, 0, ACCESS_STORE), i);
		line = (h->armed[0].line - BASE) / LINE;
		trap(h, 1, word(line, 0, ACCESS_STORE), N);
		ck_assert_uint_eq(stats(h).candidates, N);
		ck_assert_uint_eq(stats(h).displaced + 1, stats(h).accepted);
		ck_assert_double_eq(h->event[0].weight, N * PERIOD);
		kept[line]++;
		credit[line] += h->event[0].weight;
	}
	/* Five standard deviations of a share of one in five. */
	for (int i = 0; i < N; i++) {
		double sd = sqrt(TRIES * 0.2 * 0.8);

		ck_assert_double_le(fabs(kept[i] - TRIES / 5.0), 5 * sd);
		ck_assert_double_le(fabs(credit[i] / TRIES / PERIOD - 1),
				    5 * sd * N / TRIES);
	}
}
END_TEST

/* One sampled store, one reader, judged false before another candidate and
 * true after it: in the mean nothing false may remain. */
START_TEST(marks_taken_back_after_a_displacement_cancel_in_the_mean)
{
	enum {
		TRIES = 4000
	};
	double all = 0, of_false = 0;

	for (int seed = 0; seed < TRIES; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);
		uint32_t generation;

		sample(h, 0, word(0, 1, ACCESS_STORE), 0);
		generation = h->armed[0].generation;
		trap(h, 1, word(0, 2, ACCESS_LOAD), 1);
		sample(h, 2, word(7, 0, ACCESS_STORE), 2);
		if (h->armed[0].generation == generation) {
			trap(h, 1, word(0, 1, ACCESS_LOAD), 3);
			trap(h, 1, word(0, 1, ACCESS_STORE), 4);
		}
		ck_assert_uint_eq(h->chain.n, 1);
		all += h->event[0].weight;
		of_false += h->event[0].weight_false;
	}
	ck_assert_double_eq(all, (double)TRIES * PERIOD);
	ck_assert_double_le(fabs(of_false / TRIES / PERIOD), 5 / sqrt(TRIES));
}
END_TEST

START_TEST(a_store_across_two_lines_is_about_either_with_double_weight)
{
	struct access a = { .addr = BASE + LINE - 8,
			    .len = 16,
			    .flags = ACCESS_STORE };
	int second = 0;

	for (int seed = 0; seed < 400; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);

		sample(h, 0, a, 0);
		second += h->armed[0].line == BASE + LINE;
		trap(h, 1, a, 1);
		ck_assert_uint_eq(h->chain.n, 1);
		ck_assert_double_eq(h->event[0].weight, 2 * PERIOD);
	}
	ck_assert_int_ge(second, 150);
	ck_assert_int_le(second, 250);
}
END_TEST

START_TEST(loads_and_unknown_accesses_arm_and_tell_nothing)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_LOAD), 0);
	ck_assert_int_eq(h->arms, 0);
	ck_assert_uint_eq(stats(h).samples, 1);
	ck_assert_uint_eq(stats(h).candidates, 0);
	sample(h, 0, word(0, 1, ACCESS_LOCKED), 0);
	ck_assert_int_eq(h->arms, 1);
	trap(h, 1, word(0, 1, 0), 1);
	ck_assert_uint_eq(stats(h).inexact, 1);
	trap(h, 1, word(0, 1, ACCESS_STORE), 2);
	ck_assert_uint_eq(h->chain.n, 1);
}
END_TEST

START_TEST(an_access_to_two_watched_ranges_counts_once)
{
	struct transfer_config c = config(TRANSFER_CHAIN);
	struct access a = { .addr = BASE, .len = 16, .flags = ACCESS_STORE };
	struct hand *h;

	c.chunk_bytes = 8;
	c.ranges = 4;
	h = start(c, 1);
	sample(h, 0, a, 0);
	ck_assert_uint_eq(h->armed[0].n, 4);
	ck_assert_uint_eq(h->armed[0].range[0].addr, BASE);
	ck_assert_uint_eq(h->armed[0].range[1].addr, BASE + 8);
	for (int i = 0; i <= TRANSFER_EPOCHS; i++)
		for (uint32_t range = 0; range < 2; range++)
			transfer_trap(h->transfer, &h->thread[i % 2], 0,
				      h->armed[0].generation, range, &a, i, 0);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS);
	ck_assert_uint_eq(h->chain.n, TRANSFER_EPOCHS);
}
END_TEST

START_TEST(arming_that_fails_frees_the_slot_and_is_counted)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	h->fail = -EBUSY;
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	ck_assert_uint_eq(stats(h).arm_failed, 1);
	h->fail = 0;
	sample(h, 0, word(1, 0, ACCESS_STORE), 1);
	ck_assert(h->live[0]);
	/* The next is the first since the slot was free: one period. */
	trap(h, 1, word(1, 0, ACCESS_STORE), 2);
	ck_assert_double_eq(h->event[0].weight, PERIOD);
}
END_TEST

static void sample_others(struct hand *h)
{
	/* One of these is accepted, for sure within so many. */
	for (int i = 0; i < 64; i++)
		sample(h, 1, word(3, 0, ACCESS_STORE), 5);
}

START_TEST(what_wins_while_the_registers_are_armed_is_armed_next)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	h->meanwhile = sample_others;
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	ck_assert_int_eq(h->arms, 2);
	ck_assert_uint_eq(h->armed[0].line, BASE + 3 * LINE);
	trap(h, 2, word(3, 0, ACCESS_STORE), 9);
	ck_assert_uint_eq(h->chain.n, 1);
	ck_assert_uint_eq(h->event[0].from, 1);
	ck_assert_double_eq(h->event[0].weight, 65 * PERIOD);
}
END_TEST

START_TEST(what_is_sampled_while_a_slot_is_disarmed_is_armed_next)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	h->meanwhile = sample_others;
	trap(h, 1, word(0, 0, ACCESS_STORE), 1);
	ck_assert_int_eq(h->disarms, 1);
	ck_assert_int_eq(h->arms, 2);
	ck_assert(h->live[0]);
	trap(h, 2, word(3, 0, ACCESS_STORE), 9);
	ck_assert_double_eq(h->event[0].weight, 64 * PERIOD);
}
END_TEST

static void trap_again(struct hand *h)
{
	trap(h, 2, word(0, 0, ACCESS_STORE), 9);
	sample(h, 2, word(0, 0, ACCESS_STORE), 9);
}

START_TEST(who_finds_a_slot_locked_gives_up_and_is_counted)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	h->in_sink = trap_again;
	trap(h, 1, word(0, 0, ACCESS_STORE), 1);
	ck_assert_uint_eq(stats(h).busy, 2);
	ck_assert_int_eq(h->chains, 1);
}
END_TEST

START_TEST(at_the_end_what_is_cut_off_is_taken_for_an_epoch)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	trap(h, 0, word(0, 0, ACCESS_STORE), 0);
	trap(h, 1, word(0, 0, ACCESS_STORE), 1);
	trap(h, 2, word(0, 0, ACCESS_STORE), 2);
	trap(h, 3, word(0, 0, ACCESS_LOAD), 3);
	transfer_finish(h->transfer, &h->thread[0]);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.n, 3);
	ck_assert_double_eq(h->event[2].weight, PERIOD / 3.0);
	ck_assert(!h->live[0]);
	transfer_finish(h->transfer, &h->thread[0]);
	ck_assert_int_eq(h->chains, 1);
}
END_TEST

START_TEST(thread_numbers_out_of_range_are_left_out)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	h->thread[3].id = THREADS;
	sample(h, 3, word(0, 0, ACCESS_STORE), 0);
	ck_assert_int_eq(h->arms, 0);
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	trap(h, 3, word(0, 0, ACCESS_STORE), 1);
	ck_assert_int_eq(h->chains, 0);
	ck_assert_int_eq(transfer_trap(h->transfer, &h->thread[0], 99, 0, 0,
				       &h->chain.sampled, 0, 0),
			 TRANSFER_NEED_NOTHING);
}
END_TEST

START_TEST(invalid_configurations_are_refused)
{
	struct transfer_config good = config(TRANSFER_EPOCH), c = good;

#define REFUSE(field, value)                                                   \
	c = good;                                                              \
	c.field = value;                                                       \
	ck_assert_uint_eq(transfer_size(&c), 0);                               \
	ck_assert_ptr_null(transfer_init(NULL, &c, NULL, NULL))
	REFUSE(threads, 0);
	REFUSE(threads, TRANSFER_THREADS_MAX + 1);
	REFUSE(slots, 0);
	REFUSE(slots, TRANSFER_SLOTS_MAX + 1);
	REFUSE(line_bytes, 128);
	REFUSE(line_bytes, 63);
	REFUSE(chunk_bytes, 128);
	REFUSE(chunk_bytes, 4);
	REFUSE(chunk_bytes, 0);
	REFUSE(ranges, 0);
	REFUSE(ranges, TRANSFER_RANGES_MAX + 1);
	REFUSE(epochs, TRANSFER_EPOCHS_MAX + 1);
	REFUSE(epochs_least, TRANSFER_EPOCHS_MAX + 1);
	REFUSE(footprints, 3);
	REFUSE(kind, 2);
	REFUSE(period, 0);
	REFUSE(period, NAN);
#undef REFUSE
}
END_TEST

static void chain_of(struct transfer_tally *t, uint32_t n,
		     const struct transfer_event *event)
{
	struct transfer_chain c = { .n = n, .event = event };

	transfer_tally_add(t, &c);
}

START_TEST(a_sample_counts_once_in_the_squares_of_each_cell)
{
	static const struct transfer_event event[] = {
		{ .from = 0, .to = 1, .weight = 3, .weight_false = 3 },
		{ .from = 2, .to = 0, .weight = 3 },
		{ .from = 1, .to = 0, .weight = 3 },
		{ .from = 0, .to = 9, .weight = 3 }, /* no such thread */
	};
	struct transfer_tally *t =
		transfer_tally_init(map(transfer_tally_size(3)), 3);
	struct transfer_tally *u =
		transfer_tally_init(map(transfer_tally_size(3)), 3);
	const struct transfer_cell *c;

	chain_of(t, 4, event);
	chain_of(t, 1, event);
	c = transfer_tally_cell(t, 1, 0);
	ck_assert_double_eq(c->share[TRANSFER_ALL].sum, 9);
	ck_assert_double_eq(c->share[TRANSFER_ALL].square, 36 + 9);
	ck_assert_double_eq(c->share[TRANSFER_FALSE].sum, 6);
	ck_assert_double_eq(c->share[TRANSFER_FALSE].square, 9 + 9);
	ck_assert_double_eq(c->share[TRANSFER_TRUE].square, 9);
	ck_assert_double_eq(c->a_to_b, 6);
	ck_assert_uint_eq(c->seen, 3);
	ck_assert_uint_eq(c->samples, 2);
	c = transfer_tally_total(t);
	ck_assert_double_eq(c->share[TRANSFER_ALL].sum, 12);
	ck_assert_double_eq(c->share[TRANSFER_ALL].square, 81 + 9);
	ck_assert_uint_eq(transfer_tally_cell(t, 1, 2)->samples, 0);

	chain_of(u, 2, event);
	transfer_tally_merge(u, t);
	ck_assert_double_eq(transfer_tally_total(u)->share[0].sum, 18);
	ck_assert_double_eq(transfer_tally_cell(u, 0, 2)->share[0].sum, 6);
	ck_assert_uint_eq(transfer_tally_size(0), 0);
	ck_assert_ptr_null(transfer_tally_init(NULL, 0));
}
END_TEST

START_TEST(intervals_solve_their_equation)
{
	struct transfer_sampling s = { .samples = 1000, .jitter = 1.0 / 12 };
	const struct transfer_moment m = { 50000, 50000 * 1000.0 };
	struct transfer_moment none = { 0, 0 };
	struct interval i = transfer_interval(&m, &s);
	/* 50 samples of weight 1000: variance per mean, in such units */
	double rho = 1 - 11.0 / 12 * 50 / 1000, z = 1.959963984540054;
	double low = i.low / 1000, high = i.high / 1000;

	ck_assert_double_eq_tol(transfer_variance(&m, &s), rho * 50e6, 1e-3);
	ck_assert_double_eq_tol((50 - low) * (50 - low), z * z * rho * low,
				1e-6);
	ck_assert_double_eq_tol((50 - high) * (50 - high), z * z * rho * high,
				1e-6);
	ck_assert_double_lt(low, 50);
	ck_assert_double_gt(high, 50);
	s.systematic = 0.1;
	i = transfer_interval(&m, &s);
	ck_assert_double_eq_tol(pow(50 - i.low / 1000, 2),
				pow(50 - low, 2) + 25, 1e-6);
	ck_assert_double_eq_tol(pow(i.high / 1000 - 50, 2),
				pow(high - 50, 2) + 25, 1e-6);
	i = transfer_interval(&none, &s);
	ck_assert_double_eq(i.low, 0);
	ck_assert_double_eq(i.high, 0);
}
END_TEST

/* Real threads, all at the same few lines. */
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
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, race, &racer[i]), 0);
	}
	for (int i = 0; i < RACERS; i++)
		pthread_join(thread[i], NULL);
	n = transfer_stats(r.transfer);
	/* What was accepted is done with, displaced, or still watched. */
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
	Suite *suite = suite_create("transfer");
	TCase *tc = tcase_create("transfer");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, epoch_credits_each_first_touch_until_the_next_store);
	tcase_add_test(tc, false_mark_is_taken_back_within_the_epoch);
	tcase_add_test(tc, what_has_to_be_watched_shrinks_as_an_epoch_goes_on);
	tcase_add_test(tc, chain_starts_at_the_first_store_after_arming);
	tcase_add_test(tc, chain_after_a_pause_ends_with_the_first_long_epoch);
	tcase_add_test(tc, chain_after_a_pause_holds_several_epochs);
	tcase_add_test(tc, a_clock_that_goes_back_makes_no_pause);
	tcase_add_test(tc, chain_after_a_pause_has_an_end);
	tcase_add_test(
		tc, the_nth_candidate_is_kept_once_in_n_and_weighs_n_periods);
	tcase_add_test(
		tc, marks_taken_back_after_a_displacement_cancel_in_the_mean);
	tcase_add_test(
		tc,
		a_store_across_two_lines_is_about_either_with_double_weight);
	tcase_add_test(tc, loads_and_unknown_accesses_arm_and_tell_nothing);
	tcase_add_test(tc, an_access_to_two_watched_ranges_counts_once);
	tcase_add_test(tc, arming_that_fails_frees_the_slot_and_is_counted);
	tcase_add_test(tc,
		       what_wins_while_the_registers_are_armed_is_armed_next);
	tcase_add_test(tc,
		       what_is_sampled_while_a_slot_is_disarmed_is_armed_next);
	tcase_add_test(tc, who_finds_a_slot_locked_gives_up_and_is_counted);
	tcase_add_test(tc, at_the_end_what_is_cut_off_is_taken_for_an_epoch);
	tcase_add_test(tc, thread_numbers_out_of_range_are_left_out);
	tcase_add_test(tc, invalid_configurations_are_refused);
	tcase_add_test(tc, a_sample_counts_once_in_the_squares_of_each_cell);
	tcase_add_test(tc, intervals_solve_their_equation);
	tcase_add_loop_test(tc, threads_that_race_keep_the_books_balanced, 0,
			    4);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
