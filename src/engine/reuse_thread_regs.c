/* SPDX-License-Identifier: MIT */
/*
 * reuse_thread_regs - reuse times of one thread, watched by its own debug
 * registers
 *
 * The registers are always armed together, those that are needed from number
 * 0 on, so which slot a register is for changes with each arming.
 */
#include <errno.h>
#include <string.h>

#include "reuse_thread_regs.h"

enum {
	LINE_BYTES = 64,
	WIDEST = 8, /* of what a register watches */
};

static struct reuse_config config(uint32_t registers)
{
	return (struct reuse_config){
		.scope = REUSE_PRIVATE,
		.granularity = REUSE_ADDRESS,
		.line_bytes = LINE_BYTES,
		.slots = registers,
		.spins = REUSE_SPINS,
		.use_next = true,
	};
}

size_t reuse_own_size(uint32_t registers)
{
	struct reuse_config c = config(registers);

	return registers <= COMM_REGISTERS_MAX ? reuse_size(&c) : 0;
}

struct watch_range reuse_own_part(uint64_t addr, uint32_t len, struct rng *rng)
{
	uint64_t size = WIDEST, first, parts;

	for (;; size /= 2) {
		first = (addr + size - 1) / size * size;
		if (first + size <= addr + len || size == 1)
			break;
	}
	parts = (addr + len - first) / size;
	if (parts > 1)
		first += size * rng_below(rng, parts);
	return (struct watch_range){ first, (uint32_t)size };
}

/* Bring the registers in line with the slots. */
static int program(struct reuse_own *o)
{
	struct watch_range list[COMM_REGISTERS_MAX];
	uint32_t n = 0;
	int armed;

	for (uint32_t i = 0; i < COMM_REGISTERS_MAX; i++) {
		if (!o->range[i].len)
			continue;
		o->slot[n] = i;
		list[n++] = o->range[i];
	}
	o->armed = 0;
	if (!n) {
		o->watch->disarm(o->ctx);
		return 0;
	}
	armed = o->watch->arm(o->ctx, list, (int)n);
	if (armed > 0)
		o->armed = (uint32_t)armed;
	o->broken = o->armed < n;
	return o->broken ? -EBUSY : 0;
}

static int arm(void *ctx, const struct reuse_watched *w)
{
	struct reuse_own *o = ctx;

	o->range[w->slot] = reuse_own_part(w->addr, w->len, &o->thread.rng);
	o->generation[w->slot] = w->generation;
	o->maker[w->slot] = o->chosen;
	o->others[w->slot] = REUSE_OWN_OTHERS;
	if (!program(o))
		return 0;
	o->range[w->slot].len = 0;
	return -EBUSY;
}

static void disarm(void *ctx, uint32_t slot)
{
	struct reuse_own *o = ctx;

	o->range[slot].len = 0;
	if (!o->dropping)
		program(o);
}

static uint64_t now(void *ctx, const struct reuse_place *use)
{
	struct reuse_own *o = ctx;

	return o->dropping ? REUSE_TIME_UNKNOWN : o->now;
}

static void decided(void *ctx, const struct reuse_event *v)
{
	struct reuse_own *o = ctx;

	if (o->dropping)
		o->sink->lost(o->ctx, v->weight);
	else
		o->sink->decided(o->ctx, v);
}

void reuse_own_init(struct reuse_own *o, void *mem, uint32_t registers,
		    uint32_t id, const struct comm_watch *watch,
		    const struct reuse_own_sink *sink, void *ctx, uint64_t seed)
{
	static const struct reuse_watch ours = { arm, disarm, now };
	static const struct reuse_sink to = { decided };
	const struct reuse_place place = { .thread = id };
	const struct reuse_config c = config(registers);

	memset(o, 0, sizeof(*o));
	o->watch = watch;
	o->sink = sink;
	o->ctx = ctx;
	o->engine = reuse_init(mem, &c, &ours, &to);
	reuse_thread_init(&o->thread, &place, o, seed);
}

/* What was watched and is no longer: when it was used again nobody knows. */
static void drop_broken(struct reuse_own *o)
{
	if (!o->broken)
		return;
	o->dropping = true;
	reuse_thread_end(o->engine, &o->thread);
	o->dropping = false;
	o->broken = false;
	o->armed = 0;
}

/* What the engine gave up by itself. */
static void tell_failed(struct reuse_own *o)
{
	uint64_t failed = reuse_stats(o->engine).failed;

	if (failed > o->failed)
		o->sink->lost(o->ctx, failed - o->failed);
	o->failed = failed;
}

void reuse_own_sample(struct reuse_own *o, const struct access *a,
		      uint64_t count)
{
	drop_broken(o);
	o->now = count;
	reuse_sample(o->engine, &o->thread, a, count);
	tell_failed(o);
}

void reuse_own_sample_ahead(struct reuse_own *o, const struct access *a,
			    uint64_t count)
{
	o->chosen = a->ip;
	reuse_own_sample(o, a, count);
	o->chosen = 0;
}

/* Does the thread still have to make the use? */
static bool precedes(struct reuse_own *o, uint32_t slot, const struct access *a)
{
	if (o->maker[slot] && a && a->ip != o->maker[slot] && o->others[slot]) {
		o->others[slot]--;
		return true;
	}
	o->maker[slot] = 0;
	return false;
}

void reuse_own_trap(struct reuse_own *o, int reg, const struct access *a,
		    uint64_t count)
{
	struct access unknown = { .flags = ACCESS_LOAD };
	uint32_t slot;

	drop_broken(o);
	if ((uint32_t)reg >= o->armed)
		return;
	slot = o->slot[reg];
	if (precedes(o, slot, a))
		return;
	o->now = count;
	unknown.addr = o->range[slot].addr;
	unknown.len = o->range[slot].len;
	reuse_trap(o->engine, &o->thread, slot, o->generation[slot],
		   a ? a : &unknown, count);
	tell_failed(o);
}

void reuse_own_spoil(struct reuse_own *o, int reg)
{
	struct access any = { .flags = ACCESS_LOAD };
	uint32_t slot;

	drop_broken(o);
	if ((uint32_t)reg >= o->armed)
		return;
	slot = o->slot[reg];
	any.addr = o->range[slot].addr;
	any.len = o->range[slot].len;
	o->dropping = true;
	/* One that has not begun yet begins, and ends by the second. */
	for (int i = 0; i < 2; i++)
		reuse_trap(o->engine, &o->thread, slot, o->generation[slot],
			   &any, o->now);
	o->dropping = false;
	program(o);
	tell_failed(o);
}

const struct watch_range *reuse_own_range(const struct reuse_own *o, int reg)
{
	return (uint32_t)reg < o->armed ? &o->range[o->slot[reg]] : NULL;
}

void reuse_own_broken(struct reuse_own *o)
{
	o->broken = o->armed > 0;
}

void reuse_own_end(struct reuse_own *o, uint64_t count)
{
	drop_broken(o);
	o->now = count;
	reuse_thread_end(o->engine, &o->thread);
}
