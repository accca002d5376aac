/* SPDX-License-Identifier: MIT */
/*
 * timing_core - what decides how long a micro-trace takes, and what that says
 */
#include <math.h>
#include <string.h>

#include "timing.h"

/* As many as profiles tell apart. */
static uint32_t sets_of(const struct machine_cache *l1d)
{
	uint64_t sets = l1d->size / l1d->ways >> MACHINE_LINE_SHIFT;

	return sets < MICRO_SETS ? (uint32_t)sets : MICRO_SETS;
}

void timing_core_of(struct timing_core *c, const struct machine *m,
		    unsigned int used)
{
	uint64_t beyond = m->l1d.tag + m->l2.tag;
	uint64_t latency[LEVELS] = {
		[LEVEL_L1] = m->l1d.latency,
		[LEVEL_L2] = m->l1d.tag + m->l2.latency,
		[LEVEL_LLC] = beyond + m->llc.latency,
		[LEVEL_CORE] = beyond + m->llc.latency + m->transfer,
	};

	memset(c, 0, sizeof(*c));
	c->width = m->width;
	c->rob = m->rob;
	c->iq = m->iq;
	c->load_queue = m->load_queue;
	c->store_queue = m->store_queue;
	c->refill = m->refill;
	c->vector_load_extra = m->vector_load_extra;
	c->predictor = m->predictor;
	c->zero_idioms = m->zero_idioms;
	c->forwarding = m->forwarding;
	if (m->forwarding)
		c->forwarding_vector = m->forwarding_vector;
	memcpy(c->uop, m->uop, sizeof(c->uop));
	if (used & ~(1u << LEVEL_L1)) {
		c->mshrs = m->mshrs;
		c->prefetcher = m->prefetcher;
		if (m->prefetcher == PREFETCHER_STREAM)
			c->ahead = m->ahead;
		c->in_turn = m->in_turn;
		c->after_load = m->after_load;
		c->after_store = m->after_store;
		if (machine_has_turns(m))
			c->sets = sets_of(&m->l1d);
	}
	if (c->prefetcher) /* lines that it fetched are there */
		used |= 1u << LEVEL_L2 | 1u << LEVEL_LLC;
	if (used >> LEVEL_MEMORY & 1) {
		c->slot = (1 << MACHINE_LINE_SHIFT) / m->memory_gbs * m->ghz;
		c->to_memory = beyond + m->llc.tag + m->directory;
		latency[LEVEL_MEMORY] = (uint64_t)llround(
			(double)c->to_memory + m->memory_ns * m->ghz + c->slot);
	}
	for (int i = 0; i < LEVELS; i++)
		if (used >> i & 1)
			c->latency[i] = latency[i];
}

double timed_saved(const struct timed *t, enum caches_level level)
{
	return t->data[level] > 0 ? t->saved[level] / t->data[level] : 0;
}

double timed_queued(const struct timed *t, const double factor[CPI_COMPONENTS])
{
	return t->queued[LEVEL_L2] * (factor[CPI_L2] - 1) +
	       t->queued[LEVEL_LLC] * (factor[CPI_LLC] - 1) +
	       t->queued[LEVEL_CORE] * (factor[CPI_COHERENCE] - 1) +
	       t->queued[LEVEL_MEMORY] * (factor[CPI_DRAM] - 1);
}

double timed_vain(const struct timed *t)
{
	double lines = t->data[LEVEL_MEMORY];

	return lines > 0 ? t->vain / lines : 0;
}
