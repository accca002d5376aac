/* SPDX-License-Identifier: MIT */
/*
 * regpool - debug registers that each thread sets for itself
 *
 * A bank holds the breakpoint events of one thread, one for each register: four
 * descriptors. The number of banks is limited so that they take few
 * descriptors; a thread that finds none watches without registers. A bank
 * belongs to its thread until the thread ends, so only taking and returning it
 * is atomic.
 *
 * Setting a register of the calling thread takes a microsecond, since no other
 * processor is involved.
 */
#include <linux/hw_breakpoint.h>
#include <stdatomic.h>

#include "regpool.h"
#include "state.h"
#include "preload/core/thread.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"
#include "src/base/signal_safe.h"

enum {
	BANKS_MAX = 64,
};

struct instr_bank {
	_Atomic bool taken;
	struct own_event event[COMM_REGISTERS_MAX];
};

static struct instr_bank banks[BANKS_MAX];
static bool ready; /* descriptors of banks are valid or -1 */
static uint64_t parked __attribute__((aligned(64))); /* never accessed */

void instr_regpool_init(void)
{
	for (int i = 0; i < BANKS_MAX; i++) {
		atomic_store(&banks[i].taken, false);
		for (int reg = 0; reg < COMM_REGISTERS_MAX; reg++) {
			banks[i].event[reg].fd = -1;
			banks[i].event[reg].on = false;
		}
	}
	ready = true;
}

static struct perf_event_attr attributes(int reg, const struct watch_range *w,
					 bool stores_only)
{
	return own_event_breakpoint(stores_only ? HW_BREAKPOINT_W
						: HW_BREAKPOINT_RW,
				    w, watch_cookie(WATCH_DATA) | reg);
}

static void close_bank(struct instr_bank *b)
{
	for (int reg = 0; reg < COMM_REGISTERS_MAX; reg++)
		own_event_close(&b->event[reg]);
}

static int open_one(struct instr_bank *b, int reg)
{
	struct watch_range nothing = { (uint64_t)(uintptr_t)&parked, 8 };
	struct perf_event_attr a = attributes(reg, &nothing, false);

	return own_event_open(&b->event[reg], &a, -1, watch_fd_base());
}

static void give_back(struct instr_bank *b)
{
	close_bank(b);
	/* (Y) pairs with (X). */
	atomic_store_explicit(&b->taken, false, memory_order_release);
}

static bool take(struct instr_bank *b)
{
	/* (X) acquires what (Y) released: all descriptors are closed. */
	return !atomic_load_explicit(&b->taken, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&b->taken, true, memory_order_acquire);
}

bool instr_regpool_take(struct thread *t)
{
	struct instr_bank *b = NULL;

	if (instr_of(t)->bank)
		return true;
	for (int i = 0; i < BANKS_MAX && !b; i++)
		if (take(&banks[i]))
			b = &banks[i];
	for (int reg = 0; b && reg < (int)runtime.registers; reg++)
		if (open_one(b, reg)) {
			give_back(b);
			return false;
		}
	instr_of(t)->bank = b;
	return b;
}

void instr_regpool_release(struct thread *t)
{
	struct instr_bank *b = instr_of(t)->bank;

	instr_of(t)->bank = NULL;
	if (b)
		give_back(b);
}

int instr_regpool_set(struct thread *t, int reg, const struct watch_range *w,
		      bool stores_only)
{
	struct perf_event_attr a = attributes(reg, w, stores_only);

	return own_event_set(&instr_of(t)->bank->event[reg], &a);
}

void instr_regpool_off(struct thread *t, int reg)
{
	if (instr_of(t)->bank)
		own_event_off(&instr_of(t)->bank->event[reg]);
}

void instr_regpool_close_all(void)
{
	for (int i = 0; ready && i < BANKS_MAX; i++)
		close_bank(&banks[i]);
}
