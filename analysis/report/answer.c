/* SPDX-License-Identifier: MIT */
/*
 * answer - the first paragraph of the report: what was found, in plain words
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "estimate.h"
#include "exact.h"
#include "style.h"
#include "analysis/base/util.h"
#include "src/base/interval.h"

enum {
	/*
	 * With no detection in n samples, the chance that a sample detects
	 * sharing is below 3/n (95 %): at 5,000 below 0.06 %. Programs that
	 * suffer from sharing show 1 % and more.
	 */
	SURE_SAMPLES = 5000,
	FEW_DETECTIONS = 30,
	IDLE_PERIODS = 10, /* of CPU time; fewer may have no sample */
	SITES_NAMED = 3,
	NAME_COLUMNS = 60,
};

static uint64_t count_samples(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->threads; i++)
		for (int k = 0; k < SAMPLE_KINDS; k++)
			n = sat_add(n, p->thread[i].samples[k]);
	return n;
}

static uint64_t threads_sampled(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->threads; i++) {
		const struct thread_row *t = &p->thread[i];

		if (t->samples[SAMPLE_UNIFORM] || t->samples[SAMPLE_STALLED])
			n = sat_add(n, t->count);
	}
	return n;
}

static uint64_t round_seconds(double s)
{
	static const uint16_t nice[] = { 5,   10,  20,  30,   60,
					 120, 300, 600, 1800, 3600 };

	for (size_t i = 0; i < sizeof(nice) / sizeof(nice[0]); i++)
		if (s <= nice[i])
			return nice[i];
	return s < 1e9 ? (uint64_t)(s / 3600 + 1) * 3600 : 0;
}

static uint64_t seconds_needed(const struct profile *p)
{
	uint64_t samples = count_samples(p);
	double wall = (double)profile_wall_ns(p) / 1e9;

	if (samples >= SURE_SAMPLES)
		return 0;
	if (samples < 10 || wall <= 0)
		return 20; /* too few samples to know a rate */
	return round_seconds(wall * SURE_SAMPLES / (double)samples);
}

/* Source lines that stored to the cache lines, in the order they were found. */
struct writers {
	char place[SITES_NAMED][512];
	size_t n;
};

static void add_writers(const struct report *r, const struct line_tally *l,
			struct writers *w)
{
	const struct tally *t = &r->tally;

	for (size_t i = 0; i < l->pairs && w->n < SITES_NAMED; i++) {
		uint32_t pair = t->by_line[l->first + i];
		const struct pair_row *p = &t->profile->pair[pair];
		uint32_t site[2] = { t->publisher_site[pair],
				     t->detector_site[pair] };
		uint16_t flags[2] = { p->publisher_flags, p->detector_flags };

		for (int k = 0; k < 2 && w->n < SITES_NAMED; k++) {
			const char *place;
			bool known = false;

			if (site[k] == NO_SITE || !(flags[k] & ACCESS_STORE))
				continue;
			place = cut_text(place_text(&t->site[site[k]].place),
					 NAME_COLUMNS);
			for (size_t j = 0; j < w->n; j++)
				known |= !strcmp(w->place[j], place);
			if (!known)
				snprintf(w->place[w->n++], sizeof(w->place[0]),
					 "%s", place);
		}
	}
}

static void name_writers(const struct writers *w, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t j = 0; j < w->n && used < size; j++)
		used += snprintf(out + used, size - used, "%s%s",
				 !j              ? ", written at "
				 : j + 1 == w->n ? " and "
						 : ", ",
				 w->place[j]);
}

/* The variable with most detections of a kind, NULL if it has none. */
static const struct object_tally *top_variable(const struct tally *t,
					       enum sharing kind)
{
	const struct object_tally *best = NULL;

	for (size_t i = 0; i < t->objects; i++)
		if (t->object[i].object.kind == OBJECT_STATIC &&
		    (!best || t->object[i].kind[kind] > best->kind[kind]))
			best = &t->object[i];
	return best && best->kind[kind] ? best : NULL;
}

static bool of_variable(const struct line_tally *l,
			const struct object_tally *o)
{
	return l->object.kind == OBJECT_STATIC && l->process == o->process &&
	       l->object.start == o->object.start;
}

/* The line with most detections, among those of @o unless that is NULL. */
static const struct line_tally *top_line(const struct tally *t,
					 enum sharing kind,
					 const struct object_tally *o)
{
	const struct line_tally *best = NULL;

	for (size_t i = 0; i < t->lines; i++) {
		const struct line_tally *l = &t->line[i];

		if ((!o || of_variable(l, o)) &&
		    (!best || l->kind[kind] > best->kind[kind]))
			best = l;
	}
	return best && best->kind[kind] ? best : NULL;
}

