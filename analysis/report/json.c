/* SPDX-License-Identifier: MIT */
/*
 * json - the report for programs, schema 1 (docs/report-json.md)
 *
 * A part that was not measured is absent, never zero. Addresses are hex
 * strings, times ns.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "caches.h"
#include "calls.h"
#include "doubts.h"
#include "estimate.h"
#include "exact.h"
#include "fixes.h"
#include "lines_json.h"
#include "memory.h"
#include "over_time.h"
#include "regions.h"
#include "reuse.h"
#include "reuse_json.h"
#include "sighted.h"
#include "analysis/base/json_build.h"
#include "src/base/interval.h"

enum {
	SCHEMA = 1
};

static json_t *json_modes(uint32_t modes)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ CDP_MODE_COMM, "comm" },       { CDP_MODE_REUSE, "reuse" },
		{ CDP_MODE_SHARED, "shared" },   { CDP_MODE_GLOBAL, "global" },
		{ CDP_MODE_PROFILE, "profile" },
	};
	json_t *a = json_array();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (modes & names[i].bit)
			append(a, json_string(names[i].name));
	return a;
}

/* An imported recording does not say how long a thread ran. */
static bool cpu_is_known(const struct cdp_header *h)
{
	return strcmp(h->source, "import") != 0;
}

static json_t *json_turns(const struct cdp_header *h)
{
	json_t *o = json_object();

	put(o, "slice", integer(h->slice));
	put(o, "shared", integer(h->turns_shared));
	put(o, "by_time", integer(h->turns_by_time));
	put(o, "unordered", integer(h->unordered));
	return o;
}

static json_t *json_run(const struct profile *p)
{
	const struct cdp_header *h = &profile_main_process(p)->header;
	json_t *o = json_object();

	put_text(o, "id", h->run_id);
	put_text(o, "source", h->source);
	put_text(o, "source_reason", h->source_reason);
	put_text(o, "delivery", h->delivery);
	put(o, "modes", json_modes(h->modes));
	put_text(o, "algorithm", h->algorithm);
	put(o, "period", integer(h->period));
	put_text(o, "period_unit", h->period_unit);
	if (h->slow_period)
		put(o, "slow_period", integer(h->slow_period));
	put(o, "expiry", integer(h->expiry));
	put(o, "watch_expiry", integer(h->watch_expiry));
	put(o, "registers", integer(h->registers));
	put_text(o, "registers_reason", h->registers_reason);
	put(o, "line_bytes", integer(h->line_bytes));
	put(o, "complete", json_boolean(profile_complete(p)));
	put(o, "wall_ns", integer(profile_wall_ns(p)));
	if (cpu_is_known(h))
		put(o, "cpu_ns", integer(profile_cpu_ns(p)));
	if (profile_kernel_ns(p))
		put(o, "kernel_ns", integer(profile_kernel_ns(p)));
	if (profile_handler_ns(p))
		put(o, "handler_ns", integer(profile_handler_ns(p)));
	if (p->process[0].header.start_real)
		put(o, "start_real_ns",
		    integer(p->process[0].header.start_real));
	put_text(o, "host", h->host);
	put_text(o, "kernel", h->kernel);
	put_text(o, "cpu", h->cpu);
	put(o, "not_followed", integer(profile_not_followed(p)));
	if (h->slice)
		put(o, "turns", json_turns(h));
	return o;
}

static const char *state_name(enum process_state s)
{
	static const char *const names[] = {
		[PROCESS_ENDED] = "ended",     [PROCESS_EXECED] = "execed",
		[PROCESS_STOPPED] = "stopped", [PROCESS_RUNNING] = "running",
		[PROCESS_CUT] = "killed",
	};

	return names[s];
}

static void put_memory(json_t *o, const struct cdp_header *h)
{
	json_t *n;

	if (!h->samples_exact && !h->samples_verified && !h->samples_racy)
		return;
	n = json_object();
	put(n, "exact", integer(h->samples_exact));
	put(n, "verified", integer(h->samples_verified));
	put(n, "racy", integer(h->samples_racy));
	put(o, "samples_by_memory", n);
}

static json_t *json_processes(const struct profile *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->processes; i++) {
		const struct process *s = &p->process[i];
		json_t *o = json_object();

		put(o, "id", integer(i));
		put(o, "pid", integer(s->header.pid));
		put(o, "parent_pid", integer(s->header.parent_pid));
		if (s->header.rank)
			put(o, "rank", integer(s->header.rank - 1));
		put(o, "exe", text(s->header.exe));
		put(o, "command", text(s->header.command));
		put(o, "complete",
		    json_boolean(s->state == PROCESS_ENDED ||
				 s->state == PROCESS_EXECED));
		put(o, "state", json_string(state_name(s->state)));
		if (s->header.end_how == CDP_END_EXIT)
			put(o, "exit_status", integer(s->header.end_value));
		else if (s->header.end_how == CDP_END_SIGNAL)
			put(o, "signal", integer(s->header.end_value));
		put_text(o, "note", s->header.note);
		put_memory(o, &s->header);
		append(a, o);
	}
	return a;
}

