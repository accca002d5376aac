/* SPDX-License-Identifier: MIT */
/*
 * timing_memory - when the lines of a micro-trace's accesses are there
 */
#include "timing_internal.h"

enum {
	LEFT_GAPS = 2, /* longest pauses of a set, after which it was left */
};

/* How long a transfer waits that begins at @now. */
static uint64_t take_slot(struct timing *t, uint64_t now)
{
	return memory_bus_take(t->bus, now - t->begin);
}

/* Transfers of other cores up to @now, at equal distances. */
static void transfer_for_others(struct timing *t, uint64_t now)
{
	if (!(t->others > 0))
		return;
	for (; t->other_next < (double)now; t->other_next += 1 / t->others)
		take_slot(t, (uint64_t)t->other_next);
}

uint64_t timing_ask_memory(struct timing *t, uint64_t now, uint64_t *bus)
{
	uint64_t done;

	transfer_for_others(t, now + t->core.to_memory);
	*bus = take_slot(t, now + t->core.to_memory);
	done = now + t->core.latency[LEVEL_MEMORY] + *bus;
	t->unwritten += t->written;
	if (t->unwritten >= 1) {
		t->unwritten -= 1;
		take_slot(t, done);
	}
	return done;
}

/*
 * When the prefetcher asked for the line of @a, which the number @i needs @now;
 * 0: it did not. Before the micro-trace time went on as it does in it.
 */
static uint64_t asked_before(const struct timing *t, uint32_t i,
			     const struct micro_access *a, uint64_t now)
{
	uint32_t back = a->asked[t->core.prefetcher - 1];
	uint64_t cycles;

	if (back <= i)
		return back && t->at.missed[i - back] >= t->begin
			       ? t->at.missed[i - back]
			       : 0;
	cycles = (now - t->begin) * back / (i + 1);
	return now - (cycles < APART ? cycles : APART);
}

/* When a line of @level is there that is asked for at @now. */
static uint64_t get(struct timing *t, enum caches_level level, uint64_t now,
		    uint64_t *bus)
{
	if (level == LEVEL_MEMORY && now >= t->begin)
		return timing_ask_memory(t, now, bus);
	return now + t->core.latency[level];
}

/*
 * The same with a prefetcher, which puts lines into L2. What it asks for in
 * vain comes from where the line is that makes it ask. What L2 has lost since
 * is in the last cache, and was counted as in vain.
 */
static uint64_t get_prefetched(struct timing *t, uint32_t i,
			       enum caches_level level, uint64_t now,
			       uint64_t *bus)
{
	const struct micro_access *a = &t->access[t->uop[i].access - 1];
	uint32_t kind = t->core.prefetcher - 1;
	bool lost = a->asked[kind] == PREFETCH_FAR && level > LEVEL_L2;
	uint64_t asked = asked_before(t, i, a, now), done, late;
	int vain = level == LEVEL_MEMORY ? a->vain >> kind & 1 : 0;

	t->at.missed[i] = now;
	if (lost)
		done = now + t->core.latency[LEVEL_LLC];
	else if (asked && level > LEVEL_L2)
		done = later(get(t, level, asked, bus),
			     now + t->core.latency[LEVEL_L2]);
	else
		done = get(t, level, now, bus);
	if (vain)
		take_slot(t, now + t->core.to_memory);
	late = now + t->core.latency[level];
	if (asked && late > done)
		t->to->saved[level] += (double)(late - done);
	t->to->vain += vain - (lost && level == LEVEL_MEMORY);
	return done;
}

/*
 * When the number @i, which needs its line @now, was @back micro-operations
 * away. Before the micro-trace time went on as it does in it.
 */
static uint64_t before(const struct timing *t, uint32_t i, uint64_t back,
		       uint64_t now)
{
	uint64_t cycles;

	if (back <= i)
		return t->at.missed[i - back] >= t->begin
			       ? t->at.missed[i - back]
			       : t->at.done[i - back];
	cycles = (now - t->begin) * back / (i + 1);
	return now - (cycles < APART ? cycles : APART);
}

/* The line of @a was asked for as streams.h says: for L2, and for L1D later. */
static uint64_t get_streamed(struct timing *t, uint32_t i,
			     enum caches_level level,
			     const struct micro_access *a, uint64_t now,
			     uint64_t *bus)
{
	uint64_t back = a->asked[PREFETCH_STREAM];
	uint32_t ahead = t->core.ahead, first;
	uint64_t far = before(t, i, back * stream_back(a->place, ahead), now);
	uint64_t near, done;

	first = ahead < STREAM_AHEAD_L1 ? ahead : STREAM_AHEAD_L1;
	near = before(t, i, back * stream_back(a->place, first), now);
	done = later(now, near + t->core.latency[LEVEL_L2] -
				  t->core.latency[LEVEL_L1]);
	done += t->core.latency[LEVEL_L1];
	if (level > LEVEL_L2)
		done = later(done, get(t, level, far, bus));
	t->to->saved[level] += (double)t->core.latency[level];
	return done;
}