/* Say where most of the sharing of a kind is: a line, or a variable's lines. */
static void name_place(const struct report *r, enum sharing kind, char *out,
		       size_t size)
{
	const struct tally *t = &r->tally;
	const struct line_tally *top = top_line(t, kind, NULL);
	const struct object_tally *variable = top_variable(t, kind);
	struct writers writers = { .n = 0 };
	char written[1800], lines[64] = "one line";
	struct object whole;
	uint64_t there = 0;
	size_t n = 0;

	out[0] = '\0';
	if (!top)
		return;
	if (variable && variable->kind[kind] >= top->kind[kind])
		top = top_line(t, kind, variable);
	else
		variable = NULL;
	add_writers(r, top, &writers);
	for (size_t i = 0; i < t->lines; i++) {
		const struct line_tally *l = &t->line[i];

		if (!l->kind[kind] ||
		    !(variable ? of_variable(l, variable) : l == top))
			continue;
		there = sat_add(there, l->kind[kind]);
		n++;
		add_writers(r, l, &writers);
	}
	whole = top->object;
	if (whole.kind == OBJECT_STATIC)
		whole.offset = 0;
	if (n > 1)
		snprintf(lines, sizeof(lines), "%s lines of one variable",
			 count_text(n));
	name_writers(&writers, written, sizeof(written));
	snprintf(out, size, " %s of the %s sharing is on %s (%s)%s.",
		 percent_text(there, t->kind[kind]),
		 kind == SHARING_FALSE ? "false" : "true", lines,
		 cut_text(object_text(&whole), NAME_COLUMNS), written);
}

static void print_head(const struct report *r, const char *text)
{
	fputs(paint(r, PAINT_HEAD), r->out);
	print_wrapped(r->out, text, 0, 0);
	fputs(paint(r, PAINT_OFF), r->out);
}

/* Threads that take turns on one processor share lines without moving them. */
static void answer_same_core(struct report *r)
{
	const struct tally *t = &r->tally;
	uint64_t same = 0, all = 0;
	char *text;

	for (size_t i = 0; i < t->cores; i++) {
		uint64_t n = tally_total(t->core[i].kind);

		all = sat_add(all, n);
		if (t->core[i].a == t->core[i].b)
			same = sat_add(same, n);
	}
	if (same <= all / 2)
		return;
	text = xasprintf("In %s of the detections both threads ran on the same "
			 "processor, where no line had to move: with a "
			 "processor for each thread the result may differ.",
			 percent_text(same, all));
	fputs(paint(r, PAINT_WARM), r->out);
	print_wrapped(r->out, text, 0, 0);
	fputs(paint(r, PAINT_OFF), r->out);
	free(text);
}

/* A trap takes a hundred times as long as the access that triggers it. */
static void answer_traps(struct report *r)
{
	if (!report_has_traps(r))
		return;
	fputs(paint(r, PAINT_WARM), r->out);
	print_wrapped(
		r->out,
		"Debug registers stopped the threads at each watched "
		"access. Where threads race for a line without waiting "
		"for each other, these stops make the line move more "
		"often: the number may be several times too high, beyond its "
		"interval. Shares and places are not affected.",
		0, 0);
	fputs(paint(r, PAINT_OFF), r->out);
}

static void answer_found(struct report *r)
{
	const struct tally *t = &r->tally;
	uint64_t total = tally_total(t->kind);
	double false_n = t->kind[SHARING_FALSE];
	struct interval v = interval_share(false_n, total);
	bool weak = total < FEW_DETECTIONS, counts;
	char where[2600], *what, *text;

	what = report_estimate_answer(r, &weak);
	counts = what;
	if (!what)
		what = xasprintf("%s of the cache-line sharing detected "
				 "between threads is false sharing (95 %% "
				 "interval %.0f to %.0f %%, %s detection%s%s).",
				 percent_text(false_n, total), 100 * v.low,
				 100 * v.high, count_text(total),
				 total == 1 ? "" : "s",
				 weak ? ": few, a weak answer" : "");
	name_place(r, t->kind[SHARING_FALSE] ? SHARING_FALSE : SHARING_TRUE,
		   where, sizeof(where));
	text = xasprintf("%s%s", what, where);
	print_head(r, text);
	free(text);
	free(what);
	if (weak)
		fputs("Run longer for more detections and a narrower "
		      "interval.\n",
		      r->out);
	answer_same_core(r);
	answer_traps(r);
	if (!counts)
		fputs("This is a map: shares and detections, not a count of "
		      "cache line transfers.\n",
		      r->out);
}

