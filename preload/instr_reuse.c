/* SPDX-License-Identifier: MIT */
/*
 * instr_reuse - reuse times from the samples of the source instr
 *
 * An engine of src/reuse.h for each granularity, private scope: time is the
 * accesses of the thread, which its hooks count. When another thread's store
 * invalidates a use, the owner's count is not known to it.
 *
 * Watched in software: the hooks tell of accesses to lines that are marked, and
 * the ranges themselves are compared here. A slot's range is 0 while it
 * changes, and its generation is read before it.
 *
 * Watched by registers, one for each slot: they trap all threads. A hook runs
 * before its access, so a use is armed before it is made: it traps, and is the
 * use by that (use_next). Nothing that comes after it can be missed. An access
 * that traps is not told of by the hooks as well.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "instr_source.h"
#include "runtime.h"
#include "src/reuse_own.h"
#include "state.h"
#include "signal_safe.h"

enum {
	LINE_BYTES = 64,
	PIECES_MAX = 1024, /* of a range that is sampled */
	LEN_SHIFT = 56,    /* above any address: bytes of a range */
	TRAPS_MAX = 100,   /* of a register, for one use */
};

_Static_assert(REUSE_GRANULARITIES *INSTR_REUSE_SLOTS_MAX < 256,
	       "the bytes of the hooks' table count marks");

struct watched {
	_Atomic uint64_t range; /* address and bytes, 0: nothing */
	_Atomic uint32_t generation;
	_Atomic uint32_t thread; /* of the use */
	uint64_t marked;         /* as range, for who arms */
};

static struct reuse *reuse[REUSE_GRANULARITIES]; /* NULL: not asked for */
static size_t reuse_bytes[REUSE_GRANULARITIES];
static struct watched watched[REUSE_GRANULARITIES][INSTR_REUSE_SLOTS_MAX];
static struct reuse_tally rest; /* for what is left at the end */
static uint32_t slots;          /* of each granularity */
static bool hardware;
static _Atomic uint64_t limited; /* uses given up: TRAPS_MAX */

static uint64_t range_addr(uint64_t range)
{
	return range & ((UINT64_C(1) << LEN_SHIFT) - 1);
}

static uint64_t range_bytes(uint64_t range)
{
	return range >> LEN_SHIFT;
}

static void mark(uint64_t range, int change)
{
	uint64_t line = range_addr(range) & -(uint64_t)LINE_BYTES;
	uint64_t end = range_addr(range) + range_bytes(range);

	if (!range)
		return;
	instr_watch_mark(line, change);
	if (end > line + LINE_BYTES)
		instr_watch_mark(line + LINE_BYTES, change);
}

static int arm(void *ctx, const struct reuse_watched *w)
{
	struct instr_reuse *r = ctx;
	struct watched *s = &watched[r->granularity][w->slot];
	uint64_t range = w->addr | (uint64_t)w->len << LEN_SHIFT;

	atomic_store_explicit(&s->range, 0, memory_order_relaxed);
	/* (J) pairs with (K): the old range is gone before the generation. */
	atomic_store_explicit(&s->generation, w->generation,
			      memory_order_release);
	atomic_store_explicit(&s->thread, w->place.thread,
			      memory_order_relaxed);
	atomic_store_explicit(&s->range, range, memory_order_relaxed);
	mark(range, 1);
	mark(s->marked, -1);
	s->marked = range;
	store_add(&r->owner->record->arms, 1);
	return 0;
}

static void disarm(void *ctx, uint32_t slot)
{
	struct instr_reuse *r = ctx;
	struct watched *s = &watched[r->granularity][slot];

	atomic_store_explicit(&s->range, 0, memory_order_relaxed);
	mark(s->marked, -1);
	s->marked = 0;
}

static void decided(void *ctx, const struct reuse_event *e)
{
	struct instr_reuse *r = ctx;
	uint64_t generation = maps_note(e->use.ip);

	if (e->end.flags)
		generation = maps_note(e->end.ip);
	if (reuse_tally_add(&runtime.store, r->tally, REUSE_PRIVATE,
			    r->granularity, e, generation))
		lose(r->owner, LOSS_STORE_FULL);
}

