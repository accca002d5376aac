/* SPDX-License-Identifier: MIT */
/*
 * transfer_needed - transfers that bring an earlier store than the last
 *
 * A visit of thread B lasts from a transfer to the next store to the line by
 * another thread. What another thread A stored in a turn, until somebody else
 * stored to the line, B may need: if it touches some of those bytes in a visit,
 * for the first time since. One store of the turn is the last of which B
 * touches bytes; that one, X, stands for them, so a sampled X credits a
 * transfer. If X was the last store of all, the transfer is true sharing by the
 * published definition, and an estimator of transfers knows that. Only the
 * others are counted here.
 *
 * What B needs of two turns in one visit counts twice, because after a cure
 * that gives each what it uses B would have to fetch two lines. X is followed
 * until its bytes are stored again and nobody's visit is open.
 */
#include <string.h>

#include "transfer_internal.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	LOOKS_MAX = 1024, /* accesses to a line that are followed, at most */
};

static uint64_t bytes_of(const struct transfer *e,
			 const struct transfer_slot *s, const struct access *a)
{
	uint64_t line = s->watched.line, bytes = e->config.line_bytes;
	uint64_t first = a->addr > line ? a->addr - line : 0;
	uint64_t last = access_last(a) - line;

	if (access_last(a) < line || first >= bytes)
		return 0;
	if (last >= bytes)
		last = bytes - 1;
	return (~UINT64_C(0) >> (63 - (last - first))) << first;
}

void transfer_needed_begin(const struct transfer *e, struct transfer_slot *s)
{
	s->left = bytes_of(e, s, &s->sampled);
	s->after = 0;
	s->stored_since = s->stored_by_others = false;
	s->looks = 0;
	memset(s->beside, 0, e->words * sizeof(s->beside[0]));
}

static bool is_open(const struct transfer *e, const struct transfer_slot *s)
{
	for (uint32_t i = 0; i < e->words; i++)
		if (s->pending[i])
			return true;
	return false;
}

/*
 * The visit needs a later store of the turn. The present weight counts, as in
 * transfer_epochs.c.
 */
static void take_back(const struct transfer *e, struct transfer_slot *s,
		      uint32_t thread)
{
	set_erase(s->pending, thread);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->event[i].to == thread)
			s->event[i].weight -= transfer_weight(e, s);
}

static void credit(const struct transfer *e, struct transfer_slot *s,
		   uint32_t thread, const struct access *a, uint32_t core)
{
	set_insert(s->pending, thread);
	s->event[s->n++] = (struct transfer_event){
		.store = s->sampled,
		.touch = *a,
		.from = s->sampler,
		.to = thread,
		.from_core = s->from_core,
		.to_core = core,
		.weight = transfer_weight(e, s),
	};
}

/* Returns false if nothing changes. */
static bool touch(const struct transfer *e, struct transfer_slot *s,
		  uint32_t thread, const struct access *a, uint64_t bytes,
		  uint32_t core)
{
	if (bytes & s->after) {
		set_insert(s->beside, thread);
		if (!set_has(s->pending, thread))
			return false;
		take_back(e, s, thread);
		return true;
	}
	if (!(bytes & s->left) || set_has(s->touched, thread) ||
	    set_has(s->beside, thread))
		return false;
	set_insert(s->touched, thread);
	if (s->stored_since)
		credit(e, s, thread, a, core);
	return true;
}

/* The visits of all threads but @thread are over. */
static void end_visits(const struct transfer *e, uint64_t *set, uint32_t thread)
{
	bool stays = set_has(set, thread);

	memset(set, 0, e->words * sizeof(set[0]));
	if (stays)
		set_insert(set, thread);
}

bool transfer_needed_follow(const struct transfer *e, struct transfer_slot *s,
			    uint32_t thread, const struct access *a,
			    uint32_t core, bool *done)
{
	uint64_t bytes = bytes_of(e, s, a);
	bool told = thread != s->sampler && touch(e, s, thread, a, bytes, core);

	*done = ++s->looks == LOOKS_MAX;
	if (!access_stores(a))
		return told;
	end_visits(e, s->pending, thread);
	end_visits(e, s->beside, thread);
	s->stored_since = true;
	s->stored_by_others |= thread != s->sampler;
	s->left &= ~bytes;
	s->after &= ~bytes;
	if (!s->stored_by_others)
		s->after |= bytes;
	if (!s->left && !is_open(e, s))
		*done = true;
	return true;
}

enum transfer_need transfer_needed_need(const struct transfer_slot *s,
					uint32_t thread)
{
	if (thread == s->sampler ||
	    (set_has(s->touched, thread) && !set_has(s->pending, thread)))
		return TRANSFER_NEED_STORES;
	return TRANSFER_NEED_ALL;
}
