/* SPDX-License-Identifier: MIT */
/*
 * reuse - reuse times from the samples of the source instr
 *
 * An engine of src/engine/reuse.h for each scope and granularity that is asked
 * for. Time is the accesses that hooks count, of the thread or, shared and
 * global, of all threads under its cache: count.c.
 *
 * Watched in software: the hooks tell of accesses to lines that are marked, and
 * the ranges themselves are compared here. A slot's range is 0 while it
 * changes, and its generation is read before it.
 *
 * Watched by registers, one for each slot: each thread sets its own, as
 * rearm.c says. A hook runs before its access, so a use that is armed at
 * once traps, and is the use by that (use_next). Nothing that comes after it
 * can be missed. Where nothing can come before the thread's next hook either
 * (lookahead.c), it is armed there, which spares that trap. An access that
 * traps is not told of by the hooks as well; threads that found no registers
 * are told by their hooks alone.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "reuse.h"
#include "config.h"
#include "count.h"
#include "event.h"
#include "frames.h"
#include "lookahead.h"
#include "place.h"
#include "rearm.h"
#include "source.h"
#include "watch.h"
#include "state.h"
#include "preload/threads/thread_rows.h"
#include "preload/core/maps.h"
#include "preload/core/thread.h"
#include "preload/core/sys.h"
#include "preload/watch/watch.h"
#include "src/engine/reuse_thread_regs.h"
#include "src/x86/decode/insn.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	PIECES_MAX = 1024, /* of a range that is sampled */
	LEN_SHIFT = 56,    /* above any address: bytes of a range */
	TRAPS_MAX = 100,   /* for one use */
	STACK_POINTER = 4, /* of cpu_state.gpr */
	FILTER_BYTES = 1 << 16,
};

_Static_assert(INSTR_REUSE_SLOTS_MAX + TRANSFER_SLOTS_MAX < 256,
	       "the bytes of the hooks' table count marks");

struct watched {
	_Atomic uint64_t range; /* address and bytes, 0: nothing */
	_Atomic uint32_t generation;
	_Atomic uint32_t thread; /* of the use */
	_Atomic uint32_t traps;  /* of registers, so armed */
	uint64_t marked;         /* as range, for who arms */
};

struct engine {
	struct reuse *reuse;
	size_t bytes; /* of memory */
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	struct watched *watched; /* by slot */
};

static struct engine engine[INSTR_REUSE_ENGINES];
static uint32_t engines;
static struct watched watched[INSTR_REUSE_SLOTS_MAX];
/* Ranges that have a byte, by its address; the first bytes once more behind. */
static uint8_t filter[FILTER_BYTES + INSTR_WIDEST];
static struct reuse_tally rest; /* for what is left at the end */
static uint32_t slots;          /* of each engine */
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
	uint64_t addr = range_addr(range), bytes = range_bytes(range);

	for (uint64_t i = 0; i < bytes; i++) {
		uint64_t at = (addr + i) % FILTER_BYTES;

		__atomic_fetch_add(&filter[at], change, __ATOMIC_RELAXED);
		if (at < INSTR_WIDEST)
			__atomic_fetch_add(&filter[at + FILTER_BYTES], change,
					   __ATOMIC_RELAXED);
	}
	if (range)
		instr_watch_mark(addr, bytes, change);
}

/*
 * Most of what the hooks tell of has only the line in common with what is
 * watched. Is a byte of it watched?
 */
static bool may_touch(const struct access *a)
{
	const uint8_t *at = &filter[a->addr % FILTER_BYTES];
	uint64_t low, high;

	if (!a->len || a->len > INSTR_WIDEST)
		return true;
	memcpy(&low, at, sizeof(low));
	memcpy(&high, at + sizeof(low), sizeof(high));
	if (a->len < sizeof(low))
		return low << 8 * (sizeof(low) - a->len);
	return low ||
	       (a->len > sizeof(low) && high << 8 * (INSTR_WIDEST - a->len));
}

static uint64_t count_for(const struct thread *t, const struct engine *e)
{
	return e->scope == REUSE_PRIVATE
		       ? instr_accesses(t)
		       : instr_count_domain(instr_of(t)->place.domain);
}