static void put_counted(json_t *o, const struct thread_row *t)
{
	uint64_t all = sat_add(t->counted_loads, t->counted_stores);
	json_t *counted;

	if (!all)
		return;
	put(o, "accesses", integer(all));
	put(o, "accesses_kind",
	    json_string(t->counted_scaled ? "estimated" : "exact"));
	counted = json_object();
	put(counted, "loads", integer(t->counted_loads));
	put(counted, "stores", integer(t->counted_stores));
	put(counted, "load_bytes", integer(t->counted_load_bytes));
	put(counted, "store_bytes", integer(t->counted_store_bytes));
	put(o, "counted", counted);
}

static json_t *json_threads(const struct profile *p)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->threads; i++) {
		const struct thread_row *t = &p->thread[i];
		json_t *o = json_object(), *samples = json_object();

		put(o, "id", integer(i));
		put(o, "process", integer(t->process));
		put(o, "tid", integer(t->tid));
		put(o, "name", text(t->name));
		put(o, "count", integer(t->count));
		put(o, "ended", json_boolean(t->ended));
		if (!t->unknown) {
			if (cpu_is_known(&p->process[t->process].header))
				put(o, "cpu_ns", integer(t->cpu_ns));
			put(o, "interrupts", integer(t->interrupts));
			put(samples, "uniform",
			    integer(t->samples[SAMPLE_UNIFORM]));
			put(samples, "stalled",
			    integer(t->samples[SAMPLE_STALLED]));
			put(o, "samples", samples);
			put(o, "loads", integer(t->loads));
			put(o, "stores", integer(t->stores));
			put(o, "traps", integer(t->traps));
			put(o, "arms", integer(t->arms));
			put(o, "exec_traps", integer(t->exec_traps));
			put_counted(o, t);
		} else {
			json_decref(samples);
			put(o, "unknown", json_true());
		}
		append(a, o);
	}
	return a;
}

static json_t *json_loss(const struct profile *p)
{
	static const char *const names[] = {
#define X(id, name, words) name,
		LOSS_CAUSES(X)
#undef X
	};
	json_t *o = json_object();

	for (int c = 0; c < LOSS_COUNT; c++)
		put(o, names[c], integer(profile_loss(p, c)));
	return o;
}

static json_t *json_estimate(const struct tally *t, uint64_t n)
{
	struct interval v = tally_count_interval(t, n);
	json_t *o = json_object();

	put(o, "estimate", integer(n));
	put_interval(o, v);
	return o;
}

static json_t *json_cells(const struct tally *t, const struct cell *cell,
			  size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		uint64_t all = tally_total(cell[i].kind);
		struct interval v = tally_count_interval(t, all);
		json_t *o = json_object();

		put(o, "a", integer(cell[i].a));
		put(o, "b", integer(cell[i].b));
		put(o, "all", integer(all));
		put_kinds(o, cell[i].kind);
		put(o, "a_to_b", integer(cell[i].a_to_b));
		put(o, "b_to_a", integer(cell[i].b_to_a));
		put_interval(o, v);
		put(o, "traps", integer(cell[i].traps));
		put_judged(o, &cell[i].judged);
		append(a, o);
	}
	return a;
}

static json_t *json_site(const struct site_tally *s, size_t id)
{
	const struct place *p = &s->place;
	json_t *o = json_object();

	put(o, "id", integer(id));
	put_location(o, p->function, p->file, p->line);
	if (p->inner_file) {
		json_t *inner = json_object();

		put_location(inner, p->inner_function, p->inner_file,
			     p->inner_line);
		put(o, "inlined", inner);
	}
	put(o, "module", text(p->module));
	put(o, "offset", hex(p->offset));
	if (s->called) {
		json_t *caller = call_json(&s->caller, false);

		put(caller, "detections", integer(s->called));
		put(o, "caller", caller);
	}
	put_kinds(o, s->kind);
	put(o, "loads", json_boolean(s->flags & ACCESS_LOAD));
	put(o, "stores", json_boolean(s->flags & ACCESS_STORE));
	return o;
}

static json_t *json_object_tally(const struct object_tally *t)
{
	const struct object *d = &t->object;
	struct object whole = *d;
	json_t *o = json_object();

	whole.offset = d->kind == OBJECT_STATIC ? 0 : d->offset;
	put(o, "object", text(object_text(&whole)));
	put(o, "process", integer(t->process));
	put(o, "kind", json_string(object_kind_text(d->kind)));
	put_text(o, "module", d->module);
	if (d->size && !d->block) /* blocks differ in size */
		put(o, "size", integer(d->size));
	put_allocated(o, d);
	put(o, "lines", integer(t->lines));
	put_kinds(o, t->kind);
	return o;
}