/* Say why nothing was sampled, and what would help. */
static char *nothing_sampled(const struct profile *p)
{
	const struct cdp_header *h = &profile_main_process(p)->header;
	uint64_t cpu = profile_cpu_ns(p);
	bool clock = h->period && !strcmp(h->period_unit, "ns");

	if (profile_main_process(p)->state == PROCESS_STOPPED && h->note[0])
		return xasprintf("Nothing was measured: %s.",
				 safe_text(h->note));
	if (clock && cpu < IDLE_PERIODS * h->period && profile_not_followed(p))
		return xasprintf("Nothing can be said: no memory access was "
				 "sampled. The program used %s of CPU time, "
				 "and the programs that it started were not "
				 "profiled; record --children includes them.",
				 duration_text(cpu));
	if (clock && cpu < IDLE_PERIODS * h->period)
		return xasprintf("Nothing can be said: no memory access was "
				 "sampled. The program used %s of CPU time in "
				 "%s, and a sample is taken every %s of a "
				 "thread's CPU time: give it more work, or "
				 "sample more often (record -F).",
				 duration_text(cpu),
				 duration_text(profile_wall_ns(p)),
				 duration_text(h->period));
	return xasprintf("Nothing can be said: no memory access was sampled in "
			 "%s of CPU time. See below what was lost, or run at "
			 "least %s s.",
			 duration_text(cpu), count_text(seconds_needed(p)));
}

/*
 * " in 3.1 s of CPU time"; "" for an imported recording, which does not know
 * it.
 */
static const char *of_cpu_time(const struct profile *p)
{
	static char text[64];
	uint64_t cpu = profile_cpu_ns(p);

	if (!strcmp(profile_main_process(p)->header.source, "import"))
		return "";
	snprintf(text, sizeof(text), " in %s of CPU time", duration_text(cpu));
	return text;
}

/* Say that only one thread was sampled, though there may be others. */
static char *one_sampled(const struct profile *p, uint64_t samples)
{
	uint64_t threads = 0;
	const char *running = p->process[0].state == PROCESS_RUNNING
				      ? " The program still runs."
				      : "";

	for (size_t i = 0; i < p->threads; i++)
		threads = sat_add(threads, p->thread[i].count);
	if (threads < 2)
		return xasprintf("No sharing between threads: there was only "
				 "one thread (%s sample%s%s).%s",
				 count_text(samples), samples == 1 ? "" : "s",
				 of_cpu_time(p), running);
	return xasprintf("No sharing between threads was seen: of %s threads "
			 "only one was sampled (%s sample%s%s).%s",
			 count_text(threads), count_text(samples),
			 samples == 1 ? "" : "s", of_cpu_time(p), running);
}

static char *nothing_found(const struct report *r)
{
	const struct profile *p = r->profile;
	uint64_t seconds = seconds_needed(p);
	uint64_t samples = count_samples(p);

	if (r->thread >= 0 && p->pairs) {
		const struct thread_row *t = &p->thread[r->thread];
		uint64_t own = sat_add(t->samples[SAMPLE_UNIFORM],
				       t->samples[SAMPLE_STALLED]);

		return xasprintf("No sharing that thread %lld took part in was "
				 "found (%s sample%s of its own).",
				 (long long)r->thread, count_text(own),
				 own == 1 ? "" : "s");
	}
	if (!samples)
		return nothing_sampled(p);
	if (threads_sampled(p) < 2)
		return one_sampled(p, samples);
	if (!seconds)
		return xasprintf("No sharing between threads found in %s "
				 "samples. With 95 %% confidence fewer than "
				 "one sample in %s would detect any.",
				 count_text(samples), count_text(samples / 3));
	return xasprintf("No sharing between threads found in %s sample%s "
			 "(%s). Run at least %s s for a sure answer.",
			 count_text(samples), samples == 1 ? "" : "s",
			 duration_text(profile_wall_ns(p)),
			 count_text(seconds));
}

static void print_states(struct report *r)
{
	const struct profile *p = r->profile;

	for (size_t i = 0; i < p->processes && i < r->top; i++) {
		const struct process *s = &p->process[i];
		char *text;

		if (s->state == PROCESS_ENDED || s->state == PROCESS_EXECED)
			continue;
		text = xasprintf(
			"%s (pid %u): %s%s%s",
			safe_text(base_name(s->header.exe)), s->header.pid,
			process_state_text(s->state),
			s->state == PROCESS_RUNNING
				? "; what was committed so far is shown"
			: s->state == PROCESS_CUT
				? "; what was committed before is shown"
				: "",
			".");
		fputs(paint(r, PAINT_WARM), r->out);
		print_wrapped(r->out, text, 0, 2);
		fputs(paint(r, PAINT_OFF), r->out);
		free(text);
	}
}

/* Exact counts come first, and alone where samples found nothing. */
void report_answer(struct report *r)
{
	bool found = tally_total(r->tally.kind);
	uint64_t transfers = 0, samples = count_samples(r->profile);
	char *exact =
		r->thread >= 0 ? NULL : report_exact_answer(r, &transfers);
	char *text = NULL;

	if (exact)
		print_head(r, exact);
	if (exact && found)
		fputs("From samples alone:\n", r->out);
	if (found && r->thread >= 0)
		fprintf(r->out, "Only sharing that thread %lld took part in:\n",
			(long long)r->thread);
	if (found)
		answer_found(r);
	else if (!exact)
		print_head(r, text = nothing_found(r));
	else if (transfers && samples)
		fprintf(r->out, "None was seen in %s sample%s.\n",
			count_text(samples), samples == 1 ? "" : "s");
	free(exact);
	free(text);
	print_states(r);
}
