/* SPDX-License-Identifier: MIT */
/*
 * threads - one struct thread for each thread, from its begin to its end
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "stack_bounds.h"
#include "src/unwind/last_walk.h"
#include "thread_rows.h"
#include "threads.h"
#include "preload/core/inside.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/watch/watch.h"
#include "src/x86/interp/interp.h"
#include "src/base/signal_mask.h"
#include "src/base/signal_safe.h"

enum {
	PAGE_BYTES = 4096,
	STACK_BYTES = 24 * 1024, /* the handler's own */
	CACHED_MAX = 64,         /* mappings kept for the next thread */
	REFRESH_EVERY = 64,      /* samples between readings of the name */
	ADOPTED_MAX = 256,       /* adopted threads whose end is looked for */
	NOBODY = 0,              /* a slot's tid: it is free, ... */
	BUSY = -1,               /* ... or it is being filled or emptied */
};

/*
 * The threads that were adopted. Only tid may be looked at before the slot is
 * taken: the struct belongs to a thread that may end.
 */
static struct adopted {
	_Atomic(pid_t) tid;
	struct thread *thread;
} adopted[ADOPTED_MAX];
static _Atomic uint32_t adopted_count;
static atomic_flag reaping = ATOMIC_FLAG_INIT;

static _Atomic(char *) cached[CACHED_MAX];
static bool kept; /* forked children do not have these mappings */
static size_t source_bytes; /* of each thread, constant after set-up */

static size_t pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

/* The source's part follows the struct, on cache lines of its own. */
static size_t source_offset(void)
{
	return (sizeof(struct thread) + 63) & ~(size_t)63;
}

/* The part that is zeroed for each new thread. */
static size_t head_bytes(void)
{
	return source_offset() + source_bytes;
}

static size_t walk_offset(void)
{
	return pages(head_bytes()) + pages(interp_bytes);
}

static size_t mapping_bytes(void)
{
	return walk_offset() + pages(sizeof(struct last_walk)) + STACK_BYTES;
}