static int arm_register(void *ctx, const struct reuse_watched *w)
{
	struct instr_reuse *r = ctx;
	struct watch_range range =
		reuse_own_part(w->addr, w->len, &r->thread.rng);

	atomic_store_explicit(&watched[r->granularity][w->slot].thread,
			      w->place.thread, memory_order_relaxed);
	store_add(&r->owner->record->arms, 1);
	return instr_register_set(w->slot, &range, w->generation);
}

static void disarm_register(void *ctx, uint32_t slot)
{
	instr_register_off(slot);
}

static const struct reuse_watch software = { arm, disarm, NULL };
static const struct reuse_watch debug_registers = { arm_register,
						    disarm_register, NULL };
static const struct reuse_sink sink = { decided };

int instr_reuse_init(uint32_t registers)
{
	struct reuse_config config = {
		.scope = REUSE_PRIVATE,
		.line_bytes = LINE_BYTES,
		.slots = registers ? registers : instr_config.slots,
		.use_next = registers,
	};

	slots = config.slots;
	hardware = registers;
	memset(watched, 0, sizeof(watched));
	rest = (struct reuse_tally){ .writer.section = CDP_REUSE,
				     .period = instr_config.period };
	for (int g = 0; g < REUSE_GRANULARITIES; g++) {
		void *mem;

		if (reuse[g]) /* a forked child's is its own */
			munmap(reuse[g], reuse_bytes[g]);
		reuse[g] = NULL;
		if (!(instr_config.granularities & 1u << g))
			continue;
		config.granularity = g;
		reuse_bytes[g] = reuse_size(&config);
		mem = mmap(NULL, reuse_bytes[g], PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mem == MAP_FAILED)
			return -ENOMEM;
		reuse[g] = reuse_init(mem, &config,
				      registers ? &debug_registers : &software,
				      &sink);
		if (!reuse[g])
			return -EINVAL;
	}
	return 0;
}

void instr_reuse_start(struct thread *t)
{
	struct reuse_place place = { .thread = t->record->id };

	t->instr.reuse_tally = (struct reuse_tally){
		.writer.section = CDP_REUSE,
		.period = instr_config.period,
	};
	for (int g = 0; g < REUSE_GRANULARITIES; g++) {
		struct instr_reuse *r = &t->instr.reuse[g];

		r->owner = t;
		r->tally = &t->instr.reuse_tally;
		r->granularity = g;
		reuse_thread_init(&r->thread, &place, r, runtime.seed + 2 + g);
	}
	thread_mark_referenced(t->record->id);
	t->instr.in_reuse = true;
}

void instr_reuse_end(struct thread *t)
{
	if (!t->instr.in_reuse)
		return;
	t->instr.in_reuse = false;
	for (int g = 0; g < REUSE_GRANULARITIES; g++)
		if (reuse[g])
			reuse_thread_end(reuse[g], &t->instr.reuse[g].thread);
	reuse_tally_release(&t->instr.reuse_tally);
}

/* May an access decide what slot @s watches? Then *@piece is what it does. */
static bool decides(const struct watched *s, const struct thread *t,
		    const struct access *a, struct access *piece,
		    uint32_t *generation)
{
	uint64_t range, addr, end;

	/* (K) pairs with (J). */
	*generation =
		atomic_load_explicit(&s->generation, memory_order_acquire);
	range = atomic_load_explicit(&s->range, memory_order_relaxed);
	addr = range_addr(range);
	end = addr + range_bytes(range);
	if (a->addr >= end || addr >= a->addr + a->len)
		return false;
	if (!reuse_stores(a) &&
	    atomic_load_explicit(&s->thread, memory_order_relaxed) !=
		    t->record->id)
		return false;
	*piece = *a;
	if (a->len > LINE_BYTES) {
		piece->addr = a->addr > addr ? a->addr : addr;
		piece->len = (a->addr + a->len < end ? a->addr + a->len : end) -
			     piece->addr;
	}
	return true;
}

bool instr_reuse_watches(const struct thread *t, const struct access *a)
{
	struct access piece;
	uint32_t generation;

	if (hardware)
		return false;
	for (int g = 0; g < REUSE_GRANULARITIES; g++)
		for (uint32_t i = 0; reuse[g] && i < slots; i++)
			if (decides(&watched[g][i], t, a, &piece, &generation))
				return true;
	return false;
}

