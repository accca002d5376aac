/* SPDX-License-Identifier: MIT */
/*
 * reuse_thread_regs - reuse times of one thread, watched by its own debug
 * registers
 *
 * All registers that are needed are armed together, from number 0 on, so the
 * slot that a register serves changes with each arming.
 */
#include <errno.h>
#include <string.h>

#include "reuse_thread_regs.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	WIDEST = 8, /* bytes that a register watches */
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

size_t reuse_thread_regs_size(uint32_t registers)
{
	struct reuse_config c = config(registers);

	return registers <= COMM_REGISTERS_MAX ? reuse_size(&c) : 0;
}

struct watch_range reuse_thread_regs_part(uint64_t addr, uint32_t len,
					  struct rng *rng)
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

/* Arm the registers for the ranges of the slots. */
static int program(struct reuse_thread_regs *r)
{
	struct watch_range list[COMM_REGISTERS_MAX];
	uint32_t n = 0;
	int armed;

	for (uint32_t i = 0; i < COMM_REGISTERS_MAX; i++) {
		if (!r->range[i].len)
			continue;
		r->slot[n] = i;
		list[n++] = r->range[i];
	}
	r->armed = 0;
	if (!n) {
		r->watch->disarm(r->ctx);
		return 0;
	}
	armed = r->watch->arm(r->ctx, list, (int)n);
	if (armed > 0)
		r->armed = (uint32_t)armed;
	/* What was not armed before stays lost, even if all is armed now. */
	r->broken |= r->armed < n;
	return r->armed < n ? -EBUSY : 0;
}

static int arm(void *ctx, const struct reuse_watched *w)
{
	struct reuse_thread_regs *r = ctx;

	r->range[w->slot] =
		reuse_thread_regs_part(w->addr, w->len, &r->thread.rng);
	r->generation[w->slot] = w->generation;
	r->maker[w->slot] = r->chosen;
	r->others[w->slot] = REUSE_THREAD_REGS_OTHERS;
	if (!program(r))
		return 0;
	r->range[w->slot].len = 0;
	return -EBUSY;
}

static void disarm(void *ctx, uint32_t slot)
{
	struct reuse_thread_regs *r = ctx;

	r->range[slot].len = 0;
	if (!r->dropping)
		program(r);
}

static uint64_t now(void *ctx, const struct cpu_place *use)
{
	struct reuse_thread_regs *r = ctx;

	return r->dropping ? REUSE_TIME_UNKNOWN : r->now;
}

static void decided(void *ctx, const struct reuse_event *v)
{
	struct reuse_thread_regs *r = ctx;

	if (r->dropping)
		r->sink->lost(r->ctx, v->weight);
	else
		r->sink->decided(r->ctx, v);
}

void reuse_thread_regs_init(struct reuse_thread_regs *r, void *mem,
			    uint32_t registers, uint32_t id,
			    const struct comm_watch *watch,
			    const struct reuse_thread_regs_sink *sink,
			    void *ctx, uint64_t seed)
{
	static const struct reuse_watch ours = { arm, disarm, now };
	static const struct reuse_sink to = { decided };
	const struct cpu_place place = { .thread = id };
	const struct reuse_config c = config(registers);

	memset(r, 0, sizeof(*r));
	r->watch = watch;
	r->sink = sink;
	r->ctx = ctx;
	r->engine = reuse_init(mem, &c, &ours, &to);
	reuse_thread_init(&r->thread, &place, r, seed);
}

/* Uses whose register was lost: the time of their reuse is not known. */
static void drop_broken(struct reuse_thread_regs *r)
{
	if (!r->broken)
		return;
	r->dropping = true;
	reuse_thread_end(r->engine, &r->thread);
	r->dropping = false;
	r->broken = false;
	r->armed = 0;
}

/* Report the uses that the engine gave up by itself. */
static void tell_failed(struct reuse_thread_regs *r)
{
	uint64_t failed = reuse_stats(r->engine).failed;

	if (failed > r->failed)
		r->sink->lost(r->ctx, failed - r->failed);
	r->failed = failed;
}

void reuse_thread_regs_sample(struct reuse_thread_regs *r,
			      const struct access *a, uint64_t count)
{
	drop_broken(r);
	r->now = count;
	reuse_sample(r->engine, &r->thread, a, count);
	tell_failed(r);
}

void reuse_thread_regs_sample_ahead(struct reuse_thread_regs *r,
				    const struct access *a, uint64_t count)
{
	r->chosen = a->ip;
	reuse_thread_regs_sample(r, a, count);
	r->chosen = 0;
}

/* True if the use is still to come: @a is by another instruction. */
static bool precedes(struct reuse_thread_regs *r, uint32_t slot,
		     const struct access *a)
{
	if (r->maker[slot] && a && a->ip != r->maker[slot] && r->others[slot]) {
		r->others[slot]--;
		return true;
	}
	r->maker[slot] = 0;
	return false;
}

void reuse_thread_regs_trap(struct reuse_thread_regs *r, int reg,
			    const struct access *a, uint64_t count)
{
	struct access unknown = { .flags = ACCESS_LOAD };
	uint32_t slot;

	drop_broken(r);
	if ((uint32_t)reg >= r->armed)
		return;
	slot = r->slot[reg];
	if (precedes(r, slot, a))
		return;
	r->now = count;
	unknown.addr = r->range[slot].addr;
	unknown.len = r->range[slot].len;
	reuse_trap(r->engine, &r->thread, slot, r->generation[slot],
		   a ? a : &unknown, count);
	tell_failed(r);
}

void reuse_thread_regs_spoil(struct reuse_thread_regs *r, int reg)
{
	struct access any = { .flags = ACCESS_LOAD };
	uint32_t slot;

	drop_broken(r);
	if ((uint32_t)reg >= r->armed)
		return;
	slot = r->slot[reg];
	any.addr = r->range[slot].addr;
	any.len = r->range[slot].len;
	r->dropping = true;
	/* If the use has not begun, the first trap begins it. */
	for (int i = 0; i < 2; i++)
		reuse_trap(r->engine, &r->thread, slot, r->generation[slot],
			   &any, r->now);
	r->dropping = false;
	program(r);
	tell_failed(r);
}

const struct watch_range *reuse_thread_regs_range(
	const struct reuse_thread_regs *r, int reg)
{
	return (uint32_t)reg < r->armed ? &r->range[r->slot[reg]] : NULL;
}

void reuse_thread_regs_broken(struct reuse_thread_regs *r)
{
	r->broken |= r->armed > 0;
}

void reuse_thread_regs_end(struct reuse_thread_regs *r, uint64_t count)
{
	drop_broken(r);
	r->now = count;
	reuse_thread_end(r->engine, &r->thread);
}
