/* SPDX-License-Identifier: MIT */
/*
 * reuse_exact - every reuse of lines, and every stack distance
 *
 * With the mode reuse there is a stream for each thread, with shared or global
 * one for each domain (src/exact/reuse.h). The results of a thread are written
 * at its end, those of domains at the end of the process.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "reuse_exact.h"
#include "caches.h"
#include "state.h"
#include "src/base/zero_pages.h"
#include "src/exact/reuse.h"

enum {
	REGIONS = 1 << 20, /* 4 GiB of lines that may be touched */
	LINES = 1 << 22, /* 256 MiB a stream; if a stream has more lines, a part
			    of the lines is followed */
	DOMAIN_MODES = CDP_MODE_SHARED | CDP_MODE_GLOBAL,
};

static struct reuse_exact_config config;
static struct reuse_exact *exact;
static size_t exact_bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reuse_tally tally; /* under the lock */
static atomic_bool written;      /* the results of domains are in the file */

int emu_reuse_exact_init(void)
{
	void *mem;

	if (exact) /* in a forked child: it belongs to the parent */
		munmap(exact, exact_bytes);
	exact = NULL;
	pthread_mutex_init(&lock, NULL);
	tally = (struct reuse_tally){ .writer.section = CDP_REUSE };
	atomic_store(&written, false);
	config = (struct reuse_exact_config){
		.regions = REGIONS,
		.lines = LINES,
		.domains = emu.config.modes & DOMAIN_MODES ? emu.domains : 0,
	};
	exact_bytes = reuse_exact_size(&config);
	if (!exact_bytes)
		return -EINVAL;
	mem = zero_pages(exact_bytes);
	if (!mem)
		return -ENOMEM;
	exact = reuse_exact_init(mem, &config);
	return emu.config.caches.levels ? emu_caches_init() : 0;
}

void emu_reuse_exact_start(struct vcpu *v)
{
	struct cpu_place place = emu_place(v);
	void *mem = zero_pages(reuse_exact_thread_size(&config));

	v->reuse_exact = NULL;
	if (mem)
		v->reuse_exact = reuse_exact_thread_init(mem, exact, &place);
	else
		store_add(&v->record->loss[LOSS_NO_THREAD], 1);
	if (mem && emu.config.caches.levels)
		emu_caches_start(v);
}

void emu_reuse_exact_access(struct vcpu *v, const struct access *a)
{
	struct reuse_exact_thread *t =
		atomic_load_explicit(&v->reuse_exact, memory_order_relaxed);

	if (t)
		emu_caches_access(v, a, reuse_exact_access(exact, t, a));
}

static void put(const struct cdp_reuse *r)
{
	if (r->weight > 0 && reuse_tally_put(&emu.store, &tally, r))
		store_lose(&emu.store, LOSS_STORE_FULL, 1);
}

static void put_bins(struct cdp_reuse r, const struct reuse_mass *bins)
{
	for (r.bin = 0; r.bin < REUSE_BINS; r.bin++) {
		const struct reuse_mass *m = &bins[r.bin];

		r.weight = m->weight;
		r.squares = m->squares;
		r.offset = m->offset;
		r.offset_squares = m->offset_squares;
		r.count = (uint64_t)m->weight;
		put(&r);
	}
}

static void put_times(struct cdp_reuse r,
		      const struct reuse_mass (*bins)[2][REUSE_BINS])
{
	for (r.pairing = 0; r.pairing < REUSE_PAIRINGS; r.pairing++)
		for (r.spatial = 0; r.spatial < 2; r.spatial++)
			put_bins(r, bins[r.pairing][r.spatial]);
}

/* A stream does not know when a store invalidated its line. */
static void put_invalidated(struct cdp_reuse r, enum reuse_pairing pairing,
			    double weight)
{
	r.outcome = REUSE_INVALIDATED;
	r.pairing = pairing;
	r.bin = REUSE_BINS - 1;
	r.weight = r.squares = weight;
	r.count = (uint64_t)weight;
	put(&r);
}

