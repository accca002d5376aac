/* SPDX-License-Identifier: MIT */
/*
 * thread - one struct thread a thread, one row a thread in the file
 *
 * A struct thread, its handler stack and its interpreter are one mapping,
 * recycled through a few slots that are exchanged atomically. Rows of threads
 * that ended without a trace in any detection are merged by name and start
 * routine, a while after the end, when nobody can meet their entries on the
 * board any more; their rows are then used again. So ten thousand short
 * threads cost a handful of rows.
 *
 * rows_lock guards the rows' bookkeeping. Nobody waits for it for ever: a
 * handler (a thread that no hook saw) only tries, and a handler of the
 * application's may have interrupted the holder and call _exit. Who does not
 * get it leaves a row unmerged, or a thread without a record.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime.h"
#include "source.h"
#include "state.h"
#include "sys.h"
#include "watch.h"
#include "signal_safe.h"

enum {
	CACHED_MAX = 64,  /* mappings kept for the next thread */
	ENDED_MAX = 1024, /* rows that wait to be merged */
	MERGED_MAX = 256, /* kinds of threads, by name and start routine */
	SETTLE_NS = 50 * 1000 * 1000,
	ROWS_APART = 512,   /* so many rows stay apart: people can read them */
	REFRESH_EVERY = 64, /* samples between readings of the name */
	LOCK_TRIES = 200,
	LOCK_YIELDS = 20, /* of those; then sleep */
	LOCK_SLEEP_NS = 100 * 1000,
};

struct row {
	struct cdp_thread *record;
	uint64_t ended_at;
};

static __thread struct thread *self __attribute__((tls_model("initial-exec")));
static __thread bool gone __attribute__((tls_model("initial-exec")));

static _Atomic(char *) cached[CACHED_MAX];
static atomic_flag rows_lock = ATOMIC_FLAG_INIT;
static struct store_writer rows = { .section = CDP_THREADS };
static struct cdp_thread **by_id; /* ids_max of address space */
static uint32_t ids_max;
static uint8_t *referenced; /* by id */
static _Atomic uint32_t ids;
static struct row ended[ENDED_MAX];
static uint32_t ended_first, ended_count;
static struct cdp_thread *merged[MERGED_MAX], *free_row[ENDED_MAX];
static uint32_t merged_count, free_count, row_count; /* of threads */

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

static bool lock_rows(bool may_wait)
{
	const struct timespec moment = { 0, LOCK_SLEEP_NS };

	for (int i = 0; atomic_flag_test_and_set_explicit(&rows_lock,
							  memory_order_acquire);
	     i++) {
		if (!may_wait || i == LOCK_TRIES)
			return false;
		/* A holder of lower priority runs only while we sleep. */
		if (i < LOCK_YIELDS)
			sched_yield();
		else
			sys_call2(SYS_nanosleep, &moment, NULL);
	}
	return true;
}

static void unlock_rows(void)
{
	atomic_flag_clear_explicit(&rows_lock, memory_order_release);
}

static void set_name(char *to, const char *from)
{
	/* Whoever reads the file sees some name that ends. */
	memcpy(to, from, 15);
	to[15] = 0;
}

/* The row into which threads like @r are counted, NULL if there is no room. */
static struct cdp_thread *merged_row(const struct cdp_thread *r)
{
	struct cdp_thread *m;

	for (uint32_t i = 0; i < merged_count; i++)
		if (merged[i]->start_routine == r->start_routine &&
		    !memcmp(merged[i]->name, r->name, sizeof(r->name)))
			return merged[i];
	if (merged_count == MERGED_MAX)
		return NULL;
	m = store_record(&runtime.store, &rows);
	if (!m)
		return NULL;
	m->id = atomic_fetch_add(&ids, 1);
	m->start_routine = r->start_routine;
	m->start_mono = r->start_mono;
	set_name(m->name, r->name);
	m->state = CDP_THREAD_MERGED;
	store_commit(&rows);
	merged[merged_count++] = m;
	return m;
}

static void add_all(uint64_t *to, const uint64_t *from, int n)
{
	for (int i = 0; i < n; i++)
		store_add(&to[i], from[i]);
}

/*
 * Move the counts of @r to its merged row and free it. A kill between the
 * two would count the thread twice or not at all: it is freed first, the loss
 * of a thread without detections being the lesser evil.
 */
static void merge(struct cdp_thread *r)
{
	struct cdp_thread copy = *r, *m = merged_row(r);

	if (!m || free_count == ENDED_MAX)
		return;
	__atomic_store_n(&r->state, CDP_THREAD_FREE, __ATOMIC_RELAXED);
	__atomic_store_n(&m->count, m->count + 1, __ATOMIC_RELAXED);
	store_set(&m->end_mono, copy.end_mono);
	store_add(&m->cpu_ns, copy.cpu_ns);
	store_add(&m->interrupts, copy.interrupts);
	add_all(m->samples, copy.samples, SAMPLE_KINDS);
	store_add(&m->loads, copy.loads);
	store_add(&m->stores, copy.stores);
	store_add(&m->traps, copy.traps);
	store_add(&m->exec_traps, copy.exec_traps);
	store_add(&m->arms, copy.arms);
	store_add(&m->handler_ns, copy.handler_ns);
	add_all(m->loss, copy.loss, CDP_LOSS_MAX);
	free_row[free_count++] = r;
}

