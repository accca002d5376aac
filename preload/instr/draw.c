/* SPDX-License-Identifier: MIT */
/*
 * draw - which accesses are samples
 */
#include "draw.h"
#include "config.h"
#include "counters.h"
#include "state.h"
#include "transfer.h"
#include "preload/core/runtime.h"
#include "src/base/signal_safe.h"

/* Of a period, in thousandths, from a stop to its sample in the mean. */
enum {
	AHEAD = 382,
};

static struct rng_rare rare;  /* distances between samples */
static struct rng_rare ahead; /* from an event of stores to the next one */
static uint64_t ahead_mean;

void instr_draw_init(void)
{
	uint64_t period = instr_config.period;

	if (!period)
		return;
	rng_rare_init(&rare, period);
	ahead_mean = (uint64_t)((double)period * (AHEAD / 1000.0));
	if (ahead_mean)
		rng_rare_init(&ahead, ahead_mean);
}

static bool is_rare(enum instr_class class)
{
	return instr_class_stores(class) && instr_config.comm &&
	       instr_transfer_awaits();
}

static bool stops_ahead(enum instr_class class)
{
	return is_rare(class) && !runtime.config.paths && ahead_mean;
}

/*
 * The thread begins anywhere between two samples. The first event may be the
 * sample of a stop before the thread began.
 */
void instr_draw_start(struct thread *t)
{
	struct instr_state *s = instr_of(t);
	uint64_t at = instr_config.period
			      ? rng_below(&t->rng, instr_config.period)
			      : 0;

	s->coming = DRAW_SOON;
	if (at < 2 * ahead_mean)
		s->coming = DRAW_NONE;
	if (at < ahead_mean)
		s->coming = DRAW_STOP;
}

/* Accesses of @class to pass over before the next event. */
static int64_t skip(struct thread *t, enum instr_class class)
{
	if (stops_ahead(class))
		return (int64_t)rng_rare_skip(&t->rng, &ahead);
	if (is_rare(class))
		return (int64_t)rng_rare_skip(&t->rng, &rare);
	return (int64_t)rng_skip(&t->rng, instr_config.period,
				 &instr_of(t)->rest[class]);
}

void instr_draw_begin(struct thread *t, struct instr_thread *h)
{
	struct instr_state *s = instr_of(t);

	for (int c = 0; c < INSTR_CLASSES; c++) {
		int64_t n;

		s->rest[c] = 0;
		n = instr_config.period ? skip(t, c) : INSTR_FAR;
		s->until[c] = n;
		instr_counters_load(h, c, instr_config.exact ? 0 : n);
	}
}

/*
 * Events of stores have no memory, so they may be those of any class and of any
 * copy of the hooks. The first one after a sample is a stop, or nothing; the
 * second one is a stop if there was none. The chances are such that a sample
 * comes once in a period, and that the store just before a stop is one as often
 * as any.
 */
static enum instr_drawn draw_store(struct thread *t)
{
	struct instr_state *s = instr_of(t);
	enum instr_drawn drawn = s->coming;

	if (drawn == DRAW_NOW || drawn == DRAW_STOP) {
		s->coming = DRAW_NONE;
		return drawn;
	}
	s->coming = DRAW_SOON;
	if (drawn == DRAW_NONE && rng_below(&t->rng, ahead_mean) >=
					  3 * ahead_mean - instr_config.period)
		return DRAW_NONE;
	s->coming = DRAW_NOW;
	return DRAW_SOON;
}

/* What the access is; *@n becomes how many to pass over before the next event.
 */
static enum instr_drawn draw(struct thread *t, enum instr_class class,
			     int64_t *n)
{
	*n = skip(t, class);
	return stops_ahead(class) ? draw_store(t) : DRAW_STOP;
}

enum instr_drawn instr_draw(struct thread *t, struct instr_thread *h,
			    enum instr_class class)
{
	int64_t *until = &instr_of(t)->until[class], n;
	enum instr_drawn drawn;

	if (instr_config.exact) {
		instr_counters_load(h, class, 0);
		return --*until < 0 ? draw(t, class, until) : DRAW_NONE;
	}
	if (h->left[class] >= 0)
		return DRAW_NONE;
	drawn = draw(t, class, &n);
	instr_counters_load(h, class, n);
	return drawn;
}