/* Of a thread, or a cache, as this one sees it. */
static uint64_t count_of(void *ctx, const struct cpu_place *use)
{
	const struct instr_reuse *r = ctx;
	uint64_t count;

	if (engine[r->engine].scope != REUSE_PRIVATE)
		return instr_count_domain(use->domain);
	return instr_count_thread(use->thread, &count) ? count
						       : REUSE_TIME_UNKNOWN;
}

static int arm(void *ctx, const struct reuse_watched *w)
{
	struct instr_reuse *r = ctx;
	struct watched *s = &engine[r->engine].watched[w->slot];
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
	struct watched *s = &engine[r->engine].watched[slot];

	atomic_store_explicit(&s->range, 0, memory_order_relaxed);
	mark(s->marked, -1);
	s->marked = 0;
}

static void decided(void *ctx, const struct reuse_event *e)
{
	struct instr_reuse *r = ctx;
	const struct engine *g = &engine[r->engine];
	uint64_t generation = maps_note(e->use.ip);

	if (e->end.flags)
		generation = maps_note(e->end.ip);
	if (reuse_tally_add(&runtime.store, r->tally, g->scope, g->granularity,
			    e, generation))
		count_loss(r->owner, LOSS_STORE_FULL);
}

/* There is one engine then. */
static int arm_registers(void *ctx, const struct reuse_watched *w)
{
	struct instr_reuse *r = ctx;
	struct instr_awaited *awaited = &instr_of(r->owner)->awaited;
	struct watch_range range =
		reuse_thread_regs_part(w->addr, w->len, &r->thread.rng);
	struct reuse_watched part = *w;

	part.addr = range.addr;
	part.len = range.len;
	atomic_store_explicit(&watched[w->slot].traps, 0, memory_order_relaxed);
	arm(r, &part);
	instr_count_rearm_others(r->owner);
	awaited->call = 0;
	if (instr_of(r->owner)->bank && instr_of(r->owner)->from)
		awaited->call = instr_lookahead(
			r->owner, instr_of(r->owner)->from, &range);
	if (!awaited->call) {
		instr_rearm_update(r->owner);
		return 0;
	}
	awaited->slot = w->slot;
	awaited->generation = w->generation;
	instr_rearm_off(r->owner, w->slot);
	instr_rearm_request(r->owner);
	return 0;
}

static void disarm_register(void *ctx, uint32_t slot)
{
	struct instr_reuse *r = ctx;

	disarm(r, slot);
	if (!r->owner)
		return;
	instr_count_rearm_others(r->owner);
	instr_rearm_off(r->owner, slot);
}

bool instr_reuse_by_registers(void)
{
	return hardware && instr_is_source();
}

bool instr_reuse_slot(uint32_t slot, struct instr_slot *s)
{
	uint64_t range;

	/* (K) pairs with (J). */
	s->generation = atomic_load_explicit(&watched[slot].generation,
					     memory_order_acquire);
	range = atomic_load_explicit(&watched[slot].range,
				     memory_order_relaxed);
	s->thread = atomic_load_explicit(&watched[slot].thread,
					 memory_order_relaxed);
	s->range.addr = range_addr(range);
	s->range.len = range_bytes(range);
	return range;
}

static const struct reuse_watch software = { arm, disarm, count_of };
static const struct reuse_watch debug_registers = { arm_registers,
						    disarm_register, count_of };
static const struct reuse_sink sink = { decided };

static int make(struct engine *g)
{
	struct reuse_config config = {
		.scope = g->scope,
		.granularity = g->granularity,
		.line_bytes = LINE_BYTES,
		.slots = slots,
		.use_next = hardware,
	};
	void *mem;

	g->bytes = reuse_size(&config);
	mem = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	g->reuse = reuse_init(mem, &config,
			      hardware ? &debug_registers : &software, &sink);
	return g->reuse ? 0 : -EINVAL;
}

