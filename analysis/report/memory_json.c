/* SPDX-License-Identifier: MIT */
/*
 * memory_json - the object "memory": where data came from, for programs
 */
#include "memory.h"
#include "analysis/base/json_build.h"
#include "analysis/profile/memory_tally.h"

static void put_sum(json_t *o, const struct memory_sum *s)
{
	json_t *latency;

	put_count(o, "samples", s->samples);
	put_count(o, "periods", s->periods);
	put_count(o, "hitm", s->hitm);
	put_count(o, "locked", s->locked);
	put_count(o, "tlb_miss", s->tlb_miss);
	if (!s->latencies)
		return;
	latency = json_object();
	put(latency, "mean", json_real(memory_latency(s)));
	put_count(latency, "max", s->latency_max);
	put_count(latency, "sum", s->latency_sum);
	put_count(latency, "samples", s->latencies);
	put(o, "latency", latency);
}

static const char *access_name(enum memory_access a)
{
	return a == MEMORY_LOADS ? "load" : "store";
}

static json_t *json_sources(const struct memory_tally *t)
{
	json_t *a = json_array();

	for (int n = 0; n < MEMORY_ACCESSES * DATA_SOURCE_COUNT; n++) {
		enum memory_access access = n / DATA_SOURCE_COUNT;
		enum data_source source = n % DATA_SOURCE_COUNT;
		const struct memory_sum *s = &t->source[access][source];
		json_t *o, *share;
		struct interval v;

		if (!s->samples)
			continue;
		o = json_object();
		share = json_object();
		put(o, "access", json_string(access_name(access)));
		put(o, "source", json_string(memory_source_name(source)));
		put(share, "estimate",
		    json_real(memory_share(t, access, source, &v)));
		put_interval(share, v);
		put(o, "share", share);
		put_sum(o, s);
		append(a, o);
	}
	return a;
}

/* Write the counts of a place: in all, by access, and by source. */
static void put_place(json_t *o, const struct memory_place *p)
{
	struct memory_sum both = memory_both(p);
	json_t *sources = json_array();

	put_count(o, "process", p->process);
	put_sum(o, &both);
	put_count(o, "loads", p->access[MEMORY_LOADS].samples);
	put_count(o, "stores", p->access[MEMORY_STORES].samples);
	for (int n = 0; n < MEMORY_ACCESSES * DATA_SOURCE_COUNT; n++) {
		enum memory_access access = n / DATA_SOURCE_COUNT;
		enum data_source source = n % DATA_SOURCE_COUNT;
		json_t *s;

		if (!p->source[access][source])
			continue;
		s = json_object();
		put(s, "access", json_string(access_name(access)));
		put(s, "source", json_string(memory_source_name(source)));
		put_count(s, "samples", p->source[access][source]);
		append(sources, s);
	}
	put(o, "sources", sources);
}

static json_t *json_site(struct report *r, const struct memory_place *p)
{
	json_t *o = json_object();
	struct place place;

	symbols_site(r->symbols, &r->profile->process[p->process], p->address,
		     p->generation, &place);
	put_location(o, place.function, place.file, place.line);
	put_text(o, "module", place.module);
	put(o, "offset", hex(place.offset));
	put_place(o, p);
	return o;
}

static json_t *json_line(struct report *r, const struct memory_place *p)
{
	json_t *o = json_object();
	struct object object;

	symbols_object(r->symbols, &r->profile->process[p->process], p->example,
		       p->generation, &object);
	put(o, "line", hex(p->address));
	put_text(o, "object", object_text(&object));
	put_place(o, p);
	return o;
}

static json_t *json_events(const struct memory_tally *t)
{
	json_t *a = json_array();

	for (size_t i = 0; i < t->events; i++) {
		const struct cdp_memory_event *e = &t->event[i];
		json_t *o = json_object();

		put_text(o, "name", e->name);
		put_count(o, "samples", e->samples);
		put_count(o, "left_out", e->left_out);
		put_count(o, "periods", e->periods);
		if (e->interval < 0)
			put_count(o, "frequency_hz", -(uint64_t)e->interval);
		else if (e->interval)
			put_count(o, "period", (uint64_t)e->interval);
		if (e->enabled) {
			put_count(o, "enabled_ns", e->enabled);
			put_count(o, "running_ns", e->running);
		}
		put_count(o, "lost", e->lost);
		put_count(o, "throttled", e->throttled);
		append(a, o);
	}
	return a;
}

/* An array of the places, without the one for all that have no record. */
static json_t *json_places(struct report *r, const struct memory_place *place,
			   size_t n,
			   json_t *(*one)(struct report *,
					  const struct memory_place *))
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		if (place[i].address)
			append(a, one(r, &place[i]));
	return a;
}

json_t *report_memory_json(struct report *r)
{
	struct memory_tally t;
	json_t *o;

	if (!memory_tally_init(&t, r->profile))
		return NULL;
	o = json_object();
	put(o, "events", json_events(&t));
	put(o, "sources", json_sources(&t));
	put(o, "sites", json_places(r, t.site, t.sites, json_site));
	put(o, "lines", json_places(r, t.line, t.lines, json_line));
	memory_tally_release(&t);
	return o;
}
