/* SPDX-License-Identifier: MIT */
/*
 * thread_rows - the threads' rows in the file: made, merged, used again
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "thread_rows.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "src/base/signal_safe.h"

enum {
	THREAD_IDS_MAX = 1 << 20,
	THREAD_IDS_LITTLE = 1 << 15, /* where address space is limited */
	ENDED_MAX = 1024,            /* rows that wait to be merged */
	MERGED_MAX = 256, /* kinds of threads, by name and start routine */
	SETTLE_NS = 50 * 1000 * 1000,
	ROWS_APART = 512, /* with fewer rows none are merged: people can read so
			     many */
	LOCK_TRIES = 200,
	LOCK_YIELDS = 20, /* the first tries yield, the others sleep */
	LOCK_SLEEP_NS = 100 * 1000,
};

struct row {
	struct cdp_thread *record;
	uint64_t ended_at;
};

static atomic_flag rows_lock = ATOMIC_FLAG_INIT;
static struct store_writer rows = { .section = CDP_THREADS };
/* ids_max entries; pages that are not touched cost nothing. */
static struct cdp_thread **by_id;
static uint32_t ids_max;
static bool kept;           /* forked children do not inherit it */
static uint8_t *referenced; /* by id */
static _Atomic uint32_t ids;
static struct row ended[ENDED_MAX];
static uint32_t ended_first, ended_count;
static struct cdp_thread *merged[MERGED_MAX], *free_row[ENDED_MAX];
static uint32_t merged_count, free_count, row_count; /* of threads */

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

void thread_row_name(struct cdp_thread *r, const char *name)
{
	memcpy(r->name, name, sizeof(r->name) - 1);
	r->name[sizeof(r->name) - 1] = 0;
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
	thread_row_name(m, r->name);
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
 * From now on detections of thread @r name row @m. Returns false, and changes
 * nothing, if one names @r already.
 *
 * (N) pairs with (O): in the one order of all four, either the detection's mark
 * comes before we look, and the row stays; or the detection finds @m.
 */
static bool redirect(struct cdp_thread *r, struct cdp_thread *m)
{
	if (r->id >= ids_max)
		return false;
	__atomic_store_n(&by_id[r->id], m, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&referenced[r->id], __ATOMIC_SEQ_CST))
		return true;
	__atomic_store_n(&by_id[r->id], r, __ATOMIC_RELAXED);
	return false;
}

/*
 * Move the counts of @r to its merged row and free it. If SIGKILL comes between
 * the two steps, the thread is counted twice or not at all. So the row is freed
 * first: losing a thread without detections does less harm.
 */
static void merge(struct cdp_thread *r)
{
	struct cdp_thread copy = *r, *m;

	if (__atomic_load_n(&referenced[r->id], __ATOMIC_RELAXED))
		return;
	m = merged_row(r);
	if (!m || free_count == ENDED_MAX || !redirect(r, m))
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
	store_add(&m->samples_skipped, copy.samples_skipped);
	store_add(&m->looks, copy.looks);
	store_add(&m->look_accesses, copy.look_accesses);
	add_all(m->loss, copy.loss, CDP_LOSS_MAX);
	store_add(&m->counted_loads, copy.counted_loads);
	store_add(&m->counted_stores, copy.counted_stores);
	store_add(&m->counted_load_bytes, copy.counted_load_bytes);
	store_add(&m->counted_store_bytes, copy.counted_store_bytes);
	store_set(&m->counted_scaled, m->counted_scaled || copy.counted_scaled);
	if (copy.reuse_resolution > m->reuse_resolution)
		store_set(&m->reuse_resolution, copy.reuse_resolution);
	free_row[free_count++] = r;
}

/* Merge the threads that ended long enough ago, or @all. Lock held. */
static void merge_ended(uint64_t now, bool all)
{
	while (ended_count && row_count > ROWS_APART) {
		struct row *r = &ended[ended_first];
		if (!all &&
		    now < r->ended_at + comm_expiry(&runtime.comm) + SETTLE_NS)
			return;
		ended_first = (ended_first + 1) % ENDED_MAX;
		ended_count--;
		if (!r->record->detections)
			merge(r->record);
	}
}

/* Ids are never used again: a late trap may still name an old one. */
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
	/* (M) For readers of the file, if the row was another thread's. */
	__atomic_store_n(&r->state, CDP_THREAD_LIVE, __ATOMIC_RELEASE);
	if (fresh) {
		store_commit(&rows);
		row_count++;
	}
	return r;
}

struct cdp_thread *thread_row_new(void *(*start)(void *), bool may_wait)
{
	struct cdp_thread *r;

	if (!lock_rows(may_wait))
		return NULL;
	r = new_row(start, now_ns());
	unlock_rows();
	return r;
}

void thread_row_discard(struct cdp_thread *r)
{
	__atomic_store_n(&r->state, CDP_THREAD_FREE, __ATOMIC_RELAXED);
	if (!lock_rows(true))
		return;
	if (free_count < ENDED_MAX)
		free_row[free_count++] = r;
	unlock_rows();
}

void thread_row_ended(struct cdp_thread *r, uint64_t now, bool may_wait)
{
	if (!lock_rows(may_wait))
		return;
	if (ended_count < ENDED_MAX)
		ended[(ended_first + ended_count++) % ENDED_MAX] =
			(struct row){ r, now };
	merge_ended(now, false);
	unlock_rows();
}

void thread_rows_finish(uint64_t now)
{
	if (!lock_rows(true))
		return;
	merge_ended(now, true);
	unlock_rows();
}

int thread_rows_init(void)
{
	const size_t each = sizeof(*by_id) + sizeof(*referenced);

	if (by_id && !kept) /* a followed child starts afresh */
		munmap(by_id, ids_max * each);
	ids_max = runtime.little_space ? THREAD_IDS_LITTLE : THREAD_IDS_MAX;
	by_id = mmap(NULL, ids_max * each, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (by_id == MAP_FAILED) {
		by_id = NULL;
		return -errno;
	}
	kept = runtime_keep(by_id, ids_max * each);
	referenced = (uint8_t *)(by_id + ids_max);
	rows = (struct store_writer){ .section = CDP_THREADS };
	atomic_store(&ids, 0);
	ended_first = ended_count = 0;
	merged_count = free_count = row_count = 0;
	atomic_flag_clear(&rows_lock);
	return 0;
}

uint32_t thread_mark_referenced(uint32_t id)
{
	const struct cdp_thread *r;

	if (id >= ids_max)
		return id;
	/* (O) pairs with (N). */
	__atomic_store_n(&referenced[id], 1, __ATOMIC_SEQ_CST);
	r = __atomic_load_n(&by_id[id], __ATOMIC_SEQ_CST);
	return r && r->id != id &&
			       __atomic_load_n(&r->state, __ATOMIC_RELAXED) ==
				       CDP_THREAD_MERGED
		       ? r->id
		       : id;
}

bool thread_row_lives(uint32_t id)
{
	const struct cdp_thread *r =
		id < ids_max ? __atomic_load_n(&by_id[id], __ATOMIC_RELAXED)
			     : NULL;

	return r && r->id == id &&
	       __atomic_load_n(&r->state, __ATOMIC_RELAXED) == CDP_THREAD_LIVE;
}

uint64_t thread_rows_detections(void)
{
	uint32_t n = atomic_load(&ids);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (by_id[i] && by_id[i]->id == i)
			sum += __atomic_load_n(&by_id[i]->detections,
					       __ATOMIC_RELAXED);
	return sum;
}
