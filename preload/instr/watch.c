/* SPDX-License-Identifier: MIT */
/*
 * watch - lines that are watched in all threads
 *
 * In software, the hooks look up the line in which an access begins in a table
 * of bytes, by a hash. If the byte is not 0, the access may touch a watched
 * line, and this file compares the lines themselves. A slot's line is 0 while
 * it changes; read the generation before the line.
 *
 * In hardware, the first thread opens one breakpoint event for each register,
 * and all others inherit it. One call moves the register in all threads, and
 * has done so when it returns. Its signal carries the low bits of the
 * generation.
 */
#include <linux/hw_breakpoint.h>
#include <stdatomic.h>

#include "watch.h"
#include "libraries.h"
#include "state.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	CHUNK_BYTES = 8,
	TAG_MASK = 0xFFFF,
	TRAPS_MAX = 1000, /* of one register since it was armed */
	PATIENCE_NS = 1000 * 1000,
};

struct software {
	_Atomic uint64_t line; /* 0: nothing */
	_Atomic uint32_t generation;
	uint64_t marked; /* the line that the tables mark; for the thread that
			    arms */
};

struct hardware {
	struct own_event event;
	_Atomic uint64_t addr;
	_Atomic uint32_t bytes;
	_Atomic uint32_t generation;
	_Atomic uint32_t traps;
};

static struct software software[INSTR_WATCHED_LINES];
static struct hardware hardware[COMM_REGISTERS_MAX] = {
	{ .event.fd = -1 },
	{ .event.fd = -1 },
	{ .event.fd = -1 },
	{ .event.fd = -1 },
};
static int registers; /* how many are open */
static uint32_t bytes_each;
static uint64_t target __attribute__((aligned(64)));

static void mark_in(struct instr_library *l, uint64_t addr, uint64_t bytes,
		    int change)
{
	uint64_t first = (addr - (INSTR_WIDEST - 1)) & -(uint64_t)LINE_BYTES;

	for (uint64_t line = first; line < addr + bytes; line += LINE_BYTES)
		atomic_fetch_add_explicit(
			&l->watched[instr_watched_entry(line)], change,
			memory_order_relaxed);
}

void instr_watch_mark(uint64_t addr, uint64_t bytes, int change)
{
	for (int i = 0; addr && i < instr_libraries(); i++)
		if (instr_library(i))
			mark_in(instr_library(i), addr, bytes, change);
}

static void mark(uint64_t line, int change)
{
	instr_watch_mark(line, LINE_BYTES, change);
}

/* Write only where it is needed: most pages of the table are untouched. */
static void clear(_Atomic uint8_t *watched)
{
	for (int i = 0; i < INSTR_WATCHED; i++)
		if (atomic_load_explicit(&watched[i], memory_order_relaxed))
			atomic_store_explicit(&watched[i], 0,
					      memory_order_relaxed);
}

static int arm_software(void *ctx, const struct transfer_watched *w,
			uint64_t now, uint64_t *ready)
{
	struct software *s = &software[w->slot];
	struct thread *t = ctx;

	atomic_store_explicit(&s->line, 0, memory_order_relaxed);
	/* (J) pairs with (K): the old line is gone before the generation. */
	atomic_store_explicit(&s->generation, w->generation,
			      memory_order_release);
	atomic_store_explicit(&s->line, w->line, memory_order_relaxed);
	mark(s->marked, -1);
	s->marked = w->line;
	mark(s->marked, 1);
	*ready = now;
	if (w->line) /* else the sample is still to come */
		store_add(&t->record->arms, 1);
	return 0;
}

static void disarm_software(void *ctx, uint32_t slot)
{
	atomic_store_explicit(&software[slot].line, 0, memory_order_relaxed);
	mark(software[slot].marked, -1);
	software[slot].marked = 0;
}

void instr_watch_line(uint32_t slot, uint64_t line)
{
	struct software *s = &software[slot];

	atomic_store_explicit(&s->line, line, memory_order_relaxed);
	mark(s->marked, -1);
	s->marked = line;
	mark(s->marked, 1);
}

