/* SPDX-License-Identifier: MIT */
/*
 * rearm - each thread sets its own debug registers when another asks it to
 *
 * The reuse engine publishes what to watch in slots (reuse_slots.c). The
 * publisher then changes one word of every other thread. The word holds the
 * address of the table that the thread's hooks look into; the publisher sets it
 * to a table that makes each access an event. So the thread's next hook reports
 * to us before its access is made; the thread puts its own table back and sets
 * its registers as the slots say, one register for each. This costs a hook
 * nothing, and interrupts no processor.
 *
 *   publisher                      thread
 *     slot                           (U) word = its table
 *     (T) word = each access         slots -> registers
 *
 * (T) releases, (U) acquires: the thread sees the slot, or is asked once more.
 *
 * Threads are asked when a slot becomes free, too: a register that is set makes
 * each context switch of its thread slower, and a trap costs ten times as much
 * as such a request. The thread of a use watches all accesses to it, other
 * threads watch stores alone.
 *
 * A thread that gets no registers watches with its hooks, which look into the
 * table of their library; the slots are marked there as well. A thread that has
 * registers uses a table without marks.
 */
#include <stdatomic.h>
#include <string.h>

#include "rearm.h"
#include "hook_code.h"
#include "libraries.h"
#include "regpool.h"
#include "reuse.h"
#include "state.h"
#include "preload/core/thread.h"
#include "preload/sources/program_memory.h"
#include "src/base/signal_safe.h"

static uint8_t each_access[INSTR_WATCHED], no_access[INSTR_WATCHED];

void instr_rearm_init(void)
{
	memset(each_access, 1, sizeof(each_access));
	instr_regpool_init();
}

static void set_tables(struct thread *t)
{
	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_library *l = instr_library(i);
		const uint8_t *table;

		if (!l)
			continue;
		table = instr_of(t)->bank ? no_access
					  : (const uint8_t *)l->watched;
		/* (U) pairs with (T). */
		(void)atomic_exchange_explicit(&instr_of(t)->copy[i].watched,
					       table, memory_order_acq_rel);
	}
}

static int set(struct thread *t, int reg, const struct instr_slot *s)
{
	int r;

	if (instr_of(t)->armed[reg].generation == s->generation &&
	    instr_of(t)->armed[reg].range.addr == s->range.addr)
		return 0;
	r = instr_regpool_set(t, reg, &s->range, s->thread != t->record->id);
	if (!r)
		instr_of(t)->armed[reg] = *s;
	return r;
}

void instr_rearm_update(struct thread *t)
{
	struct instr_slot s[COMM_REGISTERS_MAX];
	bool is[COMM_REGISTERS_MAX], any = false;
	int r = 0, n = runtime.registers;

	for (int reg = 0; reg < n; reg++)
		any |= instr_reuse_slot(reg, &s[reg]);
	if (any && !instr_regpool_take(t) && !instr_of(t)->by_hooks) {
		count_loss(t, LOSS_NO_EVENT);
		instr_of(t)->by_hooks = true;
	}
	set_tables(t);
	for (int reg = 0; reg < n; reg++)
		is[reg] = instr_reuse_slot(reg, &s[reg]);
	for (int reg = 0; instr_of(t)->bank && reg < n && !r; reg++)
		if (is[reg])
			r = set(t, reg, &s[reg]);
		else
			instr_rearm_off(t, reg);
	if (!r)
		return;
	/* The application may have closed them. */
	instr_regpool_release(t);
	memset(instr_of(t)->armed, 0, sizeof(instr_of(t)->armed));
	set_tables(t);
}

void instr_rearm_off(struct thread *t, int reg)
{
	instr_regpool_off(t, reg);
	instr_of(t)->armed[reg].generation = 0;
}

struct access instr_rearm_access(struct thread *t, const struct instr_slot *s,
				 const struct cpu_state *cpu)
{
	struct access a = { .ip = cpu->rip };
	bool known = program_trapped(t, cpu, &s->range, &a);

	if (known) {
		instr_hook_code_attribute(&a);
	} else {
		count_loss(t, LOSS_TRAP_INEXACT);
		a.addr = s->range.addr;
		a.len = s->range.len;
		a.flags = ACCESS_LOAD; /* the use's own thread: any access
					  decides */
	}
	if (s->thread != t->record->id) /* its register traps at stores alone */
		a.flags |= ACCESS_STORE;
	return a;
}

bool instr_rearm_is_due(const struct thread *t)
{
	for (int i = 0; i < instr_libraries(); i++)
		if (atomic_load_explicit(&instr_of(t)->copy[i].watched,
					 memory_order_relaxed) == each_access)
			return true;
	return false;
}

void instr_rearm_request(struct thread *t)
{
	for (int i = 0; i < instr_libraries(); i++)
		/* (T) pairs with (U). */
		atomic_store_explicit(&instr_of(t)->copy[i].watched,
				      each_access, memory_order_release);
}

void instr_rearm_begin(struct thread *t, struct instr_copy *copy,
		       struct instr_thread *h)
{
	h->watched = (const char *)&copy->watched -
		     (const char *)&copy->library->watched;
	instr_rearm_update(t);
}

void instr_rearm_end(struct instr_library *l)
{
	l->thread()->watched = 0;
}