int instr_reuse_init(uint32_t registers)
{
	const struct instr_config *c = &instr_config;
	int r = instr_frames_init();

	hardware = registers;
	if (hardware)
		instr_rearm_init();
	slots = registers ? registers : c->slots;
	memset(watched, 0, sizeof(watched));
	memset(filter, 0, sizeof(filter));
	atomic_store(&limited, 0);
	rest = (struct reuse_tally){ .writer.section = CDP_REUSE,
				     .period = c->period };
	instr_count_init();
	for (uint32_t i = 0; i < engines;
	     i++) /* a forked child's are its own */
		munmap(engine[i].reuse, engine[i].bytes);
	engines = 0;
	for (enum reuse_scope s = 0; s < REUSE_SCOPES; s++)
		for (enum reuse_granularity g = 0; g < REUSE_GRANULARITIES; g++)
			if (!r && c->scopes & 1u << s &&
			    c->granularities & 1u << g) {
				engine[engines] = (struct engine){
					.scope = s,
					.granularity = g,
					.watched = &watched[engines * slots],
				};
				r = make(&engine[engines]);
				engines += !r;
			}
	return r;
}

void instr_reuse_start(struct thread *t)
{
	instr_of(t)->place = instr_place(t->record->id);
	instr_of(t)->awaited.call = 0;
	instr_of(t)->reuse_tally = (struct reuse_tally){
		.writer.section = CDP_REUSE,
		.period = instr_config.period,
	};
	for (uint32_t i = 0; i < engines; i++) {
		struct instr_reuse *r = &instr_of(t)->reuse[i];

		r->owner = t;
		r->tally = &instr_of(t)->reuse_tally;
		r->engine = i;
		reuse_thread_init(&r->thread, &instr_of(t)->place, r,
				  runtime.seed + 2 + i);
	}
	thread_mark_referenced(t->record->id);
	instr_count_begin(t);
	instr_of(t)->in_reuse = true;
}

void instr_reuse_end(struct thread *t)
{
	uint64_t all = ~0ull, before = 0;

	instr_of(t)->in_reuse = false;
	/* Who has a lock is not to be interrupted. */
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	for (uint32_t i = 0; i < engines; i++)
		reuse_thread_end(engine[i].reuse,
				 &instr_of(t)->reuse[i].thread);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
	reuse_tally_release(&instr_of(t)->reuse_tally);
}

/*
 * May an access of @t decide what slot @s of @g watches? Then *@piece is what
 * it does to it.
 */
static bool decides(const struct engine *g, const struct watched *s,
		    const struct thread *t, const struct access *a,
		    struct access *piece, uint32_t *generation)
{
	struct cpu_place use;
	uint64_t range, addr, end;

	/* (K) pairs with (J). */
	*generation =
		atomic_load_explicit(&s->generation, memory_order_acquire);
	range = atomic_load_explicit(&s->range, memory_order_relaxed);
	addr = range_addr(range);
	end = addr + range_bytes(range);
	if (a->addr >= end || addr >= a->addr + a->len)
		return false;
	use = instr_place(
		atomic_load_explicit(&s->thread, memory_order_relaxed));
	if (reuse_verdict(g->scope, &use, &instr_of(t)->place,
			  access_stores(a)) == REUSE_NOTHING)
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

	if (instr_of(t)->bank || !may_touch(a))
		return false;
	for (const struct engine *g = engine; g < engine + engines; g++)
		for (uint32_t i = 0; i < slots; i++)
			if (decides(g, &g->watched[i], t, a, &piece,
				    &generation))
				return true;
	return false;
}

static void trap(struct thread *t, const struct access *a)
{
	struct access piece;
	uint32_t generation;

	for (uint32_t n = 0; instr_of(t)->in_reuse && n < engines; n++) {
		const struct engine *g = &engine[n];

		for (uint32_t i = 0; i < slots; i++) {
			if (!decides(g, &g->watched[i], t, a, &piece,
				     &generation))
				continue;
			store_add(&t->record->traps, 1);
			reuse_trap(g->reuse, &instr_of(t)->reuse[n].thread, i,
				   generation, &piece, count_for(t, g));
		}
	}
}

void instr_reuse_trap(struct thread *t, const struct access *a, uint64_t sp)
{
	instr_frames_path(t, sp, a->ip);
	trap(t, a);
}

static void give_up(struct thread *t, int slot, uint32_t generation)
{
	uint64_t weight =
		reuse_drop(engine[0].reuse, &instr_of(t)->reuse[0].thread, slot,
			   generation);

	atomic_fetch_add_explicit(&limited, weight, memory_order_relaxed);
	store_add(&t->record->loss[LOSS_TRAP_LIMIT], weight);
}

/*
 * A trap that comes late was of an access that our own handler made, or the
 * program with the signal blocked. When, nobody knows: the use is lost.
 */