const struct transfer_watch instr_software = { arm_software, disarm_software };

static bool touches(const struct software *s, uint64_t addr, uint64_t bytes)
{
	uint64_t line = atomic_load_explicit(&s->line, memory_order_relaxed);

	return line && addr < line + LINE_BYTES && line < addr + bytes;
}

uint64_t instr_watch_slots(uint64_t addr, uint64_t bytes)
{
	uint64_t slots = 0;

	for (int i = 0; i < INSTR_WATCHED_LINES; i++)
		if (touches(&software[i], addr, bytes))
			slots |= UINT64_C(1) << i;
	return slots;
}

bool instr_watch_touches(uint32_t slot, const struct access *a,
			 uint32_t *generation)
{
	/* (K) pairs with (J). */
	*generation = atomic_load_explicit(&software[slot].generation,
					   memory_order_acquire);
	return touches(&software[slot], a->addr, a->len);
}

uint32_t instr_watch_generation(uint32_t slot)
{
	return atomic_load_explicit(&software[slot].generation,
				    memory_order_relaxed);
}

/* The map watches whole lines, one at a time in each thread. */
static void disarm_comm(void *ctx)
{
	struct thread *t = ctx;

	for (uint32_t i = 0; i < instr_of(t)->watches; i++)
		mark(instr_of(t)->watched[i].addr & -(uint64_t)LINE_BYTES, -1);
	instr_of(t)->watches = 0;
}

static int arm_comm(void *ctx, const struct watch_range *ranges, int n)
{
	struct thread *t = ctx;

	disarm_comm(t);
	for (int i = 0; i < n; i++) {
		instr_of(t)->watched[i] = ranges[i];
		mark(ranges[i].addr & -(uint64_t)LINE_BYTES, 1);
	}
	instr_of(t)->watches = n;
	store_add(&t->record->arms, 1);
	return n;
}

const struct comm_watch instr_software_comm = { arm_comm, disarm_comm };

static struct perf_event_attr attributes(int reg,
					 const struct watch_range *range,
					 uint32_t tag)
{
	struct perf_event_attr a = own_event_breakpoint(
		HW_BREAKPOINT_RW, range,
		watch_cookie(WATCH_SHARED) | reg | tag << 16);

	a.inherit = 1;
	a.inherit_thread =
		1; /* new threads inherit it, forked children do not */
	return a;
}

static void register_off(int reg)
{
	own_event_off(&hardware[reg].event);
}

static int register_set(int reg, const struct watch_range *range,
			uint32_t generation)
{
	struct perf_event_attr a =
		attributes(reg, range, generation & TAG_MASK);
	struct hardware *h = &hardware[reg];

	atomic_store(&h->addr, range->addr);
	atomic_store(&h->bytes, range->len);
	atomic_store(&h->traps, 0);
	atomic_store(&h->generation, generation);
	return own_event_set(&h->event, &a);
}

/* A slot has all registers, or one if each covers a line. */
static bool belongs(int reg, uint32_t slot)
{
	return bytes_each != LINE_BYTES || (uint32_t)reg == slot;
}

static void disarm_hardware(void *ctx, uint32_t slot)
{
	for (int reg = 0; reg < registers; reg++)
		if (belongs(reg, slot))
			register_off(reg);
}

static int arm_hardware(void *ctx, const struct transfer_watched *w,
			uint64_t now, uint64_t *ready)
{
	struct thread *t = ctx;
	uint32_t used = 0;
	int r = 0;

	for (int reg = 0; reg < registers && !r; reg++) {
		struct watch_range range = { .len = bytes_each };

		if (!belongs(reg, w->slot))
			continue;
		if (used == w->n) {
			register_off(reg);
			continue;
		}
		range.addr = w->range[used++].addr;
		r = register_set(reg, &range, w->generation);
	}
	if (r)
		disarm_hardware(ctx, w->slot);
	*ready = now_ns();
	store_add(&t->record->arms, 1);
	return r;
}

