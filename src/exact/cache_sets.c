/* SPDX-License-Identifier: MIT */
/*
 * cache_sets - caches with sets, simulated over every access
 *
 * A set is an array of line numbers + 1, the most recently used first; 0 is no
 * line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cache_sets.h"
#include "src/base/bits.h"
#include "src/base/spin_lock.h"

enum {
	ALIGN = 64,
	PROBES_MAX = 64,
};

struct shared {
	_Alignas(ALIGN) _Atomic uint32_t lock;
	uint64_t *line;
};

struct cache_sets {
	struct cache_sets_config config;
	uint32_t own; /* levels that are the threads' own */
	struct shared shared[CACHE_SETS_DOMAINS_MAX];
};

static size_t cache_bytes(const struct cache_shape *c)
{
	return round_up((size_t)c->sets * c->ways * sizeof(uint64_t), ALIGN);
}

static bool shape_valid(const struct cache_shape *c)
{
	return c->depth >= 1 && c->depth <= CACHE_SETS_DEPTH_MAX && c->sets &&
	       c->ways && c->ways <= CACHE_SETS_WAYS_MAX &&
	       c->sets <= CACHE_SETS_LINES_MAX / c->ways;
}

static bool config_valid(const struct cache_sets_config *c)
{
	if (!c->levels || c->levels > CACHE_SETS_LEVELS || !c->domains ||
	    c->domains > CACHE_SETS_DOMAINS_MAX)
		return false;
	for (uint32_t i = 0; i < c->levels; i++) {
		if (!shape_valid(&c->level[i]))
			return false;
		if (i && (c->level[i].depth <= c->level[i - 1].depth ||
			  c->level[i - 1].shared))
			return false;
	}
	return true;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* A number at *@p and the blanks behind it, or 0. */
static uint64_t take_number(const char **p)
{
	uint64_t n = 0;

	if (!isdigit((unsigned char)**p))
		return 0;
	for (; isdigit((unsigned char)**p); ++*p)
		n = n < UINT32_MAX ? 10 * n + (uint64_t)(**p - '0') : n;
	*p = skip_blanks(*p);
	return n;
}

/* One cache at *@p, and what separates it from the next. */
static bool take_cache(struct cache_shape *c, const char **p)
{
	static const char shared[] = "shared";
	uint64_t bytes, ways;

	*p = skip_blanks(*p);
	if (**p != 'L')
		return false;
	++*p;
	if (**p < '1' || **p > '0' + CACHE_SETS_DEPTH_MAX)
		return false;
	c->depth = (uint32_t)(*(*p)++ - '0');
	*p += **p == 'd';
	*p = skip_blanks(*p);
	bytes = take_number(p);
	ways = take_number(p);
	if (!ways || ways > CACHE_SETS_WAYS_MAX ||
	    bytes % (ways * CACHE_SETS_LINE))
		return false;
	c->ways = (uint32_t)ways;
	c->sets = (uint32_t)(bytes / ways / CACHE_SETS_LINE);
	c->shared = !strncmp(*p, shared, strlen(shared));
	if (c->shared)
		*p = skip_blanks(*p + strlen(shared));
	if (**p && **p != ';')
		return false;
	*p += **p == ';';
	return true;
}

int cache_sets_parse(struct cache_sets_config *config, const char *text)
{
	const char *p = skip_blanks(text);

	memset(config, 0, sizeof(*config));
	for (; *p; p = skip_blanks(p))
		if (config->levels == CACHE_SETS_LEVELS ||
		    !take_cache(&config->level[config->levels++], &p))
			return -EINVAL;
	config->domains = 1;
	return config_valid(config) ? 0 : -EINVAL;
}

static uint32_t own_levels(const struct cache_sets_config *c)
{
	return c->levels - c->level[c->levels - 1].shared;
}

size_t cache_sets_size(const struct cache_sets_config *c)
{
	size_t bytes = round_up(sizeof(struct cache_sets), ALIGN);

	if (!config_valid(c))
		return 0;
	if (own_levels(c) < c->levels)
		bytes += c->domains * cache_bytes(&c->level[c->levels - 1]);
	return bytes;
}

size_t cache_sets_thread_size(const struct cache_sets_config *c)
{
	size_t bytes =
		round_up(sizeof(struct cache_sets_thread), ALIGN) +
		round_up(CACHE_SETS_SITES * sizeof(struct cache_site), ALIGN);

	if (!config_valid(c))
		return 0;
	for (uint32_t i = 0; i < own_levels(c); i++)
		bytes += cache_bytes(&c->level[i]);
	return bytes;
}

struct cache_sets *cache_sets_init(void *mem, const struct cache_sets_config *c)
{
	struct cache_sets *x = mem;
	unsigned char *next = mem;

	if (!config_valid(c))
		return NULL;
	x->config = *c;
	x->own = own_levels(c);
	next += round_up(sizeof(*x), ALIGN);
	for (uint32_t d = 0; x->own < c->levels && d < c->domains; d++) {
		x->shared[d].line = (void *)next;
		next += cache_bytes(&c->level[x->own]);
	}
	return x;
}

struct cache_sets_thread *cache_sets_thread_init(void *mem,
						 const struct cache_sets *x,
						 uint32_t domain)
{
	struct cache_sets_thread *t = mem;
	unsigned char *next = mem;

	t->domain = domain % x->config.domains;
	next += round_up(sizeof(*t), ALIGN);
	t->site = (void *)next;
	next += round_up(CACHE_SETS_SITES * sizeof(*t->site), ALIGN);
	for (uint32_t i = 0; i < x->own; i++) {
		t->own[i] = (void *)next;
		next += cache_bytes(&x->config.level[i]);
	}
	return t;
}

/* Make @line the most recently used of its set. True if it was there. */
static bool use(uint64_t *lines, const struct cache_shape *c, uint64_t line)
{
	bool power = !(c->sets & (c->sets - 1));
	uint64_t n = power ? line & (c->sets - 1) : line % c->sets;
	uint64_t *set = lines + n * c->ways;
	uint64_t key = line + 1, moved = key;

	for (uint32_t i = 0; i < c->ways; i++) {
		uint64_t here = set[i];

		set[i] = moved;
		if (here == key)
			return true;
		moved = here;
	}
	return false;
}

static bool use_shared(struct cache_sets *x, uint32_t domain, uint64_t line)
{
	struct shared *s = &x->shared[domain];
	bool hit;

	spin_lock(&s->lock);
	hit = use(s->line, &x->config.level[x->own], line);
	spin_unlock(&s->lock);
	return hit;
}

/* Access the caches in turn. Returns how many miss. */
static uint32_t look(struct cache_sets *x, struct cache_sets_thread *t,
		     uint64_t line, bool taken)
{
	uint32_t i;

	for (i = 0; i < x->own; i++)
		if (use(t->own[i], &x->config.level[i], line) && !taken)
			return i;
	if (i < x->config.levels && !use_shared(x, t->domain, line))
		i++;
	return i;
}

/* The site of @ip; NULL if there is no room. */
static struct cache_site *site_of(struct cache_sets_thread *t, uint64_t ip,
				  bool *made)
{
	uint32_t i = (ip * 0x9E3779B97F4A7C15ull >> 32) % CACHE_SETS_SITES;

	*made = false;
	for (int n = 0; n < PROBES_MAX; n++) {
		struct cache_site *s = &t->site[i];

		if (s->ip == ip)
			return s;
		if (!s->ip) {
			s->ip = ip;
			t->sites++;
			*made = true;
			return s;
		}
		i = (i + 1) % CACHE_SETS_SITES;
	}
	return NULL;
}

struct cache_site *cache_sets_access(struct cache_sets *x,
				     struct cache_sets_thread *t, uint64_t line,
				     uint64_t ip, bool stores, bool taken)
{
	uint32_t missed = look(x, t, line, taken);
	struct cache_site *s;
	bool made = false;

	t->accesses[stores]++;
	if (__builtin_expect(!missed, 1))
		return NULL;
	s = ip ? site_of(t, ip, &made) : NULL;
	for (uint32_t i = 0; i < missed; i++) {
		t->miss[i][stores]++;
		if (s)
			s->miss[i][stores]++;
	}
	return s && made ? s : NULL;
}
