/* SPDX-License-Identifier: MIT */
/*
 * answer - the first paragraph of the report: what was found, in plain words
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "doubts.h"
#include "advice.h"
#include "estimate.h"
#include "exact.h"
#include "fixes.h"
#include "hot_place.h"
#include "sighted.h"
#include "style.h"
#include "analysis/base/util.h"
#include "analysis/profile/foreign.h"
#include "src/base/interval.h"

enum {
	/*
	 * With no detection in n samples, the chance that a sample detects
	 * sharing is below 3/n (95 %): at 5,000 below 0.06 %. Programs that
	 * suffer from sharing show 1 % and more.
	 */
	SURE_SAMPLES = 5000,
	FEW_DETECTIONS = 30,
	IDLE_PERIODS = 10,      /* of CPU time; fewer may have no sample */
	SECOND_KIND_SHARE = 10, /* a tenth of all detections is named too */
	MORE_BY_DEFAULT = 10,   /* times the samples, where no rate is known */
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

/* How many times as many samples a sure answer takes; 1 or less: no more. */
static double times_to_sure(uint64_t samples)
{
	return (double)SURE_SAMPLES / (double)(samples ? samples : 1);
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

/* The kind of sharing that most detections are of. */
static enum sharing main_kind(const struct tally *t)
{
	return t->kind[SHARING_FALSE] >= t->kind[SHARING_TRUE] ? SHARING_FALSE
							       : SHARING_TRUE;
}

/* Say which share of the detections is of @kind, or that they are too few. */
static char *share_of_kind(const struct tally *t, enum sharing kind)
{
	uint64_t total = tally_total(t->kind);
	struct interval v = tally_share_interval(t, t->kind[kind], total);

	if (tally_effective(t, total) < SHARE_DETECTIONS)
		return xasprintf("Threads share cache lines: %s detection%s, "
				 "%s of false and %s of true sharing. That is "
				 "too few to tell shares.",
				 count_text(total), total == 1 ? "" : "s",
				 count_text(t->kind[SHARING_FALSE]),
				 count_text(t->kind[SHARING_TRUE]));
	return xasprintf("%s of the cache-line sharing detected between "
			 "threads is %s sharing (95 %% interval %.0f to %.0f "
			 "%%, %s detections%s).",
			 percent_text(t->kind[kind], total), sharing_text(kind),
			 100 * v.low, 100 * v.high, count_text(total),
			 tally_effective(t, total) < FEW_DETECTIONS
				 ? ": few, a weak answer"
				 : "");
}

/* The places of most of the sharing: of the main kind, and of another large. */
static char *name_places(const struct report *r)
{
	const struct tally *t = &r->tally;
	enum sharing first = main_kind(t);
	enum sharing second =
		first == SHARING_FALSE ? SHARING_TRUE : SHARING_FALSE;
	char places[2][HOT_PLACE_BYTES] = { "", "" };

	hot_place(r, first, places[0], sizeof(places[0]));
	if (t->kind[second] >= tally_total(t->kind) / SECOND_KIND_SHARE)
		hot_place(r, second, places[1], sizeof(places[1]));
	return xasprintf("%s%s", places[0], places[1]);
}

static void answer_weak(struct report *r)
{
	double found = tally_effective(&r->tally, tally_total(r->tally.kind));
	char *more = advice_more_samples(
		r->profile,
		found < FEW_DETECTIONS ? 2 * FEW_DETECTIONS / found : 4);
	char *text = xasprintf("For more detections and a narrower interval, "
			       "%s.",
			       more);

	print_wrapped(r->out, text, 0, 0);
	free(text);
	free(more);
}

/* What padding avoids comes first: it is what the reader can do. */
static char *answer_padding(const struct tally *t, uint64_t total)
{
	const struct judged *j = &t->judged;
	struct interval v = tally_avoidable_share(t);

	if (tally_effective(t, j->all) < SHARE_DETECTIONS)
		return xasprintf("%s", "");
	return xasprintf("Padding would avoid %s of the cache-line sharing "
			 "detected between threads (95 %% interval %.0f to "
			 "%.0f %%, %s of %s detections judged). By the bytes "
			 "of two accesses, ",
			 percent_text(j->avoidable, j->all), 100 * v.low,
			 100 * v.high, count_text(j->all), count_text(total));
}

static void answer_found(struct report *r)
{
	const struct tally *t = &r->tally;
	bool weak = tally_effective(t, tally_total(t->kind)) < FEW_DETECTIONS;
	bool counts;
	char *what, *where, *text, *padding, *fix;

	what = report_estimate_answer(r, &weak);
	counts = what;
	if (!what)
		what = share_of_kind(t, main_kind(t));
	where = name_places(r);
	padding = counts ? xasprintf("%s", "")
			 : answer_padding(t, tally_total(t->kind));
	text = xasprintf("%s%s%s", padding, what, where);
	print_head(r, text);
	free(padding);
	free(text);
	free(what);
	free(where);
	fix = report_best_fix(r);
	if (fix)
		print_head(r, fix);
	free(fix);
	if (weak)
		answer_weak(r);
	answer_same_core(r);
	report_doubts(r);
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
	char *more, *text;

	if (clock && advice_can_watch_longer(p))
		return xasprintf(
			"Nothing can be said: no memory access was "
			"sampled. What was watched used %s of CPU "
			"time in %s, and a sample is taken every %s "
			"of a thread's CPU time: watch it while it "
			"works%s.",
			duration_text(cpu), duration_text(profile_wall_ns(p)),
			duration_text(h->period),
			profile_not_followed(p) ? ", or the processes that it "
						  "started, with --children"
						: "");
	if (profile_main_process(p)->state == PROCESS_STOPPED && h->note[0])
		return xasprintf("Nothing was measured: %s.",
				 safe_text(h->note));
	/* Without --exact, which never comes here, QEMU has a period. */
	if (!strcmp(h->source, "emu") && !h->period)
		return xasprintf("This is a trace, or a profile made of one, "
				 "and neither has samples. Say how long the "
				 "program takes: reusetrack predict --machine "
				 "NAME; or simulate a trace: reusetrack "
				 "simulate --machine NAME. reusetrack machine "
				 "--list shows the names.");
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
	more = advice_more_samples(p, MORE_BY_DEFAULT);
	text = xasprintf("Nothing can be said: no memory access was sampled in "
			 "%s of CPU time. See below what was lost, or %s.",
			 duration_text(cpu), more);
	free(more);
	return text;
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
	uint64_t samples = count_samples(p);
	double times = times_to_sure(samples);
	char *more, *text;

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
	if (times <= 1)
		return xasprintf("No sharing between threads found in %s "
				 "samples. With 95 %% confidence fewer than "
				 "one sample in %s would detect any.",
				 count_text(samples), count_text(samples / 3));
	more = advice_more_samples(p, times);
	text = xasprintf("No sharing between threads found in %s sample%s "
			 "(%s). A sure answer takes about %s: %s.",
			 count_text(samples), samples == 1 ? "" : "s",
			 duration_text(profile_wall_ns(p)),
			 count_text(SURE_SAMPLES), more);
	free(more);
	return text;
}

/* True unless the report must say how the process ended. */
static bool ended_well(const struct process *s)
{
	return s->state == PROCESS_EXECED ||
	       (s->state == PROCESS_ENDED && !process_was_killed(s));
}

static void print_warm(struct report *r, char *text)
{
	fputs(paint(r, PAINT_WARM), r->out);
	print_wrapped(r->out, text, 0, 2);
	fputs(paint(r, PAINT_OFF), r->out);
	free(text);
}

static void print_state(struct report *r, const struct process *s)
{
	const char *shown = "";

	if (s->state == PROCESS_RUNNING)
		shown = "; what was committed so far is shown";
	else if (s->state == PROCESS_CUT)
		shown = "; what was committed before is shown";
	print_warm(r, xasprintf("%s (pid %u): %s%s.",
				safe_text(base_name(s->header.exe)),
				s->header.pid, process_end_text(s), shown));
}

/* Wherever they are in the list of processes. */
static void print_states(struct report *r)
{
	const struct profile *p = r->profile;
	size_t n = 0;

	for (size_t i = 0; i < p->processes; i++)
		if (!ended_well(&p->process[i]) && n++ < r->top)
			print_state(r, &p->process[i]);
	if (n > r->top)
		print_warm(r,
			   xasprintf("%s more process%s killed, or still "
				     "running, or not recorded to the end; "
				     "--top %zu names all.",
				     count_text(n - r->top),
				     n - r->top == 1 ? " was" : "es were", n));
}

/* The kernel stops and starts perf's events at each switch of threads. */
static bool switches_cost(const struct profile *p)
{
	const struct cdp_header *h = &profile_main_process(p)->header;

	return !strcmp(h->source, "clock") && !strcmp(h->delivery, "sigtrap");
}

/* Where the kernel worked, no access of the program is sampled. */
static void print_kernel(struct report *r)
{
	uint64_t all = profile_cpu_ns(r->profile);
	uint64_t kernel = profile_kernel_ns(r->profile);
	char *text;

	if (kernel <= all / 2)
		return;
	text = xasprintf("The kernel took %s of the CPU time for the program "
			 "(system calls, waiting and waking), where nothing is "
			 "sampled: perf trace or strace -c tells for what.%s",
			 percent_text(kernel, all),
			 switches_cost(r->profile)
				 ? " If threads switch often, part of that is "
				   "profiling, some microseconds a switch; "
				   "COMDET_CLOCK=timer takes less."
				 : "");
	fputs(paint(r, PAINT_WARM), r->out);
	print_wrapped(r->out, text, 0, 0);
	fputs(paint(r, PAINT_OFF), r->out);
	free(text);
}

/* "Nothing was found" must not be taken for what was not looked for. */
static void print_unseen(struct report *r)
{
	const char *shared = foreign_unseen(r->profile);
	char *text;

	if (!shared)
		return;
	text = xasprintf("Sharing between processes was not looked for, and "
			 "they share the memory %s: record --outside "
			 "--children finds it, or attach to all of them.",
			 safe_text(shared));
	print_head(r, text);
	free(text);
}

/* Exact counts come first, and alone where samples found nothing. */
void report_answer(struct report *r)
{
	bool found = tally_total(r->tally.kind);
	uint64_t transfers = 0, samples = count_samples(r->profile);
	char *exact =
		r->thread >= 0 ? NULL : report_exact_answer(r, &transfers);
	char *text = NULL, *sighted = report_sighted_answer(r);

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
	if (sighted && !exact)
		print_head(r, sighted);
	free(exact);
	free(text);
	free(sighted);
	print_kernel(r);
	if (r->profile->processes > 1)
		print_unseen(r);
	print_states(r);
}
