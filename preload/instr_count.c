/* SPDX-License-Identifier: MIT */
/*
 * instr_count - accesses of other threads, as their hooks count them
 *
 * A thread's counters are its own: the hooks count down words of its thread
 * local storage, and an event moves them. Others read them as they are, under
 * a lock that a thread takes at its first event and at its end, so that nobody
 * reads what is gone. What one word says changes at once; where two change
 * together a sequence is odd.
 *
 * Threads are on the cores of the topology in the order in which they began, as
 * with the source emu, wherever the system runs them: so what is counted under
 * a cache is the accesses of certain threads.
 */
#include <stdatomic.h>
#include <string.h>
#include <sched.h>

#include "instr_source.h"
#include "runtime.h"
#include "src/exact.h"
#include "state.h"
#include "sys.h"
#include "signal_safe.h"

enum {
	SPINS_BEFORE_YIELD = 100,
	TRIES = 1000, /* to read what does not change meanwhile */
};

static _Atomic uint32_t lock;
static struct thread *threads;          /* that began, and did not end */
static uint64_t ended[EXACT_CORES_MAX]; /* accesses of others, by domain */

void instr_count_init(void)
{
	atomic_store(&lock, 0);
	threads = NULL;
	memset(ended, 0, sizeof(ended));
}

/*
 * The holder has all signals blocked. It may have lost its core.
 *
 * (A) pairs with (B): the list as the last holder left it.
 */
static void take_lock(void)
{
	for (int n = 1;
	     atomic_exchange_explicit(&lock, 1, memory_order_acquire); n++)
		if (n % SPINS_BEFORE_YIELD)
			__builtin_ia32_pause();
		else
			sys_call0(SYS_sched_yield);
}

/* (B) pairs with (A). */
static void give_lock_back(void)
{
	atomic_store_explicit(&lock, 0, memory_order_release);
}

/* Blocks all signals, and returns which were. */
static uint64_t block(void)
{
	uint64_t all = ~0ull, before = 0;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	return before;
}

static void unblock(uint64_t before)
{
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
}

void instr_count_begin(struct thread *t)
{
	uint64_t before = block();

	take_lock();
	t->instr.next = threads;
	threads = t;
	give_lock_back();
	unblock(before);
}

void instr_count_end(struct thread *t)
{
	uint64_t before = block();
	struct thread **p;

	take_lock();
	for (p = &threads; *p && *p != t; p = &(*p)->instr.next)
		;
	if (*p) {
		*p = t->instr.next;
		ended[t->instr.place.domain] += instr_accesses(t);
	}
	give_lock_back();
	unblock(before);
}

static uint64_t word(const int64_t *w)
{
	return (uint64_t)__atomic_load_n(w, __ATOMIC_RELAXED);
}

static uint64_t sum_of(const struct thread *t)
{
	uint64_t sum = __atomic_load_n(&t->instr.counted, __ATOMIC_RELAXED);

	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_copy *copy = &t->instr.copy[i];
		const struct instr_thread *h =
			__atomic_load_n(&copy->hooks, __ATOMIC_ACQUIRE);

		if (!h || copy->library != instr_library(i))
			continue;
		for (int c = 0; c < INSTR_CLASSES; c++)
			sum += word(&h->given[c]) - word(&h->left[c]);
	}
	return sum;
}

/*
 * With the lock. A thread that lost its core in the middle of a change is taken
 * as it is: by one of its intervals wrong.
 */
static uint64_t count_of(const struct thread *t)
{
	const _Atomic uint32_t *sequence = &t->instr.sequence;
	uint64_t sum = 0;

	for (int i = 0; i < TRIES; i++) {
		/* (R) pairs with (S): nothing newer was read, nor older. */
		uint32_t before =
			atomic_load_explicit(sequence, memory_order_acquire);

		sum = sum_of(t);
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) &&
		    before == atomic_load_explicit(sequence,
						   memory_order_relaxed))
			break;
		__builtin_ia32_pause();
	}
	return sum;
}

void instr_count_change(struct thread *t)
{
	atomic_store_explicit(
		&t->instr.sequence,
		atomic_load_explicit(&t->instr.sequence, memory_order_relaxed) +
			1,
		memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

void instr_count_changed(struct thread *t)
{
	/* (S) pairs with (R). */
	atomic_store_explicit(
		&t->instr.sequence,
		atomic_load_explicit(&t->instr.sequence, memory_order_relaxed) +
			1,
		memory_order_release);
}

bool instr_count_thread(uint32_t id, uint64_t *count)
{
	struct thread *t;

	take_lock();
	for (t = threads; t && t->record->id != id; t = t->instr.next)
		;
	if (t)
		*count = count_of(t);
	give_lock_back();
	return t;
}

uint64_t instr_count_domain(uint32_t domain)
{
	uint64_t sum;

	take_lock();
	sum = ended[domain];
	for (struct thread *t = threads; t; t = t->instr.next)
		if (t->instr.place.domain == domain)
			sum += count_of(t);
	give_lock_back();
	return sum;
}
