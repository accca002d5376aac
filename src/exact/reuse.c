/* SPDX-License-Identifier: MIT */
/*
 * reuse - every reuse of cache lines, and every stack distance
 *
 * Each line has a version, the number of stores to it. With its last access to
 * a line a stream remembers the line's version at that time. If the version
 * differs at the next access, another thread or domain has stored. Versions are
 * in a table of regions of 64 lines (region_table.h).
 *
 * A store takes its version and updates its domain's stream under one hold of
 * the domain's lock. Otherwise two stores of a domain could change places in
 * between, and each would look like a store from outside to the other.
 */
#include <stdatomic.h>
#include <string.h>

#include "lru_stack.h"
#include "region_table.h"
#include "reuse.h"
#include "src/base/bits.h"
#include "src/base/spin_lock.h"

enum {
	ALIGN = 64,
	LINE = 64,
	REGION_LINES = 64,
};

struct domain {
	_Alignas(ALIGN) _Atomic uint32_t lock;
	struct lru_stack *stack;
	struct reuse_exact_counts *counts;
};

struct reuse_exact {
	struct reuse_exact_config config;
	struct region_table table;
	_Atomic uint32_t *versions;
	struct domain domain[REUSE_EXACT_DOMAINS_MAX];
};

static size_t stream_bytes(const struct reuse_exact_config *c)
{
	return round_up(sizeof(struct reuse_exact_counts), ALIGN) +
	       round_up(lru_stack_size(c->lines), ALIGN);
}

static size_t versions_bytes(const struct reuse_exact_config *c)
{
	return (size_t)c->regions * REGION_LINES * sizeof(uint32_t);
}

static bool config_valid(const struct reuse_exact_config *c)
{
	return is_power_of_two(c->regions) &&
	       c->domains <= REUSE_EXACT_DOMAINS_MAX &&
	       lru_stack_size(c->lines);
}

size_t reuse_exact_size(const struct reuse_exact_config *c)
{
	if (!config_valid(c))
		return 0;
	return round_up(sizeof(struct reuse_exact), ALIGN) +
	       round_up(c->regions * sizeof(uint64_t), ALIGN) +
	       round_up(versions_bytes(c), ALIGN) +
	       c->domains * stream_bytes(c);
}

size_t reuse_exact_thread_size(const struct reuse_exact_config *c)
{
	if (!config_valid(c))
		return 0;
	return round_up(sizeof(struct reuse_exact_thread), ALIGN) +
	       stream_bytes(c);
}

/* The stack follows the counts. */
static struct lru_stack *init_stack(const struct reuse_exact_config *c,
				    unsigned char *counts)
{
	counts += round_up(sizeof(struct reuse_exact_counts), ALIGN);
	return lru_stack_init(counts, c->lines);
}

struct reuse_exact *reuse_exact_init(void *mem,
				     const struct reuse_exact_config *c)
{
	struct reuse_exact *x = mem;
	unsigned char *next = mem;

	if (!config_valid(c))
		return NULL;
	x->config = *c;
	next += round_up(sizeof(*x), ALIGN);
	x->table.key = (void *)next;
	x->table.regions = c->regions;
	next += round_up(c->regions * sizeof(uint64_t), ALIGN);
	x->versions = (void *)next;
	next += round_up(versions_bytes(c), ALIGN);
	for (uint32_t i = 0; i < c->domains; i++) {
		x->domain[i].counts = (void *)next;
		x->domain[i].stack = init_stack(c, next);
		next += stream_bytes(c);
	}
	return x;
}

struct reuse_exact_thread *reuse_exact_thread_init(
	void *mem, const struct reuse_exact *x, const struct cpu_place *place)
{
	struct reuse_exact_thread *t = mem;
	unsigned char *next = mem;

	next += round_up(sizeof(*t), ALIGN);
	t->place = *place;
	t->counts = (void *)next;
	t->stack = init_stack(&x->config, next);
	return t;
}

/* The versions of a region, NULL if the table is full. */
static _Atomic uint32_t *look_up(struct reuse_exact *x, uint64_t region)
{
	uint32_t i = region_table_find(&x->table, region);

	return i == REGION_TABLE_FULL ? NULL
				      : x->versions + (size_t)i * REGION_LINES;
}

static _Atomic uint32_t *version_of(struct reuse_exact *x,
				    struct reuse_exact_thread *t, uint64_t line)
{
	uint64_t region = line / REGION_LINES;
	uint32_t i = region % REUSE_EXACT_SEEN;

	if (t->seen[i].region != region + 1) {
		_Atomic uint32_t *versions = look_up(x, region);

		if (!versions)
			return NULL;
		t->seen[i].region = region + 1;
		t->seen[i].versions = versions;
	}
	return t->seen[i].versions + line % REGION_LINES;
}

static void add(struct reuse_mass *bins, uint64_t value, double weight)
{
	uint32_t bin = reuse_bin_of(value);
	double x = (double)(value - reuse_bin_low(bin));

	bins[bin].weight += weight;
	bins[bin].squares += weight * weight;
	bins[bin].offset += weight * x;
	bins[bin].offset_squares += weight * x * x;
}

