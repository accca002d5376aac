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

enum {
	AHEAD_MIN = 15, /* stores passed between the stop and the sample */
	AHEAD_MAX = 47,
	AHEAD = (AHEAD_MIN + AHEAD_MAX) / 2 + 1, /* the sample is so many stores
						    later in the mean */
	PERIOD_MIN = 2 * AHEAD,
};

static struct rng_rare rare;      /* distances between samples */
static struct rng_rare rare_soon; /* from a sample to the next stop */

void instr_draw_init(void)
{
	if (!instr_config.period)
		return;
	rng_rare_init(&rare, instr_config.period);
	if (instr_config.period >= PERIOD_MIN)
		rng_rare_init(&rare_soon, instr_config.period - AHEAD);
}

static bool is_rare(enum instr_class class)
{
	return instr_class_stores(class) && instr_config.comm &&
	       instr_transfer_awaits();
}

static bool stops_ahead(enum instr_class class)
{
	return is_rare(class) && !runtime.config.paths &&
	       instr_config.period >= PERIOD_MIN;
}

/* Accesses of @class to pass over before the next stop. */
static int64_t skip(struct thread *t, enum instr_class class)
{
	if (stops_ahead(class))
		return (int64_t)rng_rare_skip(&t->rng, &rare_soon);
	if (is_rare(class))
		return (int64_t)rng_rare_skip(&t->rng, &rare);
	return (int64_t)rng_skip(&t->rng, instr_config.period,
				 &instr_of(t)->rest[class]);
}

/* Whose counter runs: with exact each class has one in all copies. */
static const void *counter_of(const struct thread *t,
			      const struct instr_thread *h)
{
	return instr_config.exact ? (const void *)t : h;
}

void instr_draw_begin(struct thread *t, struct instr_thread *h)
{
	struct instr_state *s = instr_of(t);

	if (s->soon == counter_of(t, h))
		s->soon = NULL;
	for (int c = 0; c < INSTR_CLASSES; c++) {
		int64_t n;

		s->rest[c] = 0;
		n = instr_config.period ? skip(t, c) : INSTR_FAR;
		s->until[c] = n;
		instr_counters_load(h, c, instr_config.exact ? 0 : n);
	}
}

/* What the access is; *@n becomes how many to pass over before the next event.
 */
static enum instr_drawn draw(struct thread *t, const void *counter,
			     enum instr_class class, int64_t *n)
{
	struct instr_state *s = instr_of(t);

	if (stops_ahead(class) && !s->soon) {
		s->soon = counter;
		s->soon_class = class;
		*n = AHEAD_MIN +
		     (int64_t)rng_below(&t->rng, AHEAD_MAX - AHEAD_MIN + 1);
		return DRAW_SOON;
	}
	if (s->soon == counter && s->soon_class == class) {
		s->soon = NULL;
		*n = skip(t, class);
		return DRAW_NOW;
	}
	*n = stops_ahead(class) ? (int64_t)rng_rare_skip(&t->rng, &rare)
				: skip(t, class);
	return DRAW_STOP;
}

enum instr_drawn instr_draw(struct thread *t, struct instr_thread *h,
			    enum instr_class class)
{
	int64_t *until = &instr_of(t)->until[class], n;
	enum instr_drawn drawn;

	if (instr_config.exact) {
		instr_counters_load(h, class, 0);
		return --*until < 0 ? draw(t, counter_of(t, h), class, until)
				    : DRAW_NONE;
	}
	if (h->left[class] >= 0)
		return DRAW_NONE;
	drawn = draw(t, counter_of(t, h), class, &n);
	instr_counters_load(h, class, n);
	return drawn;
}
