/* SPDX-License-Identifier: MIT */
/*
 * report_answer - the first paragraph: what was found, in plain words
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/util.h"
#include "src/interval.h"

enum {
	/*
	 * With no detection in n samples, the chance that a sample detects
	 * sharing is below 3/n (95 %): at 5,000 below 0.06 %. Programs that
	 * suffer from sharing show 1 % and more.
	 */
	SURE_SAMPLES = 5000,
	FEW_DETECTIONS = 30,
	SITES_NAMED = 3,
	NAME_COLUMNS = 60,
};

uint64_t report_samples(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->threads; i++)
		for (int k = 0; k < SAMPLE_KINDS; k++)
			n = sat_add(n, p->thread[i].samples[k]);
	return n;
}

uint64_t report_threads_sampled(const struct profile *p)
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

uint64_t report_seconds_needed(const struct profile *p)
{
	uint64_t samples = report_samples(p);
	double wall = (double)profile_wall_ns(p) / 1e9;

	if (samples >= SURE_SAMPLES)
		return 0;
	if (samples < 10 || wall <= 0)
		return 20; /* no rate to go by */
	return round_seconds(wall * SURE_SAMPLES / (double)samples);
}

/* Source lines that stored to line @l, most detections first, no doubles. */
static void name_writers(const struct report *r, const struct line_tally *l,
			 char *out, size_t size)
{
	const struct tally *t = &r->tally;
	char seen[SITES_NAMED][512];
	size_t n = 0, used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < l->pairs && n < SITES_NAMED; i++) {
		uint32_t pair = t->by_line[l->first + i];
		const struct pair_row *p = &t->profile->pair[pair];
		uint32_t site[2] = { t->publisher_site[pair],
				     t->detector_site[pair] };
		uint16_t flags[2] = { p->publisher_flags, p->detector_flags };

		for (int k = 0; k < 2 && n < SITES_NAMED; k++) {
			const char *place;
			bool known = false;

			if (site[k] == NO_SITE || !(flags[k] & ACCESS_STORE))
				continue;
			place = cut_text(place_text(&t->site[site[k]].place),
					 NAME_COLUMNS);
			for (size_t j = 0; j < n; j++)
				known |= !strcmp(seen[j], place);
			if (!known)
				snprintf(seen[n++], sizeof(seen[0]), "%s",
					 place);
		}
	}
	for (size_t j = 0; j < n && used < size; j++)
		used += snprintf(out + used, size - used, "%s%s",
				 !j           ? ", written at "
				 : j + 1 == n ? " and "
					      : ", ",
				 seen[j]);
}

/* The line with most detections of the kind that matters more. */
static const struct line_tally *top_line(const struct tally *t,
					 enum sharing kind)
{
	const struct line_tally *best = NULL;

	for (size_t i = 0; i < t->lines; i++)
		if (!best || t->line[i].kind[kind] > best->kind[kind])
			best = &t->line[i];
	return best && best->kind[kind] ? best : NULL;
}

static void answer_found(struct report *r)
{
	const struct tally *t = &r->tally;
	uint64_t total = tally_total(t->kind);
	double false_n = t->kind[SHARING_FALSE];
	struct interval v = interval_share(false_n, total);
	enum sharing kind =
		t->kind[SHARING_FALSE] ? SHARING_FALSE : SHARING_TRUE;
	const struct line_tally *l = top_line(t, kind);
	char writers[1800] = "", where[2600] = "", *text;

	if (l) {
		struct object whole = l->object;

		if (whole.kind == OBJECT_STATIC)
			whole.offset = 0;
		name_writers(r, l, writers, sizeof(writers));
		snprintf(where, sizeof(where),
			 " %s of the %s sharing is on one line (%s)%s.",
			 percent_text(l->kind[kind], t->kind[kind]),
			 kind == SHARING_FALSE ? "false" : "true",
			 cut_text(object_text(&whole), NAME_COLUMNS), writers);
	}
	text = xasprintf("%s of the cache-line sharing detected between "
			 "threads is false sharing (95 %% interval %.0f to "
			 "%.0f %%, %s detection%s).%s",
			 percent_text(false_n, total), 100 * v.low,
			 100 * v.high, count_text(total), total == 1 ? "" : "s",
			 where);
	fputs(paint(r, PAINT_HEAD), r->out);
	print_wrapped(r->out, text, 0, 0);
	fputs(paint(r, PAINT_OFF), r->out);
	free(text);
	if (total < FEW_DETECTIONS)
		fputs("These are few detections: run longer for a narrower "
		      "interval.\n",
		      r->out);
	fputs("This is a map: shares and detections, not a count of cache line "
	      "transfers.\n",
	      r->out);
}

static char *nothing_found(const struct profile *p, uint64_t samples)
{
	uint64_t seconds = report_seconds_needed(p);
	const struct process *s = profile_main_process(p);

	if (!samples && s->state == PROCESS_STOPPED && s->header.note[0])
		return xasprintf("Nothing was measured: %s.",
				 safe_text(s->header.note));
	if (!samples)
		return xasprintf("Nothing can be said: no memory access was "
				 "sampled in %s of CPU time. See below what "
				 "was lost, or run at least %s s.",
				 duration_text(profile_cpu_ns(p)),
				 count_text(seconds));
	if (report_threads_sampled(p) < 2)
		return xasprintf("No sharing between threads: only one thread "
				 "was sampled (%s sample%s in %s of CPU "
				 "time).%s",
				 count_text(samples), samples == 1 ? "" : "s",
				 duration_text(profile_cpu_ns(p)),
				 p->process[0].state == PROCESS_RUNNING
					 ? " The program still runs."
					 : "");
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

void report_answer(struct report *r)
{
	if (r->thread >= 0)
		fprintf(r->out, "Only sharing that thread %lld took part in:\n",
			(long long)r->thread);
	if (tally_total(r->tally.kind)) {
		answer_found(r);
	} else {
		char *text =
			nothing_found(r->profile, report_samples(r->profile));

		fputs(paint(r, PAINT_HEAD), r->out);
		print_wrapped(r->out, text, 0, 0);
		fputs(paint(r, PAINT_OFF), r->out);
		free(text);
	}
	print_states(r);
}
