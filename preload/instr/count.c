/* SPDX-License-Identifier: MIT */
/*
 * count - accesses of other threads, as their hooks count them
 *
 * The hooks count down words in the thread local storage of their thread, and
 * an event moves these counts to the thread's row. Other threads read the words
 * where they are, under a lock that each thread takes at its first event and at
 * its end, so that nobody reads storage that is gone. A single word changes at
 * once; while a thread changes two of them together, its sequence number is
 * odd.
 *
 * Threads are put on the cores of the topology in the order in which they
 * began, wherever the system runs them, as with the source emu. So the accesses
 * under a cache are those of certain threads.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "count.h"
#include "counters.h"
#include "libraries.h"
#include "rearm.h"
#include "state.h"
#include "preload/core/memread.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "src/exact/directory.h"
#include "src/base/signal_mask.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	TRIES = 1000, /* to read counts that do not change meanwhile */
	BATCH = 64,   /* threads that one system call reads */
};

static _Atomic uint32_t lock;  /* the holder has all signals blocked */
static struct thread *threads; /* those that began and did not end */
static uint64_t
	ended[TOPOLOGY_CORES_MAX]; /* accesses of threads that ended, by domain
				    */

void instr_count_init(void)
{
	atomic_store(&lock, 0);
	threads = NULL;
	memset(ended, 0, sizeof(ended));
}

void instr_count_begin(struct thread *t)
{
	uint64_t before = signals_block_all();

	spin_lock(&lock);
	instr_of(t)->next = threads;
	threads = t;
	spin_unlock(&lock);
	signals_restore(before);
}

/* Take @t off the list; false if it was not on it. With the lock. */
static bool forget(const struct thread *t)
{
	struct thread **p;

	for (p = &threads; *p && *p != t; p = &instr_of(*p)->next)
		;
	if (!*p)
		return false;
	*p = instr_of(t)->next;
	return true;
}

void instr_count_end(struct thread *t)
{
	uint64_t before = signals_block_all();

	spin_lock(&lock);
	if (forget(t))
		ended[instr_of(t)->place.domain] += instr_counters_accesses(t);
	spin_unlock(&lock);
	signals_restore(before);
}

/* The first members of struct instr_thread. */
struct counters {
	int64_t left[INSTR_CLASSES], given[INSTR_CLASSES];
};

_Static_assert(offsetof(struct instr_thread, left) == 0 &&
		       offsetof(struct instr_thread, given) ==
			       offsetof(struct counters, given),
	       "counters are read as one");

static uint64_t sum_of_counters(const struct counters *n)
{
	uint64_t sum = 0;

	for (int c = 0; c < INSTR_CLASSES; c++)
		sum += (uint64_t)(n->given[c] - n->left[c]);
	return sum;
}

/*
 * A thread that ended by a raw system call, unseen by us, may still be on the
 * list while its thread local storage is unmapped. Its hooks' counts are then
 * left out.
 */
static uint64_t sum_of(const struct thread *t)
{
	uint64_t sum = atomic_load_explicit(&instr_of(t)->counted,
					    memory_order_relaxed);

	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_copy *copy = &instr_of(t)->copy[i];
		const struct instr_thread *h = atomic_load_explicit(
			&copy->hooks, memory_order_acquire);
		struct counters n;

		if (!h || copy->library != instr_library(i) ||
		    memread(thread_self(), (uintptr_t)h, &n, sizeof(n)))
			continue;
		sum += sum_of_counters(&n);
	}
	return sum;
}

/*
 * With the lock. If a thread lost its core in the middle of a change, its count
 * is taken as it stands, wrong by up to one interval between samples. So is
 * that of the calling thread, which is in an event.
 */
static uint64_t count_of(const struct thread *t)
{
	const _Atomic uint32_t *sequence = &instr_of(t)->sequence;

	for (int i = 0; i < TRIES && t != thread_self(); i++) {
		/*
		 * (R) pairs with (S) in counters.c: what is read is neither
		 * newer nor older.
		 */
		uint32_t before =
			atomic_load_explicit(sequence, memory_order_acquire);
		uint64_t sum;

		if (before & 1) {
			__builtin_ia32_pause();
			continue;
		}
		sum = sum_of(t);
		atomic_thread_fence(memory_order_acquire);
		if (before ==
		    atomic_load_explicit(sequence, memory_order_relaxed))
			return sum;
	}
	return sum_of(t);
}