void instr_reuse_register(struct thread *t, const struct watch_signal *what,
			  const struct cpu_state *cpu)
{
	uint32_t reg = what->reg, traps;
	struct instr_slot armed, now;
	struct access a;

	store_add(&t->record->traps, 1);
	if (!instr_of(t)->in_reuse || !instr_of(t)->bank || reg >= slots) {
		count_loss(t, LOSS_TRAP_STALE);
		return;
	}
	armed = instr_of(t)->armed[reg];
	if (what->addr && what->addr != armed.range.addr) {
		count_loss(t, LOSS_TRAP_STALE);
		return;
	}
	if (!instr_reuse_slot(reg, &now) ||
	    now.generation != armed.generation) {
		instr_rearm_off(t, reg);
		count_loss(t, LOSS_TRAP_STALE);
		return;
	}
	if (what->late) {
		instr_rearm_off(t, reg);
		reuse_drop(engine[0].reuse, &instr_of(t)->reuse[0].thread, reg,
			   now.generation);
		return;
	}
	a = instr_rearm_access(t, &armed, cpu);
	instr_frames_path(t, cpu->gpr[STACK_POINTER], a.ip);
	reuse_trap(engine[0].reuse, &instr_of(t)->reuse[0].thread, reg,
		   now.generation, &a, instr_accesses(t));
	traps = atomic_fetch_add_explicit(&watched[reg].traps, 1,
					  memory_order_relaxed);
	if (traps + 1 >= TRAPS_MAX)
		give_up(t, reg, now.generation);
}

void instr_reuse_sample(struct thread *t, const struct access *a, uint64_t sp)
{
	struct access piece = *a;
	uint64_t end = a->addr + a->len;
	int pieces = 0;

	if (!instr_of(t)->in_reuse)
		return;
	instr_frames_path(t, sp, a->ip);
	while (piece.addr < end && pieces++ < PIECES_MAX) {
		uint64_t next = (piece.addr | (LINE_BYTES - 1)) + 1;

		if (a->len <= LINE_BYTES || next > end)
			next = end;
		piece.len = next - piece.addr;
		for (uint32_t i = 0; i < engines; i++)
			reuse_sample(engine[i].reuse,
				     &instr_of(t)->reuse[i].thread, &piece,
				     count_for(t, &engine[i]));
		piece.addr = next;
	}
	if (piece.addr < end)
		count_loss(t, LOSS_NO_REGISTER);
	if (!hardware)
		return;
	/* The use is this access: nothing else will tell of it. */
	if (!instr_of(t)->bank)
		trap(t, a);
	else if (instr_of(t)->awaited.call)
		reuse_trap(engine[0].reuse, &instr_of(t)->reuse[0].thread,
			   instr_of(t)->awaited.slot,
			   instr_of(t)->awaited.generation, a,
			   instr_accesses(t));
}

void instr_reuse_hook(struct thread *t, uint64_t ip)
{
	struct instr_awaited a = instr_of(t)->awaited;

	instr_of(t)->awaited.call = 0;
	/* A handler of the program's came first: who knows what it did. */
	if (a.call && ip - a.call >= INSN_BYTES_MAX)
		reuse_drop(engine[0].reuse, &instr_of(t)->reuse[0].thread,
			   a.slot, a.generation);
}

static void add_loss(enum loss_cause cause, uint64_t uses)
{
	__atomic_fetch_add(&runtime.store.header->loss[cause], uses,
			   __ATOMIC_RELAXED);
}

void instr_reuse_finish(void)
{
	struct cpu_place nowhere = { 0, 0, 0 };
	struct reuse_stats stats;

	for (uint32_t i = 0; i < engines; i++) {
		struct instr_reuse r = { .tally = &rest, .engine = i };

		reuse_thread_init(&r.thread, &nowhere, &r, runtime.seed);
		reuse_finish(engine[i].reuse, &r.thread);
		stats = reuse_stats(engine[i].reuse);
		add_loss(LOSS_EXITING, stats.waiting);
		add_loss(LOSS_NO_REGISTER,
			 stats.failed - stats.waiting -
				 atomic_exchange(&limited, 0));
	}
	add_loss(LOSS_NO_PATH, instr_frames_lost());
}