static char *map_thread(void)
{
	long p;

	for (int i = 0; i < CACHED_MAX; i++) {
		char *m =
			atomic_load_explicit(&cached[i], memory_order_relaxed);

		/* (E) acquires what (F) released: the mapping's contents. */
		if (m && atomic_compare_exchange_strong_explicit(
				 &cached[i], &m, NULL, memory_order_acquire,
				 memory_order_relaxed)) {
			memset(m, 0, head_bytes());
			return m;
		}
	}
	p = sys_call6(SYS_mmap, 0, mapping_bytes(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p < 0 && p > -4096)
		return NULL;
	kept = runtime_keep((void *)p, mapping_bytes());
	return (char *)p;
}

static void unmap_thread(char *m)
{
	for (int i = 0; i < CACHED_MAX; i++) {
		char *none = NULL;

		/* (F) pairs with (E). */
		if (atomic_compare_exchange_strong_explicit(
			    &cached[i], &none, m, memory_order_release,
			    memory_order_relaxed))
			return;
	}
	sys_call2(SYS_munmap, m, mapping_bytes());
}

static struct thread *new_thread(void *(*start)(void *), bool may_wait)
{
	char *m = map_thread();
	struct thread *t = (struct thread *)m;

	if (!m)
		return NULL;
	t->record = thread_row_new(start, may_wait);
	if (!t->record) {
		unmap_thread(m);
		return NULL;
	}
	t->start = start;
	t->source = m + source_offset();
	t->pairs.writer.section = CDP_PAIRS;
	t->cores.writer.section = CDP_CORES;
	t->choose.interp = (void *)(m + pages(head_bytes()));
	t->walk = (void *)(m + walk_offset());
	t->stack_top = m + mapping_bytes();
	return t;
}

/* Make @t the calling thread's. */
static void begin_record(struct thread *t)
{
	uint32_t id = t->record->id;
	bool reuse = runtime.config.modes & CDP_MODE_REUSE;

	t->tid = sys_call0(SYS_gettid);
	t->record->tid = t->tid;
	rng_seed(&t->rng, runtime.seed, id + ((uint64_t)t->tid << 32));
	comm_thread_init(&t->comm, id, t, runtime.seed ^ t->tid);
	t->choose.rng = &t->rng;
	t->choose.stalled_percent = reuse ? 0 : runtime.config.stalled_percent;
	t->choose.breakpoints = runtime.registers > (reuse ? 1 : 0) &&
				runtime.delivery == DELIVERY_SIGTRAP;
	thread_refresh(t);
	thread_set_self(t);
}

static void begin(struct thread *t)
{
	begin_record(t);
	if (runtime.sampling)
		runtime.source->thread_begin(t);
}

static void note_adopted(struct thread *t)
{
	for (int i = 0; i < ADOPTED_MAX; i++) {
		pid_t none = NOBODY;

		if (!atomic_compare_exchange_strong(&adopted[i].tid, &none,
						    BUSY))
			continue;
		t->adopted = true;
		adopted[i].thread = t;
		atomic_fetch_add(&adopted_count, 1);
		atomic_store(&adopted[i].tid, t->tid);
		return;
	}
}

static void forget_adopted(struct thread *t)
{
	for (int i = 0; t->adopted && i < ADOPTED_MAX; i++) {
		if (atomic_load(&adopted[i].tid) != t->tid ||
		    adopted[i].thread != t)
			continue;
		atomic_fetch_sub(&adopted_count, 1);
		atomic_store(&adopted[i].tid, NOBODY);
		t->adopted = false;
	}
}

struct thread *thread_adopt(void)
{
	struct thread *t;

	if (thread_has_ended())
		return NULL;
	t = new_thread(NULL, false);
	if (t) {
		begin(t);
		note_adopted(t);
	}
	return t;
}

static void close_reaped(struct thread *t, uint64_t now)
{
	runtime.source->thread_end(t);
	watch_thread_end(t);
	pair_table_release(&t->pairs);
	call_table_release(&t->calls);
	core_table_release(&t->cores);
	slice_table_release(&t->slices);
	store_set(&t->record->end_mono, now);
	__atomic_store_n(&t->record->state, CDP_THREAD_ENDED, __ATOMIC_RELAXED);
	thread_row_ended(t->record, now, false);
	unmap_thread((char *)t);
}

/*
 * One thread at a time reaps, and the next thread on the stack may do so too,
 * so a slot is taken first. A slot that names a thread which is gone names it
 * until then: the thread itself cannot change that.
 */
void threads_reap(const struct thread *self)
{
	if (!atomic_load(&adopted_count) || atomic_flag_test_and_set(&reaping))
		return;
	for (int i = 0; i < ADOPTED_MAX; i++) {
		pid_t tid = atomic_load(&adopted[i].tid);

		if (tid == NOBODY || tid == BUSY || tid == self->tid ||
		    sys_call3(SYS_tgkill, runtime.pid, tid, 0) != -ESRCH ||
		    !atomic_compare_exchange_strong(&adopted[i].tid, &tid,
						    BUSY))
			continue;
		close_reaped(adopted[i].thread, now_ns());
		atomic_fetch_sub(&adopted_count, 1);
		atomic_store(&adopted[i].tid, NOBODY);
	}
	atomic_flag_clear(&reaping);
}

/*
 * A followed child has none of its parent's threads, and may have another
 * source. What lies where its parent kept a mapping is the program's.
 */
static void drop_cached(void)
{
	for (int i = 0; i < CACHED_MAX; i++) {
		char *m = atomic_load(&cached[i]);

		if (!m)
			continue;
		atomic_store(&cached[i], NULL);
		if (!kept)
			sys_call2(SYS_munmap, m, mapping_bytes());
	}
}

int threads_init(void)
{
	struct thread *t;
	int err = thread_rows_init();

	if (err)
		return err;
	/* A followed child has none of its parent's other threads. */
	for (int i = 0; i < ADOPTED_MAX; i++)
		atomic_store(&adopted[i].tid, NOBODY);
	atomic_store(&adopted_count, 0);
	atomic_flag_clear(&reaping);
	drop_cached();
	source_bytes = runtime.source->thread_bytes;
	thread_set_ended(false);
	t = new_thread(NULL, true);
	if (!t)
		return -ENOSPC; /* the row, in practice */
	begin(t);
	return 0;
}

void thread_refresh(struct thread *t)
{
	char name[16] = "";

	if (t->samples_seen++ % REFRESH_EVERY)
		return;
	if (!sys_call2(SYS_prctl, PR_GET_NAME, name))
		thread_row_name(t->record, name);
	store_set(&t->record->cpu_ns, thread_cpu_ns());
	if (runtime.source->count)
		runtime.source->count(t);
}

static void close_row(struct thread *t, uint64_t now)
{
	t->samples_seen = 0;
	thread_refresh(t);
	store_set(&t->record->end_mono, now);
	__atomic_store_n(&t->record->state, CDP_THREAD_ENDED, __ATOMIC_RELAXED);
}

struct thread *threads_prepare(void *(*start)(void *))
{
	return runtime_active() ? new_thread(start, true) : NULL;
}

void threads_discard(struct thread *t)
{
	if (!t)
		return;
	thread_row_discard(t->record);
	unmap_thread((char *)t);
}

/* A sample came before the hook: drop the record that the handler made. */
static void drop_adopted(struct thread *t)
{
	bool has_records;

	forget_adopted(t);
	runtime.source->thread_end(t);
	watch_thread_end(t);
	has_records = t->record->detections || t->pairs.looks;
	pair_table_release(&t->pairs);
	call_table_release(&t->calls);
	core_table_release(&t->cores);
	slice_table_release(&t->slices);
	if (has_records) {
		close_row(t, now_ns());
		unmap_thread((char *)t);
	} else {
		threads_discard(t);
	}
}

/*
 * End what is left of the adopted thread @dead whose stack the calling thread
 * runs on. If no slot names that thread it has been reaped, and its struct is
 * not ours to look at.
 */
static void drop_dead(pid_t dead)
{
	for (int i = 0; i < ADOPTED_MAX; i++) {
		pid_t tid = dead;

		if (!atomic_compare_exchange_strong(&adopted[i].tid, &tid,
						    BUSY))
			continue;
		close_reaped(adopted[i].thread, now_ns());
		atomic_fetch_sub(&adopted_count, 1);
		atomic_store(&adopted[i].tid, NOBODY);
	}
}

/*
 * Have the program's handlers wait until signals_restore. SIGTRAP may come: an
 * adopted thread has events whose signal must not be blocked.
 */
static uint64_t hold_handlers(void)
{
	return signals_block(~(UINT64_C(1) << (SIGTRAP - 1)));
}

/*
 * Make @t the calling thread's, and end what it had before. The stack may be
 * that of an ended thread whose end no hook saw; or a handler was faster than
 * the hook, and the thread was adopted. A handler of the program must not have
 * it adopted between the look and the change, and finds it ready: one that a
 * fast timer calls would never let it get there otherwise, since each access of
 * a thread that is not ready costs three system calls.
 */
static void take_record(struct thread *t)
{
	uint64_t before = hold_handlers();
	struct thread *old = thread_self();
	pid_t of = thread_self_tid();

	t->in_handler = true; /* handlers leave it alone until it is ready */
	begin_record(t);
	thread_set_ended(false);
	if (old && of == t->tid)
		drop_adopted(old);
	else if (old)
		drop_dead(of);
	atomic_signal_fence(memory_order_seq_cst);
	t->in_handler = false;
	signals_restore(before);
}

void threads_begin(struct thread *t)
{
	if (!t)
		return;
	if (inside_enter()) {
		take_record(t);
		if (runtime.sampling)
			runtime.source->thread_begin(t);
	}
	inside_leave();
}

/* Handlers of the program wait, as they do while the thread begins. */
static void end(struct thread *t)
{
	uint64_t before = hold_handlers();
	uint64_t now = now_ns();

	t->ending = true; /* from here on our handler leaves the thread alone */
	atomic_signal_fence(memory_order_seq_cst);
	runtime.source->thread_end(t);
	watch_thread_end(t);
	pair_table_release(&t->pairs);
	call_table_release(&t->calls);
	core_table_release(&t->cores);
	slice_table_release(&t->slices);
	close_row(t, now);
	thread_set_ended(true);
	thread_set_self(NULL);
	atomic_signal_fence(memory_order_seq_cst);
	thread_row_ended(t->record, now, true);
	unmap_thread((char *)t);
	signals_restore(before);
}

void threads_end(void)
{
	struct thread *t = thread_self();

	if (!t)
		return;
	if (inside_enter())
		end(t);
	inside_leave();
}

void threads_finish(void)
{
	struct thread *t = thread_self();
	uint64_t now = now_ns();

	if (t && !thread_is_another()) {
		close_row(t, now);
		runtime.source->thread_end(t);
	}
	thread_rows_finish(now);
}