bool instr_count_thread(uint32_t id, uint64_t *count)
{
	struct thread *t;

	spin_lock(&lock);
	for (t = threads; t && t->record->id != id; t = instr_of(t)->next)
		;
	if (t)
		*count = count_of(t);
	spin_unlock(&lock);
	return t;
}

void instr_count_rearm_others(const struct thread *t)
{
	spin_lock(&lock);
	for (struct thread *other = threads; other;
	     other = instr_of(other)->next)
		if (other != t)
			instr_rearm_request(other);
	spin_unlock(&lock);
}

/* Counters that one system call reads. Used with the lock. */
static struct {
	struct thread *thread[BATCH];
	uint32_t sequence[BATCH]; /* before the counters were read */
	uint64_t counted[BATCH];
	struct iovec from[BATCH];
	struct counters n[BATCH];
	size_t items;
} batch;

/* For a thread whose hooks are those of the only library, as is usual. */
static void put_in_batch(struct thread *t)
{
	const struct instr_copy *copy = &instr_of(t)->copy[0];
	size_t i = batch.items;

	batch.sequence[i] = atomic_load_explicit(&instr_of(t)->sequence,
						 memory_order_acquire);
	batch.counted[i] = atomic_load_explicit(&instr_of(t)->counted,
						memory_order_relaxed);
	batch.thread[i] = t;
	batch.from[i] = (struct iovec){
		(void *)atomic_load_explicit(&copy->hooks,
					     memory_order_acquire),
		sizeof(struct counters),
	};
	if (copy->library == instr_library(0) && batch.from[i].iov_base)
		batch.items++;
}

/* Set iov_base to NULL where the counters could not be read. */
static void read_batch(void)
{
	size_t from = 0, each = sizeof(struct counters);
	long tid = sys_call0(SYS_gettid);

	while (from < batch.items) {
		size_t left = batch.items - from;
		struct iovec to = { &batch.n[from], left * each };
		long got = sys_call6(SYS_process_vm_readv, tid, (long)&to, 1,
				     (long)&batch.from[from], (long)left, 0);

		from += got > 0 ? (size_t)got / each : 0;
		if (from == batch.items)
			break;
		batch.from[from++].iov_base = NULL;
	}
}

/*
 * Threads that changed their counters meanwhile are read again, one by one.
 * Those whose counters are gone leave the list, with their last known count.
 */
static uint64_t sum_of_batch(void)
{
	uint64_t sum = 0;

	read_batch();
	for (size_t i = 0; i < batch.items; i++) {
		struct thread *t = batch.thread[i];

		atomic_thread_fence(memory_order_acquire);
		if (!batch.from[i].iov_base) {
			forget(t);
			ended[instr_of(t)->place.domain] += instr_of(t)->read;
		} else if (batch.sequence[i] & 1 ||
			   batch.sequence[i] !=
				   atomic_load_explicit(&instr_of(t)->sequence,
							memory_order_relaxed)) {
			instr_of(t)->read = count_of(t);
		} else {
			instr_of(t)->read =
				batch.counted[i] + sum_of_counters(&batch.n[i]);
		}
		sum += instr_of(t)->read;
	}
	batch.items = 0;
	return sum;
}

uint64_t instr_count_domain(uint32_t domain)
{
	uint64_t sum;

	spin_lock(&lock);
	sum = ended[domain];
	for (struct thread *next, *t = threads; t; t = next) {
		next = instr_of(t)->next; /* forget() leaves it as it is */
		if (instr_of(t)->place.domain != domain)
			continue;
		if (t == thread_self() || instr_libraries() != 1)
			sum += count_of(t);
		else
			put_in_batch(t);
		if (batch.items == BATCH)
			sum += sum_of_batch();
	}
	sum += sum_of_batch();
	spin_unlock(&lock);
	return sum;
}
