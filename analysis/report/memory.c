/* SPDX-License-Identifier: MIT */
/*
 * memory - where the data of loads and stores came from, and how long it took
 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "style.h"
#include "analysis/base/util.h"
#include "analysis/profile/memory_tally.h"

enum {
	SOURCE_COLUMNS = 38,
	EVENT_COLUMNS = 44,
};

static const char *cycles_text(const struct memory_sum *s)
{
	static char text[4][24];
	static unsigned int next;
	char *to = text[next++ % 4];

	if (!s->latencies)
		return "-";
	snprintf(to, sizeof(text[0]), "%.0f", memory_latency(s));
	return to;
}

static void print_sources(struct report *r, const struct memory_tally *t,
			  enum memory_access a)
{
	const char *what = a == MEMORY_LOADS ? "loads" : "stores";

	if (!t->all[a].samples)
		return;
	fprintf(r->out, "%s  %s%*s %8s %7s %14s %9s%s\n", paint(r, PAINT_DIM),
		what, (int)(SOURCE_COLUMNS - strlen(what)), "", "samples",
		"share", "95 % interval", "cycles", paint(r, PAINT_OFF));
	for (enum data_source s = 0; s < DATA_SOURCE_COUNT; s++) {
		const struct memory_sum *sum = &t->source[a][s];
		struct interval v;
		char limits[32];
		double share;

		if (!sum->samples)
			continue;
		share = memory_share(t, a, s, &v);
		snprintf(limits, sizeof(limits), "%.1f to %.1f %%", 100 * v.low,
			 100 * v.high);
		fprintf(r->out, "  %-*s %8s %7s %14s %9s\n", SOURCE_COLUMNS,
			memory_source_text(s), count_text(sum->samples),
			percent_text(share, 1), limits, cycles_text(sum));
	}
	if (t->all[a].hitm)
		fprintf(r->out,
			"  Another core had modified the line of %s %s (%s).\n",
			count_text(t->all[a].hitm), what,
			percent_text((double)t->all[a].hitm,
				     (double)t->all[a].samples));
	if (t->all[a].tlb_miss)
		fprintf(r->out, "  %s %s (%s) needed a page walk.\n",
			count_text(t->all[a].tlb_miss), what,
			percent_text((double)t->all[a].tlb_miss,
				     (double)t->all[a].samples));
}

static void print_sites(struct report *r, const struct memory_tally *t)
{
	size_t shown = 0;

	report_heading(r, "Source lines by the time that their loads took");
	fprintf(r->out, "%s  %8s %8s %8s %8s  %-12s %s%s\n",
		paint(r, PAINT_DIM), "loads", "stores", "cycles", "modified",
		"mostly from", "location, function", paint(r, PAINT_OFF));
	for (size_t i = 0; i < t->sites && shown < r->top; i++) {
		const struct memory_place *p = &t->site[i];
		struct memory_sum s = memory_both(p);
		struct place place;

		if (!p->address)
			continue;
		shown++;
		symbols_site(r->symbols, &r->profile->process[p->process],
			     p->address, p->generation, &place);
		fprintf(r->out, "  %8s %8s %8s %8s  %-12s %s",
			count_text(p->access[MEMORY_LOADS].samples),
			count_text(p->access[MEMORY_STORES].samples),
			cycles_text(&s), count_text(s.hitm),
			memory_source_name(memory_main_source(p)),
			place_text(&place));
		if (place.function)
			fprintf(r->out, " %s", safe_text(place.function));
		fputc('\n', r->out);
	}
}

static void print_lines(struct report *r, const struct memory_tally *t)
{
	size_t shown = 0;

	report_heading(r, "Cache lines by the time that their loads took");
	fprintf(r->out, "%s  %-18s %7s %7s %7s %8s  %-12s %s%s\n",
		paint(r, PAINT_DIM), "line", "loads", "stores", "cycles",
		"modified", "mostly from", "object", paint(r, PAINT_OFF));
	for (size_t i = 0; i < t->lines && shown < r->top; i++) {
		const struct memory_place *p = &t->line[i];
		struct memory_sum s = memory_both(p);
		struct object object;

		if (!p->address)
			continue;
		shown++;
		symbols_object(r->symbols, &r->profile->process[p->process],
			       p->example, p->generation, &object);
		fprintf(r->out, "  0x%-16llx %7s %7s %7s %8s  %-12s %s\n",
			(unsigned long long)p->address,
			count_text(p->access[MEMORY_LOADS].samples),
			count_text(p->access[MEMORY_STORES].samples),
			cycles_text(&s), count_text(s.hitm),
			memory_source_name(memory_main_source(p)),
			object_text(&object));
	}
}

static const char *interval_words(const struct cdp_memory_event *e)
{
	static char text[64];

	if (e->interval < 0)
		snprintf(text, sizeof(text), "%s Hz",
			 count_text(-(uint64_t)e->interval));
	else if (e->interval)
		snprintf(text, sizeof(text), "1 in %s",
			 count_text((uint64_t)e->interval));
	else
		return "-";
	return text;
}

static void print_events(struct report *r, const struct memory_tally *t)
{
	report_heading(r, "Events that were sampled");
	fprintf(r->out, "%s  %-*s %9s %9s %10s%s\n", paint(r, PAINT_DIM),
		EVENT_COLUMNS, "event", "samples", "left out", "sampled",
		paint(r, PAINT_OFF));
	for (size_t i = 0; i < t->events && i < r->top; i++) {
		const struct cdp_memory_event *e = &t->event[i];

		fprintf(r->out, "  %-*s %9s %9s %10s\n", EVENT_COLUMNS,
			e->name[0] ? cut_text(safe_text(e->name), EVENT_COLUMNS)
				   : "(without a name)",
			count_text(e->samples), count_text(e->left_out),
			interval_words(e));
		if (e->running < e->enabled)
			fprintf(r->out,
				"    had a counter %s of the time, which it "
				"shared with others\n",
				percent_text((double)e->running,
					     (double)e->enabled));
		if (e->lost)
			fprintf(r->out, "    %s records were lost\n",
				count_text(e->lost));
		if (e->throttled)
			fprintf(r->out, "    was paused %s times\n",
				count_text(e->throttled));
	}
}

void report_memory(struct report *r)
{
	struct memory_tally t;

	if (!memory_tally_init(&t, r->profile))
		return;
	if (t.sites) {
		report_heading(r, "Where the data came from");
		print_sources(r, &t, MEMORY_LOADS);
		print_sources(r, &t, MEMORY_STORES);
		print_sites(r, &t);
		print_lines(r, &t);
	}
	if (t.events)
		print_events(r, &t);
	memory_tally_release(&t);
}
