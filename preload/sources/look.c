/* SPDX-License-Identifier: MIT */
/*
 * look - look through the windows that samples are chosen from
 */
#include <string.h>

#include "look.h"
#include "our_code.h"
#include "preload/core/maps.h"
#include "preload/threads/thread_rows.h"
#include "src/engine/looks.h"
#include "src/base/signal_safe.h"

enum {
	RECORDS_MAX = 512, /* of sightings, of a thread */
};

static struct looks looks;
static bool used; /* an empty table is left alone: it is large */

/*
 * A record counts a line, two threads and two instructions. A thread with
 * RECORDS_MAX of them looks no more, so that its looks count for all of them.
 */
static void sighted(void *ctx, const struct sighting *s)
{
	struct thread *t = ctx;
	struct detection d = {
		.publisher = s->publisher,
		.detector = s->detector,
		.line = s->line,
		.publisher_thread = thread_mark_referenced(s->publisher_thread),
		.detector_thread = t->comm.id,
		.sharing = access_overlaps(&s->publisher, &s->detector)
				   ? SHARING_TRUE
				   : SHARING_FALSE,
		.by = DETECTED_BY_LOOK,
		.periods_q8 = s->meets ? 256 : 0,
		.weight = 1,
	};
	uint32_t records = t->pairs.index.used;
	uint64_t generation;

	if (our_code_has(s->detector.ip) || our_code_has(s->publisher.ip))
		return;
	thread_mark_referenced(t->comm.id);
	maps_note(s->publisher.ip);
	generation = maps_note(s->detector.ip);
	/* The number of the look takes the place of the time. */
	if (pair_table_add(&runtime.store, &t->pairs, &d, t->record->looks,
			   generation))
		t->look_records = RECORDS_MAX;
	t->look_records += t->pairs.index.used - records;
}

void look_through(struct thread *t, const struct choice *c)
{
	struct interp *in = t->choose.interp;
	uint32_t n = interp_count(in);

	if (c->what != CHOSEN || !c->number || t->reuse ||
	    t->look_records >= RECORDS_MAX)
		return;
	used = true;
	store_add(&t->record->looks, 1);
	store_add(&t->record->look_accesses, n);
	looks_through(&looks, t->comm.id, interp_access(in, 0), n, sighted, t);
}

void look_init(void)
{
	if (used)
		memset(&looks, 0, sizeof(looks));
	used = false;
}