/* Subtract @part from @all; the doubles hold whole numbers. */
static void subtract(struct reuse_mass *all, const struct reuse_mass *part,
		     size_t n)
{
	for (size_t i = 0; i < n; i++) {
		all[i].weight -= part[i].weight;
		all[i].squares -= part[i].squares;
		all[i].offset -= part[i].offset;
		all[i].offset_squares -= part[i].offset_squares;
	}
}

static void put_scope(enum reuse_scope scope, uint32_t thread, uint32_t domain,
		      const struct reuse_exact_counts *c)
{
	struct cdp_reuse r = {
		.kind = CDP_REUSE_EXACT,
		.scope = scope,
		.granularity = REUSE_LINE,
		.outcome = REUSE_REUSED,
		.thread = thread,
		.domain = domain,
	};

	put_times(r, c->reused);
	if (scope == REUSE_SHARED) {
		r.outcome = REUSE_SAME_CORE;
		put_times(r, c->same_core);
	}
	put_invalidated(r, REUSE_RAR, c->invalidated[0]);
	put_invalidated(r, REUSE_RAW, c->invalidated[1]);
	r.outcome = REUSE_DANGLING;
	put_bins(r, c->dangling[0]);
	r.pairing = REUSE_RAW;
	put_bins(r, c->dangling[1]);
	r.pairing = REUSE_RAR;
	r.outcome = REUSE_COLD;
	put_bins(r, c->cold);
	if (scope == REUSE_SHARED)
		return;
	r.kind = CDP_REUSE_STACK;
	put_bins(r, c->cold);
	r.outcome = REUSE_REUSED;
	put_bins(r, c->distance);
	put_invalidated(r, REUSE_RAR, c->returned);
}

/*
 * Write the results of the thread whose row is @record. The first caller takes
 * the struct from @v: the thread itself, or another thread's exec, which leaves
 * it mapped because the thread may be in a call.
 */
static struct reuse_exact_thread *end_stream(struct vcpu *v,
					     struct cdp_thread *record)
{
	struct reuse_exact_thread *t = atomic_exchange_explicit(
		&v->reuse_exact, NULL, memory_order_acq_rel);

	if (!t)
		return NULL;
	reuse_exact_thread_end(exact, t);
	store_add(&record->loss[LOSS_NO_THREAD], t->counts->full);
	pthread_mutex_lock(&lock);
	if (emu.config.modes & CDP_MODE_REUSE)
		put_scope(REUSE_PRIVATE, record->id, t->place.domain,
			  t->counts);
	pthread_mutex_unlock(&lock);
	return t;
}

void emu_reuse_exact_end(struct vcpu *v)
{
	struct reuse_exact_thread *t = end_stream(v, v->record);

	if (t)
		munmap(t, reuse_exact_thread_size(&config));
	emu_caches_release(emu_caches_end(v, v->record));
}

void emu_reuse_exact_finish(void)
{
	/* Once, even if the program goes on after a failed exec. */
	uint32_t domains = atomic_exchange(&written, true) ? 0 : config.domains;

	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++) {
		struct vcpu *v = &emu.vcpu[i];
		/* NULL if the thread has ended meanwhile. */
		struct cdp_thread *record =
			__atomic_load_n(&v->record, __ATOMIC_ACQUIRE);

		if (!record)
			continue;
		end_stream(v, record);
		emu_caches_end(v, record);
	}
	pthread_mutex_lock(&lock);
	for (uint32_t d = 0; d < domains; d++) {
		struct reuse_exact_counts *c =
			(void *)reuse_exact_domain_end(exact, d);

		if (emu.config.modes & CDP_MODE_GLOBAL)
			put_scope(REUSE_GLOBAL, UINT32_MAX, d, c);
		if (!(emu.config.modes & CDP_MODE_SHARED))
			continue;
		subtract(&c->reused[0][0][0], &c->same_core[0][0][0],
			 sizeof(c->same_core) / sizeof(c->same_core[0][0][0]));
		put_scope(REUSE_SHARED, UINT32_MAX, d, c);
	}
	pthread_mutex_unlock(&lock);
}
