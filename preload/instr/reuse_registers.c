/* SPDX-License-Identifier: MIT */
/*
 * reuse_registers - uses that debug registers watch
 *
 * There is one engine then, and one register for each of its slots; each thread
 * sets its own registers as the slots say (rearm.h).
 *
 * A hook runs before its access. So a use that is armed at once traps when the
 * access is made, and that trap is its first access (use_next): nothing that
 * comes after it can be missed. If the code up to the thread's next hook makes
 * no other access to the range (lookahead.h), the use is armed at that hook
 * instead, which saves the trap.
 *
 * The hooks do not report an access that traps. A thread that found no
 * registers gets reports of its hooks alone.
 */
#include <stdatomic.h>

#include "count.h"
#include "counters.h"
#include "frames.h"
#include "lookahead.h"
#include "rearm.h"
#include "reuse.h"
#include "reuse_internal.h"
#include "state.h"
#include "preload/core/thread.h"
#include "preload/watch/watch.h"
#include "src/engine/reuse_thread_regs.h"
#include "src/x86/decode/insn.h"
#include "src/base/signal_safe.h"

enum {
	TRAPS_MAX = 100,   /* for one use */
	STACK_POINTER = 4, /* of cpu_state.gpr */
};

static struct reuse *reuse;
static uint32_t registers;                         /* 0: not used */
static _Atomic uint32_t traps[COMM_REGISTERS_MAX]; /* since armed */
static _Atomic uint64_t given_up; /* uses that trapped too often */

void instr_reuse_registers_init(struct reuse *engine, uint32_t n)
{
	reuse = engine;
	registers = n;
	atomic_store(&given_up, 0);
}

bool instr_reuse_by_registers(void)
{
	return registers;
}

uint64_t instr_reuse_registers_given_up(void)
{
	return atomic_exchange(&given_up, 0);
}

int instr_reuse_registers_arm(void *ctx, const struct reuse_watched *w)
{
	struct instr_reuse *r = ctx;
	struct instr_awaited *awaited = &instr_of(r->owner)->awaited;
	struct watch_range range =
		reuse_thread_regs_part(w->addr, w->len, &r->thread.rng);
	struct reuse_watched part = *w;

	part.addr = range.addr;
	part.len = range.len;
	atomic_store_explicit(&traps[w->slot], 0, memory_order_relaxed);
	instr_reuse_slots_arm(instr_reuse_slots(w->slot), &part);
	store_add(&r->owner->record->arms, 1);
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

void instr_reuse_registers_disarm(void *ctx, uint32_t slot)
{
	struct instr_reuse *r = ctx;

	instr_reuse_slots_disarm(instr_reuse_slots(slot));
	if (!r->owner)
		return;
	instr_count_rearm_others(r->owner);
	instr_rearm_off(r->owner, slot);
}

static void drop(struct thread *t, uint32_t slot, uint32_t generation)
{
	reuse_drop(reuse, &instr_of(t)->reuse[0].thread, slot, generation);
}

static void give_up(struct thread *t, uint32_t slot, uint32_t generation)
{
	uint64_t weight = reuse_drop(reuse, &instr_of(t)->reuse[0].thread, slot,
				     generation);

	atomic_fetch_add_explicit(&given_up, weight, memory_order_relaxed);
	store_add(&t->record->loss[LOSS_TRAP_LIMIT], weight);
}

static void trap(struct thread *t, uint32_t slot, uint32_t generation,
		 const struct access *a)
{
	reuse_trap(reuse, &instr_of(t)->reuse[0].thread, slot, generation, a,
		   instr_counters_accesses(t));
}

/*
 * A trap that comes late was caused by our own handler, or by the program while
 * it blocked the signal. When that was is not known, so the use is lost.
 */
void instr_reuse_register(struct thread *t, const struct watch_signal *what,
			  const struct cpu_state *cpu)
{
	uint32_t reg = what->reg;
	struct instr_slot armed, now;
	struct access a;

	store_add(&t->record->traps, 1);
	if (!instr_of(t)->in_reuse || !instr_of(t)->bank || reg >= registers) {
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
		drop(t, reg, now.generation);
		return;
	}
	a = instr_rearm_access(t, &armed, cpu);
	instr_frames_path(t, cpu->gpr[STACK_POINTER], a.ip);
	trap(t, reg, now.generation, &a);
	if (atomic_fetch_add_explicit(&traps[reg], 1, memory_order_relaxed) +
		    1 >=
	    TRAPS_MAX)
		give_up(t, reg, now.generation);
}

void instr_reuse_registers_sampled(struct thread *t, const struct access *a)
{
	const struct instr_awaited *awaited = &instr_of(t)->awaited;

	if (awaited->call)
		trap(t, awaited->slot, awaited->generation, a);
}

void instr_reuse_hook(struct thread *t, uint64_t ip)
{
	struct instr_awaited a = instr_of(t)->awaited;

	instr_of(t)->awaited.call = 0;
	/* A handler of the program came first, and its accesses are unknown. */
	if (a.call && ip - a.call >= INSN_BYTES_MAX)
		drop(t, a.slot, a.generation);
}