const struct transfer_watch instr_hardware = { arm_hardware, disarm_hardware };

/*
 * Find what the register of @what watches. Returns how often it has trapped
 * since it was armed, this time included; 0 if it was armed anew since. A
 * thread created while a register is moved may see the new tag with the old
 * address; and threads pass the state of their registers on to each other.
 */
static uint32_t trapped(const struct watch_signal *what,
			struct watch_range *range, uint32_t *generation)
{
	struct hardware *h;

	if (what->reg >= registers)
		return 0;
	h = &hardware[what->reg];
	if (what->addr && atomic_load(&h->addr) != what->addr)
		return 0;
	*generation = atomic_load(&h->generation);
	if ((*generation & TAG_MASK) != what->tag)
		return 0;
	*range = (struct watch_range){ atomic_load(&h->addr),
				       atomic_load(&h->bytes) };
	return atomic_fetch_add(&h->traps, 1) + 1;
}

bool instr_watch_register(const struct watch_signal *what,
			  struct watch_range *range, uint32_t *slot,
			  uint32_t *index, uint32_t *generation)
{
	uint32_t traps = trapped(what, range, generation);
	int reg = what->reg;

	if (!traps)
		return false;
	/*
	 * A line that all threads read and nobody stores to would trap for
	 * ever. Switch the register off; the line keeps its slot until another
	 * takes it.
	 */
	if (traps == TRAPS_MAX) {
		register_off(reg);
		count_loss(thread_self(), LOSS_TRAP_LIMIT);
	}
	*slot = bytes_each == LINE_BYTES ? reg : 0;
	*index = bytes_each == LINE_BYTES ? 0 : reg;
	return true;
}

void instr_watch_disarm_late_trap(const struct watch_signal *what)
{
	struct watch_range range;
	uint32_t generation;

	if (trapped(what, &range, &generation))
		register_off(what->reg);
}

static void close_all(void)
{
	for (int i = 0; i < COMM_REGISTERS_MAX; i++)
		own_event_close(&hardware[i].event);
	registers = 0;
}

static int open_one(int reg)
{
	struct watch_range range = { (uint64_t)(uintptr_t)&target, bytes_each };
	struct perf_event_attr a = attributes(reg, &range, 0);

	return own_event_open(&hardware[reg].event, &a, -1, watch_fd_base());
}

static uint64_t traps_of(const struct thread *t)
{
	return __atomic_load_n(&t->record->traps, __ATOMIC_RELAXED);
}

static bool fires(int reg)
{
	struct thread *t = thread_self();
	uint64_t before = traps_of(t), start = now_ns();
	struct watch_range range = { (uint64_t)(uintptr_t)&target, bytes_each };

	if (register_set(reg, &range, 0))
		return false;
	*(volatile uint64_t *)&target = 1;
	while (traps_of(t) == before && now_ns() < start + PATIENCE_NS)
		;
	register_off(reg);
	return traps_of(t) > before;
}

static int open_registers(int n, uint32_t bytes)
{
	int fired = 0;

	bytes_each = bytes;
	for (registers = 0; registers < n; registers++)
		if (open_one(registers))
			break;
	while (fired < registers && fires(fired))
		fired++;
	store_set(&thread_self()->record->traps, 0);
	if (fired < registers)
		close_all();
	return fired;
}

int instr_watch_open(int n, bool *line)
{
	int opened = open_registers(n, LINE_BYTES);

	*line = opened;
	return opened ? opened : open_registers(n, CHUNK_BYTES);
}

void instr_watch_close(void)
{
	for (int i = 0; i < INSTR_WATCHED_LINES; i++) {
		atomic_store(&software[i].line, 0);
		software[i].marked = 0;
	}
	/* Threads that the fork removed may have left marks. */
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i))
			clear(instr_library(i)->watched);
	close_all();
}
