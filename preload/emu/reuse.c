/* SPDX-License-Identifier: MIT */
/*
 * reuse - reuse times from samples, watched in software
 *
 * There is an engine of src/engine/reuse.h for each scope and granularity asked
 * for. Each gets every sample, and has its own slots.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "reuse.h"
#include "maps.h"
#include "scheduler.h"
#include "state.h"
#include "src/base/zero_pages.h"
#include "src/engine/reuse_table.h"

enum {
	LINE_BYTES = 64,
	OWNERS = 4096, /* entries of the table below, a power of two */
};

struct engine {
	struct reuse *reuse;
	enum reuse_scope scope;
	enum reuse_granularity granularity;
};

const _Atomic uint8_t *emu_reuse_bytes;

static struct engine engine[EMU_REUSE_ENGINES];
static uint32_t engines;
static struct reuse_table *table;
static unsigned char *memory;
static size_t memory_bytes;

/* The processor that runs the thread with a given id, by low bits of the id. */
static _Atomic uint32_t processor_of[OWNERS];

/* For the uses left at the end. */
static struct reuse_tally rest;

static uint64_t own_count(const struct vcpu *v)
{
	uint64_t sum = 0;

	for (unsigned int class = 0; class < EMU_CLASSES; class ++)
		sum += v->count[class];
	return sum;
}

static uint64_t count_for(const struct vcpu *v, enum reuse_scope scope)
{
	return scope == REUSE_PRIVATE ? own_count(v)
				      : emu_scheduler_domain_ticks(v);
}

static int arm(void *ctx, const struct reuse_watched *w)
{
	struct emu_reuse *r = ctx;

	reuse_table_add(table, r->engine, w);
	return 0;
}

static void disarm(void *ctx, uint32_t slot)
{
	struct emu_reuse *r = ctx;

	reuse_table_remove(table, r->engine, slot);
}

/*
 * A thread that runs in parallel goes on while we read its count, so the count
 * may be some accesses old.
 */
static uint64_t count_of(void *ctx, const struct cpu_place *use)
{
	struct emu_reuse *r = ctx;
	struct vcpu *v;

	if (engine[r->engine].scope != REUSE_PRIVATE)
		return emu_scheduler_ticks_of_domain(use->domain);
	v = &emu.vcpu[atomic_load_explicit(&processor_of[use->thread % OWNERS],
					   memory_order_relaxed)];
	if (!v->record || v->record->id != use->thread)
		return REUSE_TIME_UNKNOWN;
	return own_count(v);
}

static void decided(void *ctx, const struct reuse_event *e)
{
	struct emu_reuse *r = ctx;
	const struct engine *g = &engine[r->engine];
	uint64_t generation = emu_maps_note(e->use.ip);

	if (e->end.flags)
		generation = emu_maps_note(e->end.ip);
	if (reuse_tally_add(&emu.store, r->tally, g->scope, g->granularity, e,
			    generation))
		store_lose(&emu.store, LOSS_STORE_FULL, 1);
}

static const struct reuse_watch watch = { arm, disarm, count_of };
static const struct reuse_sink sink = { decided };