/* An access to one line, as a stream sees it. */
struct step {
	uint64_t line, bytes; /* a bit for each byte of the line */
	uint64_t time;
	uint32_t core;
	uint32_t before, after; /* the line's versions */
	bool stores;
	bool of_domain; /* the stream is a domain's */
};

static enum reuse_pairing pairing(bool use_stores, bool end_stores)
{
	if (end_stores)
		return use_stores ? REUSE_WAW : REUSE_WAR;
	return use_stores ? REUSE_RAW : REUSE_RAR;
}

/* True if another thread or domain has stored to the line meanwhile. */
static bool follow(struct reuse_exact_counts *c, struct lru_stack *stack,
		   const struct step *s)
{
	uint64_t distance;
	struct lru_stack_line *l = lru_stack_access(stack, s->line, &distance);
	double weight = (double)lru_stack_weight(stack);
	bool taken = false;

	if (!l)
		return false;
	if (distance == LRU_STACK_COLD) {
		add(c->cold, s->time, weight);
	} else if (l->version != s->before) {
		c->invalidated[l->stored] += weight;
		c->returned += weight;
		taken = true;
	} else {
		enum reuse_pairing p = pairing(l->stored, s->stores);
		bool spatial = !(l->bytes & s->bytes);
		uint64_t time = s->time - l->time;

		add(c->reused[p][spatial], time, weight);
		if (s->of_domain && l->core == s->core)
			add(c->same_core[p][spatial], time, weight);
		add(c->distance, distance, weight);
	}
	l->time = s->time;
	l->core = s->core;
	l->bytes = s->bytes;
	l->stored = s->stores;
	l->version = s->after;
	return taken;
}

static void take_version(struct step *s, _Atomic uint32_t *version)
{
	if (s->stores) {
		s->before = atomic_fetch_add_explicit(version, 1,
						      memory_order_relaxed);
		s->after = s->before + 1;
	} else {
		s->before = atomic_load_explicit(version, memory_order_relaxed);
		s->after = s->before;
	}
}

static bool access_line(struct reuse_exact *x, struct reuse_exact_thread *t,
			struct step *s)
{
	_Atomic uint32_t *version = version_of(x, t, s->line);
	uint64_t own_time = t->counts->accesses;

	if (!version) {
		t->counts->full++;
		return false;
	}
	if (x->config.domains) {
		struct domain *d =
			&x->domain[t->place.domain % x->config.domains];

		spin_lock(&d->lock);
		take_version(s, version);
		s->time = d->counts->accesses;
		s->of_domain = true;
		follow(d->counts, d->stack, s);
		spin_unlock(&d->lock);
	} else {
		take_version(s, version);
	}
	s->time = own_time;
	s->of_domain = false;
	return follow(t->counts, t->stack, s);
}

static void count_access(struct reuse_exact *x, struct reuse_exact_thread *t)
{
	t->counts->accesses++;
	if (x->config.domains) {
		struct domain *d =
			&x->domain[t->place.domain % x->config.domains];

		spin_lock(&d->lock);
		d->counts->accesses++;
		spin_unlock(&d->lock);
	}
}

unsigned int reuse_exact_access(struct reuse_exact *x,
				struct reuse_exact_thread *t,
				const struct access *a)
{
	uint64_t at = a->addr % LINE, len = a->len ? a->len : 1;
	struct step s = {
		.line = a->addr / LINE,
		.core = t->place.core,
		.stores = access_stores(a),
	};
	unsigned int taken;

	len = len < LINE ? len : LINE;
	count_access(x, t);
	s.bytes = (len == LINE ? UINT64_MAX : (UINT64_C(1) << len) - 1) << at;
	taken = access_line(x, t, &s);
	if (at + len <= LINE)
		return taken;
	s.line++;
	s.bytes = (UINT64_C(1) << (at + len - LINE)) - 1;
	return taken | (unsigned int)access_line(x, t, &s) << 1;
}

struct ending {
	struct reuse_exact *x;
	struct reuse_exact_counts *counts;
	double weight;
};

static void end_line(void *ctx, struct lru_stack_line *l)
{
	struct ending *e = ctx;
	uint64_t line = l->key - 1;
	_Atomic uint32_t *versions = look_up(e->x, line / REGION_LINES);

	if (atomic_load_explicit(&versions[line % REGION_LINES],
				 memory_order_relaxed) == l->version)
		add(e->counts->dangling[l->stored],
		    e->counts->accesses + 1 - l->time, e->weight);
	else
		e->counts->invalidated[l->stored] += e->weight;
}

static void end_stream(struct reuse_exact *x, struct reuse_exact_counts *c,
		       struct lru_stack *stack)
{
	struct ending e = { x, c, (double)lru_stack_weight(stack) };

	c->weight = lru_stack_weight(stack);
	lru_stack_each(stack, end_line, &e);
}

void reuse_exact_thread_end(struct reuse_exact *x, struct reuse_exact_thread *t)
{
	end_stream(x, t->counts, t->stack);
}

const struct reuse_exact_counts *reuse_exact_domain_end(struct reuse_exact *x,
							uint32_t domain)
{
	struct domain *d;

	if (domain >= x->config.domains)
		return NULL;
	d = &x->domain[domain];
	end_stream(x, d->counts, d->stack);
	return d->counts;
}
