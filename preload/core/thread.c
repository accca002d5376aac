/* SPDX-License-Identifier: MIT */
/*
 * thread - one struct thread a thread, from its begin to its end
 *
 * A struct thread, its handler stack and its interpreter are one mapping,
 * recycled through a few slots that are exchanged atomically. Who creates a
 * thread makes it; from the thread's begin to its end it is the thread's. A
 * thread that no hook saw makes its own, in the handler.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime.h"
#include "preload/instr/source.h"
#include "preload/sources/source.h"
#include "state.h"
#include "sys.h"
#include "thread_rows.h"
#include "preload/watch/watch.h"
#include "src/base/signal_safe.h"

enum {
	CACHED_MAX = 64,    /* mappings kept for the next thread */
	REFRESH_EVERY = 64, /* samples between readings of the name */
};

static __thread struct thread *self __attribute__((tls_model("initial-exec")));
static __thread bool gone __attribute__((tls_model("initial-exec")));

static _Atomic(char *) cached[CACHED_MAX];
static size_t interp_area(void)
{
	return (interp_bytes + 4095) & ~(size_t)4095;
}

static size_t mapping_bytes(void)
{
	return ((sizeof(struct thread) + 4095) & ~(size_t)4095) +
	       interp_area() + THREAD_STACK_BYTES;
}

uint64_t thread_cpu_ns(void)
{
	struct timespec ts = { 0, 0 };

	sys_call2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct thread *thread_self(void)
{
	return self;
}

bool thread_has_ended(void)
{
	return gone;
}

void lose(struct thread *t, enum loss_cause cause)
{
	if (t && t->record)
		store_add(&t->record->loss[cause], 1);
	else
		__atomic_fetch_add(&runtime.store.header->loss[cause], 1,
				   __ATOMIC_RELAXED);
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
			memset(m, 0, sizeof(struct thread));
			return m;
		}
	}
	p = sys_call6(SYS_mmap, 0, mapping_bytes(), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p < 0 && p > -4096 ? NULL : (char *)p;
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
	t->timer = -1;
	t->pairs.writer.section = CDP_PAIRS;
	t->cores.writer.section = CDP_CORES;
	t->choose.interp = (void *)(m + ((sizeof(*t) + 4095) & ~(size_t)4095));
	t->stack_top = m + mapping_bytes();
	return t;
}

/* Make @t the calling thread's. */
static void begin(struct thread *t)
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
	self = t;
	instr_thread_begin(t);
	if (runtime.sampling)
		source_thread_begin(t);
}

struct thread *thread_adopt(void)
{
	struct thread *t;

	if (gone)
		return NULL;
	t = new_thread(NULL, false);
	if (t)
		begin(t);
	return t;
}

int threads_init(void)
{
	struct thread *t;
	int err = thread_rows_init();

	if (err)
		return err;
	gone = false;
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
	if (runtime.hardware)
		pmu_source_count(t);
}

static void close_row(struct thread *t, uint64_t now)
{
	t->samples_seen = 0;
	thread_refresh(t);
	store_set(&t->record->end_mono, now);
	__atomic_store_n(&t->record->state, CDP_THREAD_ENDED, __ATOMIC_RELAXED);
}

struct thread *runtime_thread_prepare(void *(*start)(void *))
{
	struct thread *t;

	if (!runtime_active())
		return NULL;
	runtime_first_thread();
	t = new_thread(start, true);
	if (t)
		t->app_blocks = signal_app_blocks();
	return t;
}

void runtime_thread_discard(struct thread *t)
{
	if (!t)
		return;
	thread_row_discard(t->record);
	unmap_thread((char *)t);
}

/* A sample came before the start routine did: that record is not needed. */
static void drop_adopted(void)
{
	struct thread *t = self;

	gone = true;
	atomic_signal_fence(memory_order_seq_cst);
	self = NULL;
	source_thread_end(t);
	instr_thread_end(t);
	watch_thread_end(t);
	pair_table_release(&t->pairs);
	core_table_release(&t->cores);
	if (t->record->detections) {
		close_row(t, now_ns());
		unmap_thread((char *)t);
	} else {
		runtime_thread_discard(t);
	}
	atomic_signal_fence(memory_order_seq_cst);
	gone = false;
}

void runtime_thread_begin(struct thread *t)
{
	if (!t)
		return;
	signal_set_app_blocks(t->app_blocks);
	if (self)
		drop_adopted();
	begin(t);
}

void runtime_thread_end(void)
{
	struct thread *t = self;
	uint64_t now;

	if (!t || !runtime_active())
		return;
	t->ending = true; /* our own handler leaves it alone from here on */
	atomic_signal_fence(memory_order_seq_cst);
	now = now_ns();
	source_thread_end(t);
	instr_thread_end(t);
	watch_thread_end(t);
	pair_table_release(&t->pairs);
	core_table_release(&t->cores);
	close_row(t, now);
	gone = true;
	self = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	thread_row_ended(t->record, now);
	unmap_thread((char *)t);
}

void threads_finish(void)
{
	uint64_t now = now_ns();

	if (self) {
		close_row(self, now);
		source_thread_end(self);
	}
	thread_rows_finish(now);
}
