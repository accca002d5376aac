/* SPDX-License-Identifier: MIT */
/*
 * look - look through the windows that samples are chosen from
 */
#include <stdatomic.h>
#include <string.h>

#include "heap_blocks.h"
#include "look.h"
#include "our_code.h"
#include "preload/core/maps.h"
#include "preload/threads/thread_rows.h"
#include "src/engine/looks.h"
#include "src/base/signal_safe.h"

static struct looks looks;
static _Atomic bool used; /* an empty table is left alone: it is large */

static void sighted(void *ctx, const struct sighting *s)
{
	struct thread *t = ctx;
	struct detection d = {
		.publisher = s->publisher,
		.detector = s->detector,
		.line = s->line,
		.detector_thread = t->comm.id,
		.sharing = access_overlaps(&s->publisher, &s->detector)
				   ? SHARING_TRUE
				   : SHARING_FALSE,
		.by = DETECTED_BY_LOOK,
		.periods_q8 = 256,
		.weight = 1,
	};
	uint64_t generation;

	if (our_code_has(s->detector.ip) || our_code_has(s->publisher.ip))
		return;
	d.publisher_thread = thread_mark_referenced(s->publisher_thread);
	thread_mark_referenced(t->comm.id);
	maps_note(s->publisher.ip);
	generation = maps_note(s->detector.ip);
	/* What finds no room is no detection that is lost. */
	if (!pair_table_add(&runtime.store, &t->pairs, &d, t->clock_at,
			    generation))
		heap_blocks_note(&d);
}

void look_through(struct thread *t, const struct choice *c)
{
	static const struct looks_sink sink = {
		.lives = thread_row_lives,
		.sighted = sighted,
	};
	struct interp *in = t->choose.interp;

	if (c->what != CHOSEN || !c->number || t->reuse)
		return;
	if (!atomic_load_explicit(&used, memory_order_relaxed))
		atomic_store_explicit(&used, true, memory_order_relaxed);
	store_add(&t->record->looks, 1);
	store_add(&t->record->look_accesses, interp_count(in));
	looks_through(&looks, t->comm.id, interp_access(in, 0),
		      interp_count(in), &sink, t);
}

void look_init(void)
{
	if (atomic_load_explicit(&used, memory_order_relaxed))
		memset(&looks, 0, sizeof(looks));
	atomic_store_explicit(&used, false, memory_order_relaxed);
}
