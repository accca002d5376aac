/* SPDX-License-Identifier: MIT */
/*
 * caches - the caches of a machine, simulated beside the exact stacks
 *
 * Each thread has private caches of its own, even if several threads are on one
 * core: their turns are far shorter than time slices of a kernel. A thread's
 * exact stack knows which lines other threads have stored to. The misses of a
 * thread are written at its end: a record for each of the instructions that
 * miss most, and one for the rest.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "caches.h"
#include "maps.h"
#include "state.h"
#include "src/base/zero_pages.h"

enum {
	SITES_WRITTEN = 512,           /* for each thread */
	SITE_RECORDS_MAX = 128 * 1024, /* of a process: 12 MiB */
};

static struct cache_sets *caches;
static size_t caches_bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static struct store_writer writer;
static uint32_t site_records;

int emu_caches_init(void)
{
	struct cache_sets_config config = emu.config.caches;
	void *mem;

	if (caches) /* in a forked child: they belong to the parent */
		munmap(caches, caches_bytes);
	caches = NULL;
	pthread_mutex_init(&lock, NULL);
	writer = (struct store_writer){ .section = CDP_REUSE };
	site_records = 0;
	config.domains = emu.domains;
	caches_bytes = cache_sets_size(&config);
	mem = zero_pages(caches_bytes);
	if (!mem)
		return caches_bytes ? -ENOMEM : -EINVAL;
	caches = cache_sets_init(mem, &config);
	return 0;
}

void emu_caches_start(struct vcpu *v)
{
	void *mem = zero_pages(cache_sets_thread_size(&emu.config.caches));

	v->caches = NULL;
	if (mem)
		v->caches = cache_sets_thread_init(mem, caches, v->domain);
	else
		store_add(&v->record->loss[LOSS_NO_THREAD], 1);
}

static void access_line(struct cache_sets_thread *t, uint64_t line,
			const struct access *a, bool taken)
{
	struct cache_site *s = cache_sets_access(caches, t, line, a->ip,
						 access_stores(a), taken);

	if (__builtin_expect(s != NULL, 0))
		s->generation = emu_maps_note(a->ip);
}

void emu_caches_access(struct vcpu *v, const struct access *a,
		       unsigned int taken)
{
	uint64_t line = a->addr >> EMU_LINE_SHIFT;
	uint64_t last = (a->addr + a->len - 1) >> EMU_LINE_SHIFT;
	struct cache_sets_thread *t =
		atomic_load_explicit(&v->caches, memory_order_relaxed);

	if (!t)
		return;
	access_line(t, line, a, taken & 1);
	if (last != line)
		access_line(t, last, a, taken & 2);
}

static uint64_t misses_of(const struct cache_site *s)
{
	uint64_t n = 0;

	for (int i = 0; i < CACHE_SETS_LEVELS; i++)
		n += s->miss[i][0] + s->miss[i][1];
	return n;
}

static int by_misses(const void *a, const void *b)
{
	uint64_t x = misses_of(a), y = misses_of(b);

	return (x < y) - (x > y);
}

/* Sort by misses, most first. Returns how many to write. */
static uint32_t sort_sites(struct cache_sets_thread *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < CACHE_SETS_SITES; i++)
		if (t->site[i].ip)
			t->site[n++] = t->site[i];
	qsort(t->site, n, sizeof(*t->site), by_misses);
	return n < SITES_WRITTEN ? n : SITES_WRITTEN;
}

static void put(const struct cdp_reuse *r)
{
	struct cdp_reuse *to = store_record(&emu.store, &writer);

	if (!to) {
		store_lose(&emu.store, LOSS_STORE_FULL, 1);
		return;
	}
	*to = *r;
	store_commit(&writer);
}

/*
 * Write the misses of the thread in cache @i: those of its first @sites sites,
 * then the rest.
 */
static void put_cache(struct cdp_reuse r, const struct cache_sets_thread *t,
		      uint32_t i, uint32_t sites)
{
	const struct cache_shape *c = &emu.config.caches.level[i];
	bool stores = r.pairing == REUSE_RAW;
	uint64_t rest = t->miss[i][stores];

	r.scope = c->shared ? REUSE_GLOBAL : REUSE_PRIVATE;
	r.bin = c->depth;
	r.end_ip = cdp_cache_shape(c->sets, c->ways);
	for (uint32_t k = 0; k < sites && site_records < SITE_RECORDS_MAX;
	     k++) {
		const struct cache_site *s = &t->site[k];

		if (!s->miss[i][stores])
			continue;
		r.use_ip = s->ip;
		r.weight = (double)s->miss[i][stores];
		r.map_generation = s->generation;
		put(&r);
		site_records++;
		/*
		 * The thread may be in a call, and may have added misses to
		 * this site since its total was read.
		 */
		rest -= rest < s->miss[i][stores] ? rest : s->miss[i][stores];
	}
	r.use_ip = 0;
	r.weight = (double)rest;
	r.map_generation = 0;
	r.count = t->accesses[stores];
	put(&r);
}

struct cache_sets_thread *emu_caches_end(struct vcpu *v,
					 const struct cdp_thread *record)
{
	static const enum reuse_pairing kinds[] = { REUSE_RAR, REUSE_RAW };
	struct cache_sets_thread *t = atomic_exchange_explicit(
		&v->caches, NULL, memory_order_acq_rel);
	uint32_t sites;

	if (!t)
		return NULL;
	sites = sort_sites(t);
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < emu.config.caches.levels; i++)
		for (int k = 0; k < 2; k++)
			put_cache(
				(struct cdp_reuse){
					.kind = CDP_REUSE_CACHE,
					.granularity = REUSE_LINE,
					.pairing = kinds[k],
					.thread = record->id,
					.domain = t->domain,
				},
				t, i, sites);
	pthread_mutex_unlock(&lock);
	return t;
}

void emu_caches_release(struct cache_sets_thread *t)
{
	if (t)
		munmap(t, cache_sets_thread_size(&emu.config.caches));
}