static json_t *json_communication(struct report *r)
{
	const struct tally *t = &r->tally;
	json_t *slices = report_over_time_json(r);
	json_t *sighted = report_sighted_json(r);
	json_t *o = json_object(), *sites = json_array(),
	       *objects = json_array();
	uint64_t total = tally_total(t->kind);

	put(o, "quantity", json_string("map"));
	put(o, "estimator", json_string("comdetective"));
	put(o, "unit", json_string("detections"));
	put(o, "interval_covers", json_string("sampling"));
	put(o, "total", json_estimate(t, total));
	put(o, "true_sharing", json_estimate(t, t->kind[SHARING_TRUE]));
	put(o, "false_sharing", json_estimate(t, t->kind[SHARING_FALSE]));
	if (total) {
		struct interval v =
			tally_share_interval(t, t->kind[SHARING_FALSE], total);
		json_t *share = json_object();

		put(share, "estimate",
		    json_real((double)t->kind[SHARING_FALSE] / (double)total));
		put_interval(share, v);
		put(o, "false_share", share);
	}
	put_judged(o, &t->judged);
	if (t->judged.all) {
		double all = (double)t->judged.all;
		double avoidable = (double)t->judged.avoidable;
		json_t *share = json_object();

		put(share, "estimate", json_real(avoidable / all));
		put_interval(share, tally_avoidable_share(t));
		put(o, "avoidable_share", share);
	}
	put(o, "warnings", report_map_doubts_json(r->profile));
	put(o, "by_trap", integer(t->by[DETECTED_BY_TRAP]));
	put(o, "by_board", integer(t->by[DETECTED_BY_BOARD]));
	put(o, "volume_periods", json_real(t->periods));
	put(o, "cells", json_cells(t, t->cell, t->cells));
	if (t->cores)
		put(o, "core_cells", json_cells(t, t->core, t->cores));
	if (slices)
		put(o, "slices", slices);
	for (size_t i = 0; i < t->sites; i++)
		append(sites, json_site(&t->site[i], i));
	for (size_t i = 0; i < t->objects; i++)
		append(objects, json_object_tally(&t->object[i]));
	put(o, "lines", report_lines_json(r));
	if (sighted)
		put(o, "sighted", sighted);
	put(o, "fixes", report_fixes_json(r));
	report_calls_json(r, o);
	put(o, "sites", sites);
	put(o, "objects", objects);
	if (tally_total(t->unplaced)) {
		json_t *rest = json_object();

		put_kinds(rest, t->unplaced);
		put(o, "lines_not_kept_apart", rest);
	}
	return o;
}

static void put_caches(json_t *o, struct report *r)
{
	json_t *simulated = report_caches_json(r);

	if (simulated)
		put(o, "simulated_caches", simulated);
}

static void put_reuse(json_t *o, const struct report_reuse *r)
{
	json_t *sampled = report_reuse_json(r, REUSE_SAMPLED);
	json_t *counted = report_reuse_json(r, REUSE_COUNTED);
	json_t *sites = report_reuse_sites_json(r);

	if (sampled)
		put(o, "reuse", sampled);
	if (counted)
		put(o, "reuse_exact", counted);
	if (sites)
		put(o, "reuse_sites", sites);
}

int report_json(struct report *r)
{
	const struct profile *p = r->profile;
	json_t *o = json_object(), *problems = json_array();
	json_t *exact = report_exact_json(r);
	json_t *memory = report_memory_json(r);
	json_t *estimate = report_estimate_json(p);
	const char *problem;
	int err;

	put(o, "schema", integer(SCHEMA));
	put(o, "run", json_run(p));
	put(o, "processes", json_processes(p));
	put(o, "threads", json_threads(p));
	put(o, "loss", json_loss(p));
	report_regions_json(r, o);
	if (r->thread >= 0)
		put(o, "only_thread", integer(r->thread));
	if (profile_main_process(p)->header.modes & CDP_MODE_COMM || p->pairs)
		put(o, "communication", json_communication(r));
	if (estimate) {
		json_t *c = json_object_get(o, "communication");

		json_object_del(c, "false_share"); /* was of detections */
		json_object_update(c, estimate);
		json_decref(estimate);
	}
	if (exact)
		put(o, "exact", exact);
	put_reuse(o, r->reuse);
	put_caches(o, r);
	if (memory)
		put(o, "memory", memory);
	for (size_t i = 0; (problem = symbols_problem(r->symbols, i)); i++)
		append(problems, text(problem));
	for (size_t i = 0; i < p->bad_files; i++) {
		char *bad = xasprintf("%s: %s", p->bad[i].name, p->bad[i].why);

		append(problems, text(bad));
		free(bad);
	}
	put(o, "problems", problems);
	err = json_write(o, r->out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(o);
	fputc('\n', r->out);
	return err;
}