void instr_reuse_trap(struct thread *t, const struct access *a, uint64_t count)
{
	struct access piece;
	uint32_t generation;

	for (int g = 0; t->instr.in_reuse && g < REUSE_GRANULARITIES; g++)
		for (uint32_t i = 0; reuse[g] && i < slots; i++) {
			if (!decides(&watched[g][i], t, a, &piece, &generation))
				continue;
			store_add(&t->record->traps, 1);
			reuse_trap(reuse[g], &t->instr.reuse[g].thread, i,
				   generation, &piece, count);
		}
}

/* What the thread's access was, as far as the processor and the code tell. */
static struct access trapped(struct thread *t, const struct watch_range *w,
			     bool own, const struct cpu_state *cpu)
{
	struct access a = { .ip = cpu->rip };

	if (sample_trapped(t, cpu, w, &a)) {
		instr_attribute(&a);
		return a;
	}
	lose(t, LOSS_TRAP_INEXACT);
	/* The owner's decides in any case; of another one it is not known. */
	return (struct access){ .addr = w->addr,
				.ip = cpu->rip,
				.len = w->len,
				.flags = own ? ACCESS_LOAD : 0 };
}

static void give_up(struct thread *t, enum reuse_granularity g, int slot,
		    uint32_t generation)
{
	uint64_t weight = reuse_drop(reuse[g], &t->instr.reuse[g].thread, slot,
				     generation);

	atomic_fetch_add_explicit(&limited, weight, memory_order_relaxed);
	store_add(&t->record->loss[LOSS_TRAP_LIMIT], weight);
}

void instr_reuse_register(struct thread *t, int reg, uint32_t tag,
			  const struct cpu_state *cpu)
{
	struct watch_range range;
	struct access a;
	uint32_t generation, traps;
	bool own;

	traps = instr_register_trapped(reg, tag, &range, &generation);
	if (!traps || !t->instr.in_reuse) {
		lose(t, LOSS_TRAP_STALE);
		return;
	}
	for (int g = 0; g < REUSE_GRANULARITIES; g++) {
		if (!reuse[g])
			continue;
		own = atomic_load_explicit(&watched[g][reg].thread,
					   memory_order_relaxed) ==
		      t->record->id;
		a = trapped(t, &range, own, cpu);
		reuse_trap(reuse[g], &t->instr.reuse[g].thread, reg, generation,
			   &a, instr_accesses(t));
		if (traps >= TRAPS_MAX)
			give_up(t, g, reg, generation);
	}
}

void instr_reuse_sample(struct thread *t, const struct access *a,
			uint64_t count)
{
	struct access piece = *a;
	uint64_t end = a->addr + a->len;
	int pieces = 0;

	if (!t->instr.in_reuse)
		return;
	while (piece.addr < end && pieces++ < PIECES_MAX) {
		uint64_t next = (piece.addr | (LINE_BYTES - 1)) + 1;

		if (a->len <= LINE_BYTES || next > end)
			next = end;
		piece.len = next - piece.addr;
		for (int g = 0; g < REUSE_GRANULARITIES; g++)
			if (reuse[g])
				reuse_sample(reuse[g],
					     &t->instr.reuse[g].thread, &piece,
					     count);
		piece.addr = next;
	}
	if (piece.addr < end)
		lose(t, LOSS_NO_REGISTER);
}

void instr_reuse_finish(void)
{
	struct reuse_place nowhere = { 0, 0, 0 };
	uint64_t lost;

	for (int g = 0; g < REUSE_GRANULARITIES; g++) {
		struct instr_reuse r = { .tally = &rest, .granularity = g };

		if (!reuse[g])
			continue;
		reuse_thread_init(&r.thread, &nowhere, &r, runtime.seed);
		reuse_finish(reuse[g], &r.thread);
		lost = reuse_stats(reuse[g]).failed - atomic_load(&limited);
		__atomic_fetch_add(
			&runtime.store.header->loss[LOSS_NO_REGISTER], lost,
			__ATOMIC_RELAXED);
	}
}