static size_t round_up(size_t bytes)
{
	return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

static void list_engines(void)
{
	static const uint32_t mode[REUSE_SCOPES] = {
		[REUSE_PRIVATE] = CDP_MODE_REUSE,
		[REUSE_SHARED] = CDP_MODE_SHARED,
		[REUSE_GLOBAL] = CDP_MODE_GLOBAL,
	};

	engines = 0;
	for (enum reuse_scope s = 0; s < REUSE_SCOPES; s++)
		for (enum reuse_granularity g = 0; g < REUSE_GRANULARITIES; g++)
			if (emu.config.modes & mode[s] &&
			    emu.config.granularities & 1u << g)
				engine[engines++] =
					(struct engine){ NULL, s, g };
}

static struct reuse_config config_of(const struct engine *g)
{
	return (struct reuse_config){
		.scope = g->scope,
		.granularity = g->granularity,
		.line_bytes = LINE_BYTES,
		.slots = emu.config.slots,
	};
}

int emu_reuse_init(void)
{
	uint32_t slots[REUSE_TABLE_ENGINES] = { 0 };
	unsigned char *next;

	if (memory)
		munmap(memory, memory_bytes);
	memory = NULL;
	rest = (struct reuse_tally){ .writer.section = CDP_REUSE,
				     .period = emu.config.period };
	list_engines();
	for (uint32_t i = 0; i < engines; i++)
		slots[i] = emu.config.slots;
	memory_bytes = round_up(reuse_table_size(slots));
	for (uint32_t i = 0; i < engines; i++) {
		struct reuse_config c = config_of(&engine[i]);

		memory_bytes += round_up(reuse_size(&c));
	}
	next = zero_pages(memory_bytes);
	if (!next)
		return -ENOMEM;
	memory = next;
	table = reuse_table_init(next, slots);
	next += round_up(reuse_table_size(slots));
	for (uint32_t i = 0; i < engines; i++) {
		struct reuse_config c = config_of(&engine[i]);

		engine[i].reuse = reuse_init(next, &c, &watch, &sink);
		if (!engine[i].reuse)
			return -EINVAL;
		next += round_up(reuse_size(&c));
	}
	emu_reuse_bytes = reuse_table_bytes(table);
	return 0;
}

static void start(struct emu_reuse *r, uint32_t i, struct reuse_tally *tally,
		  const struct cpu_place *place)
{
	r->tally = tally;
	r->engine = i;
	reuse_thread_init(&r->thread, place, r, emu.config.seed + 2 + i);
}

void emu_reuse_start(struct vcpu *v)
{
	struct cpu_place place = emu_place(v);

	v->reuse_tally.writer.section = CDP_REUSE;
	v->reuse_tally.period = emu.config.period;
	for (uint32_t i = 0; i < engines; i++)
		start(&v->reuse[i], i, &v->reuse_tally, &place);
	atomic_store_explicit(&processor_of[place.thread % OWNERS],
			      v - emu.vcpu, memory_order_relaxed);
	v->in_reuse = true;
}

void emu_reuse_end(struct vcpu *v)
{
	if (!v->in_reuse)
		return;
	v->in_reuse = false;
	for (uint32_t i = 0; i < engines; i++)
		reuse_thread_end(engine[i].reuse, &v->reuse[i].thread);
	reuse_tally_release(&v->reuse_tally);
}

void emu_reuse_sample(struct vcpu *v, const struct access *a)
{
	for (uint32_t i = 0; v->in_reuse && i < engines; i++)
		reuse_sample(engine[i].reuse, &v->reuse[i].thread, a,
			     count_for(v, engine[i].scope));
}

void emu_reuse_trap(struct vcpu *v, const struct access *a)
{
	struct reuse_hit hit[REUSE_TABLE_HITS];
	uint32_t n;

	if (!v->in_reuse || !reuse_may_watch(emu_reuse_bytes, a->addr, a->len))
		return;
	do {
		n = reuse_table_find(table, a, &v->reuse[0].thread.place, hit);
		for (uint32_t i = 0; i < n; i++) {
			const struct engine *g = &engine[hit[i].engine];

			store_add(&v->record->traps, 1);
			reuse_trap(g->reuse, &v->reuse[hit[i].engine].thread,
				   hit[i].slot, hit[i].generation, a,
				   count_for(v, g->scope));
		}
	} while (n == REUSE_TABLE_HITS);
}

void emu_reuse_finish(void)
{
	struct cpu_place nowhere = { 0, 0, 0 };
	struct emu_reuse r;

	for (uint32_t i = 0; i < engines; i++) {
		start(&r, i, &rest, &nowhere);
		reuse_finish(engine[i].reuse, &r.thread);
	}
}
