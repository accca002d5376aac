/* SPDX-License-Identifier: MIT */
/*
 * adjacent_plugin - an adjacent-line prefetcher, simulated
 *
 * Beside libcomdet-qemu.so, or alone, this plugin sends every access through
 * two simulated machines. They differ in one thing: when a private cache of the
 * second misses a line, it also fetches the other line of its pair of 128
 * bytes. Each processor of QEMU has a private cache, and all share one; both
 * are set associative and evict the least recently used line. Private lines are
 * exclusive, modified or shared. Only two things take time:
 *
 *	dram       a miss that no cache has
 *	transfer   a miss of a line that another private cache has modified; a
 *	           store to a line that others hold too
 *
 * Prefetches themselves are free; they cost only the lines that they evict or
 * take from other caches. At the end the plugin prints one line of JSON on
 * stderr.
 *
 * Arguments: private=LINES, shared=LINES, dram_ns=N, transfer_ns=N.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/emu/qemu_plugin_abi.h"

enum {
	LINE_BITS = 6,
	WAYS = 16,
	CORES = 64,
	MACHINES = 2, /* the second one prefetches */
};

enum state {
	ABSENT,
	SHARED,
	EXCLUSIVE,
	MODIFIED
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

struct entry {
	uint64_t line;
	enum state state;
};

/* The first entry of a set is the most recently used. */
struct cache {
	uint64_t sets;
	struct entry *entry;
};

static struct machine {
	struct cache private[CORES], shared;
	uint64_t dram, transfers, prefetches;
} machine[MACHINES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t accesses;
static double dram_ns = 100, transfer_ns = 50;

static void cache_init(struct cache *c, uint64_t lines)
{
	c->sets = lines / WAYS;
	c->entry = calloc(c->sets * WAYS, sizeof(*c->entry));
	if (!c->entry)
		abort();
}

static struct entry *set_of(const struct cache *c, uint64_t line)
{
	return c->entry + line * 0x9E3779B97F4A7C15ull % c->sets * WAYS;
}

static struct entry *find(const struct cache *c, uint64_t line)
{
	struct entry *e = set_of(c, line);

	for (int i = 0; i < WAYS; i++)
		if (e[i].state && e[i].line == line)
			return &e[i];
	return NULL;
}

/*
 * Make @line the most recently used. Returns the entry it evicted, or an absent
 * one.
 */
static struct entry use(struct cache *c, uint64_t line, enum state state)
{
	struct entry *set = set_of(c, line), *e = find(c, line), out = { 0 };

	if (!e) {
		e = &set[WAYS - 1];
		for (int i = 0; i < WAYS && e->state; i++)
			if (!set[i].state)
				e = &set[i];
		out = *e;
	}
	memmove(set + 1, set, (size_t)(e - set) * sizeof(*set));
	set[0] = (struct entry){ line, state };
	return out;
}

/* The strongest state of @line in another private cache. */
static enum state elsewhere(struct machine *m, unsigned int core, uint64_t line)
{
	enum state strongest = ABSENT;

	for (unsigned int i = 0; i < CORES; i++) {
		struct entry *e = i == core ? NULL : find(&m->private[i], line);

		if (e && e->state > strongest)
			strongest = e->state;
	}
	return strongest;
}

/* Make @line shared or absent in all other private caches. */
static void weaken(struct machine *m, unsigned int core, uint64_t line,
		   enum state to)
{
	for (unsigned int i = 0; i < CORES; i++) {
		struct entry *e = i == core ? NULL : find(&m->private[i], line);

		if (e && e->state > to)
			e->state = to;
	}
}

/* Put @line into the cache of @core. Returns true if it came from DRAM. */
static bool fetch(struct machine *m, unsigned int core, uint64_t line,
		  bool store)
{
	enum state other = elsewhere(m, core, line), mine = EXCLUSIVE;
	bool dram = !other && !find(&m->shared, line);
	struct entry out;

	if (store)
		mine = MODIFIED;
	else if (other)
		mine = SHARED;
	if (other)
		weaken(m, core, line, store ? ABSENT : SHARED);
	use(&m->shared, line, SHARED);
	out = use(&m->private[core], line, mine);
	if (out.state == MODIFIED)
		use(&m->shared, out.line, SHARED);
	return dram;
}

static void prefetch(struct machine *m, unsigned int core, uint64_t line)
{
	if (find(&m->private[core], line))
		return;
	m->prefetches++;
	fetch(m, core, line, false);
}

static void access_line(struct machine *m, unsigned int core, uint64_t line,
			bool store)
{
	struct entry *e = find(&m->private[core], line);
	enum state other;

	if (e) {
		if (store && e->state == SHARED) {
			other = elsewhere(m, core, line);
			m->transfers += other != ABSENT;
			weaken(m, core, line, ABSENT);
		}
		use(&m->private[core], line, store ? MODIFIED : e->state);
		return;
	}
	other = elsewhere(m, core, line);
	m->transfers += other == MODIFIED || (store && other);
	m->dram += fetch(m, core, line, store);
	if (m == &machine[1])
		prefetch(m, core, line ^ 1);
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t addr, void *data)
{
	uint64_t last = addr + (1u << qemu_plugin_mem_size_shift(info)) - 1;
	bool store = qemu_plugin_mem_is_store(info);

	vcpu %= CORES;
	pthread_mutex_lock(&lock);
	accesses++;
	for (int i = 0; i < MACHINES; i++)
		for (uint64_t l = addr >> LINE_BITS; l <= last >> LINE_BITS;
		     l++)
			access_line(&machine[i], vcpu, l, store);
	pthread_mutex_unlock(&lock);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n; i++)
		qemu_plugin_register_vcpu_mem_cb(
			qemu_plugin_tb_get_insn(tb, i), on_access,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static double ns_of(const struct machine *m)
{
	return (double)m->dram * dram_ns + (double)m->transfers * transfer_ns;
}

static void on_end(qemu_plugin_id_t id, void *data)
{
	const struct machine *a = &machine[0], *b = &machine[1];

	fprintf(stderr,
		"{\"accesses\": %llu, \"dram\": [%llu, %llu], "
		"\"transfers\": [%llu, %llu], \"prefetches\": %llu, "
		"\"ns\": [%.0f, %.0f]}\n",
		(unsigned long long)accesses, (unsigned long long)a->dram,
		(unsigned long long)b->dram, (unsigned long long)a->transfers,
		(unsigned long long)b->transfers,
		(unsigned long long)b->prefetches, ns_of(a), ns_of(b));
}

int qemu_plugin_install(qemu_plugin_id_t id,
			const struct qemu_plugin_info *info, int argc,
			char **argv)
{
	uint64_t private = 1 << 10, shared = 1 << 14;

	for (int i = 0; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		double number = value ? atof(value + 1) : 0;

		if (!strncmp(argv[i], "private=", 8) && number >= WAYS)
		private = (uint64_t)number;
		else if (!strncmp(argv[i], "shared=", 7) && number >= WAYS)
			shared = (uint64_t)number;
		else if (!strncmp(argv[i], "dram_ns=", 8) && number > 0)
			dram_ns = number;
		else if (!strncmp(argv[i], "transfer_ns=", 12) && number > 0)
			transfer_ns = number;
		else return -1;
	}
	for (int i = 0; i < MACHINES; i++) {
		cache_init(&machine[i].shared, shared);
		for (int c = 0; c < CORES; c++)
			cache_init(&machine[i].private[c], private);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
