/* SPDX-License-Identifier: MIT */
/*
 * counters - accesses of the calling thread, as its hooks count them
 *
 * The hooks count down; given - left is how many accesses there were since the
 * counters were last flushed.
 */
#include <stdatomic.h>
#include <string.h>

#include "counters.h"
#include "libraries.h"
#include "state.h"
#include "preload/core/thread.h"
#include "src/base/signal_safe.h"

static _Atomic uint64_t ticks;

void instr_counters_init(void)
{
	atomic_store(&ticks, 0);
}

uint64_t instr_ticks(void)
{
	return atomic_load_explicit(&ticks, memory_order_relaxed);
}

static void begin_change(struct thread *t)
{
	atomic_store_explicit(&instr_of(t)->sequence,
			      atomic_load_explicit(&instr_of(t)->sequence,
						   memory_order_relaxed) +
				      1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void end_change(struct thread *t)
{
	/* (S) pairs with (R) in count.c. */
	atomic_store_explicit(&instr_of(t)->sequence,
			      atomic_load_explicit(&instr_of(t)->sequence,
						   memory_order_relaxed) +
				      1,
			      memory_order_release);
}

/*
 * A handler of the program may count in between. Its counts are not lost,
 * because we add to both words instead of setting them.
 */
void instr_counters_load(struct instr_thread *h, enum instr_class class,
			 int64_t n)
{
	int64_t more = n - h->left[class];
	struct thread *t = thread_self();

	if (t)
		begin_change(t);
	h->left[class] += more;
	h->given[class] += more;
	if (t)
		end_change(t);
}

static uint64_t counted(const struct thread *t)
{
	return atomic_load_explicit(&instr_of(t)->counted,
				    memory_order_relaxed);
}

void instr_counters_flush(struct thread *t, struct instr_thread *h)
{
	uint64_t sum = 0;

	begin_change(t);
	for (enum instr_class c = 0; c < INSTR_CLASSES; c++) {
		uint64_t n = instr_count(h, c);
		uint64_t bytes = n * instr_class_bytes(c);

		if (c >= INSTR_LOAD_RANGE) {
			bytes = h->range_bytes[c - INSTR_LOAD_RANGE];
			h->range_bytes[c - INSTR_LOAD_RANGE] -= bytes;
		}
		h->given[c] -= n;
		sum += n;
		if (instr_class_loads(c)) {
			store_add(&t->record->counted_loads, n);
			store_add(&t->record->counted_load_bytes, bytes);
		}
		if (instr_class_stores(c)) {
			store_add(&t->record->counted_stores, n);
			store_add(&t->record->counted_store_bytes, bytes);
		}
	}
	atomic_store_explicit(&instr_of(t)->counted, counted(t) + sum,
			      memory_order_relaxed);
	end_change(t);
	atomic_fetch_add_explicit(&ticks, sum, memory_order_relaxed);
}

uint64_t instr_counters_accesses(const struct thread *t)
{
	uint64_t sum = counted(t);

	for (int i = 0; i < instr_libraries(); i++)
		for (int c = 0; instr_library(i) && c < INSTR_CLASSES; c++)
			sum += instr_count(instr_library(i)->thread(), c);
	return sum;
}

void instr_counters_expect(struct instr_thread *h)
{
	for (int c = 0; c < INSTR_CLASSES; c++)
		instr_counters_load(h, c, 0);
}

void instr_counters_forget(struct instr_thread *h)
{
	memcpy(h->given, h->left, sizeof(h->given));
	memset(h->range_bytes, 0, sizeof(h->range_bytes));
}

void instr_counters_flush_all(struct thread *t)
{
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i))
			instr_counters_flush(t, instr_library(i)->thread());
}
