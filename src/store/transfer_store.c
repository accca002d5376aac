/* SPDX-License-Identifier: MIT */
/*
 * transfer_store - write estimated transfers to the file
 */
#include "transfer_store.h"
#include "src/base/signal_safe.h"

struct detection transfer_detection(const struct transfer_event *e,
				    uint64_t line, uint64_t period)
{
	double periods = e->weight / (double)period;

	return (struct detection){
		.publisher = e->store,
		.detector = e->touch,
		.line = line,
		.publisher_thread = e->from,
		.detector_thread = e->to,
		.publisher_core = e->from_core,
		.detector_core = e->to_core,
		.publisher_path = e->store_path,
		.detector_path = e->touch_path,
		.sharing = e->weight_false > e->weight / 2 ? SHARING_FALSE
							   : SHARING_TRUE,
		.by = DETECTED_BY_TRAP,
		.periods_q8 = periods < 1 << 23 ? (uint32_t)(256 * periods)
						: UINT32_MAX,
	};
}

static void put_cell(struct store *s, struct store_writer *w, uint32_t a,
		     uint32_t b, const struct transfer_cell *c)
{
	double more[] = { c->a_to_b, (double)c->seen, (double)c->samples };

	if (!c->samples)
		return;
	store_transfer(s, w, CDP_ESTIMATE_CELL, a, b, c->share,
		       sizeof(c->share));
	store_transfer(s, w, CDP_ESTIMATE_MORE, a, b, more, sizeof(more));
}

void transfer_store(struct store *s, struct store_writer *w,
		    const struct transfer_tally *tally,
		    const struct transfer_stats *stats, uint32_t threads,
		    const struct transfer_sampling *sampling)
{
	double value[] = {
		sampling->samples,
		sampling->jitter,
		(double)stats->candidates,
		(double)stats->finished,
		(double)stats->traps,
		(double)(stats->busy + stats->arm_failed + stats->overflow),
	};

	store_transfer(s, w, CDP_ESTIMATE_SAMPLING, 0, 0, value, sizeof(value));
	put_cell(s, w, UINT32_MAX, UINT32_MAX, transfer_tally_total(tally));
	for (uint32_t b = 1; b < threads; b++)
		for (uint32_t a = 0; a < b; a++)
			put_cell(s, w, a, b, transfer_tally_cell(tally, a, b));
}
