/* SPDX-License-Identifier: MIT */
/*
 * memory_tally - sampled accesses summed by data source, site and cache line
 */
#include <stdlib.h>
#include <string.h>

#include "memory_tally.h"
#include "analysis/base/util.h"

static enum memory_access access_of(const struct cdp_memory *m)
{
	return m->access & ACCESS_STORE ? MEMORY_STORES : MEMORY_LOADS;
}

static void add(uint64_t *sum, uint64_t n)
{
	*sum = sat_add(*sum, n);
}

static void add_sum(struct memory_sum *s, const struct memory_sum *t)
{
	add(&s->samples, t->samples);
	add(&s->periods, t->periods);
	s->periods_squared += t->periods_squared;
	add(&s->hitm, t->hitm);
	add(&s->locked, t->locked);
	add(&s->tlb_miss, t->tlb_miss);
	add(&s->latencies, t->latencies);
	add(&s->latency_sum, t->latency_sum);
	if (t->latency_max > s->latency_max)
		s->latency_max = t->latency_max;
}

static void add_record(struct memory_sum *s, const struct cdp_memory_tally *t)
{
	struct memory_sum one = {
		.samples = t->samples,
		.periods = t->periods,
		.periods_squared = t->periods_squared,
		.hitm = t->hitm,
		.locked = t->locked,
		.tlb_miss = t->tlb_miss,
		.latencies = t->latencies,
		.latency_sum = t->latency_sum,
		.latency_max = t->latency_max,
	};

	add_sum(s, &one);
}

/* A record and its process, for sorting. */
struct found {
	uint32_t process;
	const struct cdp_memory *record;
};

static int by_address(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	uint64_t i = x->record->tally.address, j = y->record->tally.address;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (i != j)
		return i < j ? -1 : 1;
	return (x->record > y->record) - (x->record < y->record);
}

static int by_latency(const void *a, const void *b)
{
	const struct memory_place *x = a, *y = b;
	struct memory_sum s = memory_both(x), t = memory_both(y);

	if (s.latency_sum != t.latency_sum)
		return s.latency_sum > t.latency_sum ? -1 : 1;
	if (s.samples != t.samples)
		return s.samples > t.samples ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Sum the records of one kind by place; this sorts @f. */
static struct memory_place *make_places(struct found *f, size_t n,
					size_t *places)
{
	struct memory_place *place = xcalloc(n, sizeof(*place)), *p = NULL;

	*places = 0;
	if (n)
		qsort(f, n, sizeof(*f), by_address);
	for (size_t i = 0; i < n; i++) {
		const struct cdp_memory_tally *t = &f[i].record->tally;
		enum memory_access a = access_of(f[i].record);

		if (!p || p->process != f[i].process ||
		    p->address != t->address) {
			p = &place[(*places)++];
			p->process = f[i].process;
			p->address = t->address;
			p->generation = t->map_generation;
			p->example = t->example;
		}
		add_record(&p->access[a], t);
		add(&p->source[a][t->source], t->samples);
	}
	if (*places)
		qsort(place, *places, sizeof(*place), by_latency);
	return place;
}

static void add_event(struct memory_tally *t, const struct cdp_memory_event *e)
{
	struct cdp_memory_event *to;
	size_t i;

	for (i = 0; i < t->events; i++)
		if (!strcmp(t->event[i].name, e->name) &&
		    t->event[i].config == e->config)
			break;
	if (i == t->events) {
		t->event = grow(t->event, t->events, &t->events_room,
				sizeof(*t->event));
		t->event[t->events++] = *e;
		return;
	}
	to = &t->event[i];
	add(&to->samples, e->samples);
	add(&to->left_out, e->left_out);
	add(&to->periods, e->periods);
	add(&to->enabled, e->enabled);
	add(&to->running, e->running);
	add(&to->lost, e->lost);
	add(&to->throttled, e->throttled);
}

static void take_sources(struct memory_tally *t, const struct found *f,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct cdp_memory *m = f[i].record;
		enum memory_access a = access_of(m);

		add_record(&t->source[a][m->tally.source], &m->tally);
		add_record(&t->all[a], &m->tally);
	}
}

bool memory_tally_init(struct memory_tally *t, const struct profile *p)
{
	struct found *site, *line;
	size_t n = 0, sites = 0, lines = 0;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < p->processes; i++)
		n += p->process[i].memories;
	if (!n)
		return false;
	site = xcalloc(n, sizeof(*site));
	line = xcalloc(n, sizeof(*line));
	for (uint32_t i = 0; i < p->processes; i++) {
		for (size_t k = 0; k < p->process[i].memories; k++) {
			const struct cdp_memory *m = &p->process[i].memory[k];
			struct found f = { i, m };

			if (m->kind == CDP_MEMORY_EVENT)
				add_event(t, &m->event);
			else if (m->kind == CDP_MEMORY_SITE)
				site[sites++] = f;
			else
				line[lines++] = f;
		}
	}
	take_sources(t, site, sites);
	t->site = make_places(site, sites, &t->sites);
	t->line = make_places(line, lines, &t->lines);
	free(site);
	free(line);
	return true;
}

void memory_tally_release(struct memory_tally *t)
{
	free(t->site);
	free(t->line);
	free(t->event);
	memset(t, 0, sizeof(*t));
}

double memory_share(const struct memory_tally *t, enum memory_access a,
		    enum data_source s, struct interval *interval)
{
	const struct memory_sum *all = &t->all[a];
	double whole = (double)all->periods, share, n;

	if (!all->periods) {
		*interval = interval_share(0, 0);
		return 0;
	}
	share = (double)t->source[a][s].periods / whole;
	if (share > 1)
		share = 1;
	n = all->periods_squared > 0
		    ? interval_effective(whole, all->periods_squared)
		    : 0;
	*interval = interval_share(share * n, n);
	return share;
}

double memory_latency(const struct memory_sum *s)
{
	return s->latencies ? (double)s->latency_sum / (double)s->latencies : 0;
}

struct memory_sum memory_both(const struct memory_place *p)
{
	struct memory_sum s = p->access[MEMORY_LOADS];

	add_sum(&s, &p->access[MEMORY_STORES]);
	return s;
}

enum data_source memory_main_source(const struct memory_place *p)
{
	enum memory_access a =
		p->access[MEMORY_LOADS].samples ? MEMORY_LOADS : MEMORY_STORES;
	enum data_source best = DATA_SOURCE_UNKNOWN;

	for (enum data_source s = 0; s < DATA_SOURCE_COUNT; s++)
		if (p->source[a][s] > p->source[a][best])
			best = s;
	return best;
}

const char *memory_source_name(enum data_source s)
{
	static const char *const names[] = {
#define X(id, name, text) name,
		DATA_SOURCES(X)
#undef X
	};

	return names[s];
}

const char *memory_source_text(enum data_source s)
{
	static const char *const texts[] = {
#define X(id, name, text) text,
		DATA_SOURCES(X)
#undef X
	};

	return texts[s];
}