/* Merge what has settled; everything if @all. With the lock held. */
static void merge_ended(uint64_t now, bool all)
{
	while (ended_count && row_count > ROWS_APART) {
		struct row *r = &ended[ended_first];
		uint32_t id = r->record->id;

		if (!all && now < r->ended_at + runtime.comm.expiry + SETTLE_NS)
			return;
		ended_first = (ended_first + 1) % ENDED_MAX;
		ended_count--;
		if (!r->record->detections && id < ids_max &&
		    !__atomic_load_n(&referenced[id], __ATOMIC_RELAXED))
			merge(r->record);
	}
}

/* Numbers are never used again: a late trap may still name an old one. */
static struct cdp_thread *new_row(void *(*start)(void *), uint64_t now)
{
	struct cdp_thread *r;
	uint32_t id;
	bool fresh;

	merge_ended(now, false);
	fresh = !free_count;
	id = atomic_load(&ids);
	if (id >= ids_max)
		return NULL;
	r = fresh ? store_record(&runtime.store, &rows)
		  : free_row[free_count - 1];
	if (!r)
		return NULL;
	if (!fresh) {
		free_count--;
		memset((char *)r + offsetof(struct cdp_thread, count), 0,
		       sizeof(*r) - offsetof(struct cdp_thread, count));
	}
	atomic_store(&ids, id + 1);
	r->id = id;
	r->tid = 0;
	r->count = 1;
	r->start_routine = (uint64_t)(uintptr_t)start;
	r->start_mono = now;
	by_id[id] = r;
	__atomic_store_n(&r->state, CDP_THREAD_LIVE, __ATOMIC_RELEASE);
	if (fresh) {
		store_commit(&rows);
		row_count++;
	}
	return r;
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
	if (!lock_rows(may_wait)) {
		unmap_thread(m);
		return NULL;
	}
	t->record = new_row(start, now_ns());
	unlock_rows();
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
	const size_t each = sizeof(*by_id) + sizeof(*referenced);
	struct thread *t;

	if (by_id) /* a followed child starts afresh */
		munmap(by_id, ids_max * each);
	ids_max = runtime.little_space ? THREAD_IDS_LITTLE : THREAD_IDS_MAX;
	by_id = mmap(NULL, ids_max * each, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (by_id == MAP_FAILED) {
		by_id = NULL;
		return -errno;
	}
	referenced = (uint8_t *)(by_id + ids_max);
	rows = (struct store_writer){ .section = CDP_THREADS };
	atomic_store(&ids, 0);
	ended_first = ended_count = 0;
	merged_count = free_count = row_count = 0;
	atomic_flag_clear(&rows_lock);
	gone = false;
	t = new_thread(NULL, true);
	if (!t)
		return -ENOSPC; /* the row, in practice */
	begin(t);
	return 0;
}

void thread_mark_referenced(uint32_t id)
{
	if (id < ids_max)
		__atomic_store_n(&referenced[id], 1, __ATOMIC_RELAXED);
}

void thread_refresh(struct thread *t)
{
	char name[16] = "";

	if (t->samples_seen++ % REFRESH_EVERY)
		return;
	if (!sys_call2(SYS_prctl, PR_GET_NAME, name))
		set_name(t->record->name, name);
	store_set(&t->record->cpu_ns, thread_cpu_ns());
	if (runtime.hardware)
		pmu_source_count(t);
}

uint64_t threads_committed(void)
{
	uint32_t n = atomic_load(&ids);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (by_id[i] && by_id[i]->id == i)
			sum += __atomic_load_n(&by_id[i]->detections,
					       __ATOMIC_RELAXED);
	return sum;
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
	__atomic_store_n(&t->record->state, CDP_THREAD_FREE, __ATOMIC_RELAXED);
	if (lock_rows(true)) {
		if (free_count < ENDED_MAX)
			free_row[free_count++] = t->record;
		unlock_rows();
	}
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
	if (lock_rows(true)) {
		if (ended_count < ENDED_MAX)
			ended[(ended_first + ended_count++) % ENDED_MAX] =
				(struct row){ t->record, now };
		merge_ended(now, false);
		unlock_rows();
	}
	unmap_thread((char *)t);
}

void threads_finish(void)
{
	uint64_t now = now_ns();

	if (self) {
		close_row(self, now);
		source_thread_end(self);
	}
	if (lock_rows(true)) {
		merge_ended(now, true);
		unlock_rows();
	}
}