/* Lines that the run which ended before @a, number @i, has left behind. */
static void leave_stream(struct timing *t, uint32_t i,
			 const struct micro_access *a, uint64_t now)
{
	uint32_t lines = a->ended < t->core.ahead ? a->ended : t->core.ahead;
	uint64_t asked = before(t, i, a->asked[PREFETCH_STREAM], now);

	for (uint32_t k = 0; k < lines && asked >= t->begin; k++)
		take_slot(t, asked + t->core.to_memory);
	t->to->vain += lines;
}

/*
 * Another thread has stored to the line since it came at @came, or since
 * before the micro-trace (0). Where cores have lines in turn, what waits for it
 * here is done when it comes; a later access asks for it again, when the other
 * core has got it, which asked while it was on its way to here.
 */
static uint64_t get_from_core(struct timing *t, uint64_t came, uint64_t now)
{
	uint64_t cycles = t->core.latency[LEVEL_CORE];

	if (!t->core.in_turn || !came)
		return now + cycles;
	if (came > now) {
		t->to->saved[LEVEL_CORE] += (double)cycles;
		return came;
	}
	return later(now, came + cycles) + cycles;
}

/*
 * The number @i misses in @s. If it is the first since the micro-trace is timed
 * again, and other sets went on for much longer than @s ever paused, it was
 * left.
 */
static void visit(struct timing *t, struct timing_set *s, uint32_t i)
{
	uint64_t now = t->pass + i, gap = now - s->last;

	if (s->last < t->first)
		s->gap = 0;
	else if (s->last >= t->pass)
		s->gap = later(s->gap, gap);
	else if (t->latest - s->last > LEFT_GAPS * s->gap)
		s->free = 0;
	s->last = t->latest = now;
}

/* When the set of @a takes the miss that number @i needs @now. */
static uint64_t wait_for_set(struct timing *t, uint32_t i,
			     const struct micro_access *a, uint64_t now)
{
	const struct timing_core *m = &t->core;
	struct timing_set *s;

	if (!t->set || a->set == MICRO_SETS)
		return now;
	s = &t->set[a->set & (m->sets - 1)];
	visit(t, s, i);
	return set_turn_take(&s->free, now,
			     t->uop[i].flags & UOP_IS_STORE ? m->after_store
							    : m->after_load);
}

/* When a line that was missed before comes, and from where; 0: it never was. */
struct line {
	uint64_t comes;
	enum caches_level from;
};

/* The same of the access number @i, which misses L1D @now. */
static uint64_t get_missed(struct timing *t, uint32_t i,
			   enum caches_level level, const struct line *line,
			   uint64_t now, uint64_t *bus)
{
	const struct micro_access *a = &t->access[t->uop[i].access - 1];
	bool waits = level == LEVEL_CORE && t->core.in_turn &&
		     line->from == LEVEL_CORE && line->comes > now;
	uint64_t done;

	if (t->core.ahead) {
		t->at.missed[i] = now;
		if (level == LEVEL_MEMORY)
			leave_stream(t, i, a, now);
		if (a->place && !waits)
			return get_streamed(t, i, level, a, now, bus);
	}
	if (waits)
		return get_from_core(t, line->comes, now);
	now = wait_for_set(t, i, a, now);
	now = time_queue_enter(&t->mshrs, now);
	if (level == LEVEL_CORE)
		done = get_from_core(
			t, line->from == LEVEL_CORE ? line->comes : 0, now);
	else if (t->core.prefetcher && !t->core.ahead)
		done = get_prefetched(t, i, level, now, bus);
	else
		done = get(t, level, now, bus);
	time_queue_push(&t->mshrs, done);
	return done;
}

/* True if a store of this core still holds what the number @i loads @now. */
static bool forwarded(const struct timing *t, uint32_t i, uint64_t now)
{
	uint32_t back = t->uop[i].forward;

	return t->core.forwarding && back && back < t->core.rob &&
	       now < t->at.ended[i - back];
}

struct found timing_access(struct timing *t, uint32_t i,
			   enum caches_level level, uint64_t now)
{
	const struct micro_uop *u = &t->uop[i];
	struct found x = { .done = now + t->core.latency[LEVEL_L1] };
	struct line line = { 0 };

	if (u->line) {
		line.comes = t->at.line[i - u->line];
		line.from = (enum caches_level)t->at.from[i - u->line];
		if (level == LEVEL_L1)
			level = (enum caches_level)t->at.left[i - u->line];
	}
	t->at.left[i] = LEVEL_L1;
	if (forwarded(t, i, now)) {
		t->at.left[i] = (uint8_t)level;
		x.done = now + t->core.forwarding;
		x.held = true;
	} else if (level != LEVEL_L1) {
		x.done = get_missed(t, i, level, &line, now, &x.bus);
		x.level = level;
		line = (struct line){ .comes = x.done, .from = level };
	} else if (line.comes > x.done) {
		x.done = line.comes; /* it is on its way */
		x.level = line.from;
	}
	t->at.line[i] = line.comes;
	t->at.from[i] = (uint8_t)line.from;
	return x;
}
