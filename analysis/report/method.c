/* SPDX-License-Identifier: MIT */
/*
 * method - how the profile was measured, and what was lost
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "method.h"
#include "estimate.h"
#include "style.h"
#include "analysis/profile/estimate.h"
#include "analysis/base/util.h"
#include "analysis/profile/foreign.h"

enum {
	LABEL_COLUMNS = 14
};

static const struct loss_word {
	const char *name, *text;
} loss_words[] = {
#define X(id, name, text) { name, text },
	LOSS_CAUSES(X)
#undef X
};

__attribute__((format(printf, 3, 4))) static void item(struct report *r,
						       const char *label,
						       const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	fprintf(r->out, "  %s%-*s%s", paint(r, PAINT_DIM), LABEL_COLUMNS - 2,
		label, paint(r, PAINT_OFF));
	print_wrapped(r->out, text, LABEL_COLUMNS, LABEL_COLUMNS);
	free(text);
}

/* perf recorded it, without debug registers and without CPU times. */
static bool is_import(const struct cdp_header *h)
{
	return !strcmp(h->source, "import");
}

static void item_rate(struct report *r, const struct cdp_header *h)
{
	if (!h->period)
		return;
	if (is_import(h)) {
		item(r, "rate", "a sample of a thread every %s in the median",
		     duration_text(h->period));
		return;
	}
	if (!strcmp(h->period_unit, "ns") && h->slow_period > h->period)
		item(r, "rate",
		     "an interrupt every %s of a thread's CPU time at first "
		     "and where it meets sharing, as far as the budget goes, "
		     "else every %s, where a detection counts as %s; shares "
		     "are of CPU time, not of accesses",
		     duration_text(h->period), duration_text(h->slow_period),
		     count_text(h->slow_period / h->period));
	else if (!strcmp(h->period_unit, "ns"))
		item(r, "rate",
		     "an interrupt every %s of a thread's CPU time (%.0f Hz), "
		     "so shares are of CPU time, not of accesses",
		     duration_text(h->period), 1e9 / (double)h->period);
	else
		item(r, "rate", "an interrupt every %s %s",
		     count_text(h->period), safe_text(h->period_unit));
}

static void item_expiry(struct report *r, const struct cdp_header *h)
{
	const char *unit = safe_text(h->period_unit);
	/*
	 * With pebs and ibs the period counts events, and the board's entries
	 * age in ns.
	 */
	bool ns = !strcmp(h->period_unit, "ns") || !strcmp(h->source, "pebs") ||
		  !strcmp(h->source, "ibs");

	if (!h->expiry || report_is_estimate(h))
		return;
	item(r, "expiry",
	     "a published store counts for %s%s%s, a watchpoint is old after "
	     "%s%s%s",
	     ns ? duration_text(h->expiry) : count_text(h->expiry),
	     ns ? "" : " ", ns ? "" : unit,
	     ns ? duration_text(h->watch_expiry) : count_text(h->watch_expiry),
	     ns ? "" : " ", ns ? "" : unit);
}

static void item_registers(struct report *r, const struct cdp_header *h)
{
	bool emu = !strcmp(h->source, "emu");

	if (emu && !(h->modes & CDP_MODE_COMM)) {
		item(r, "watchpoints", "in software, every access is seen");
		return;
	}
	if (!h->registers && h->registers_reason[0] &&
	    (emu || !strcmp(h->source, "instr"))) {
		item(r, "watchpoints", "%s", safe_text(h->registers_reason));
		return;
	}
	item(r, "registers", "%u debug register%s in use%s%s%s%s", h->registers,
	     h->registers == 1 ? "" : "s", emu ? ", simulated" : "",
	     h->registers_reason[0] ? ": " : "", safe_text(h->registers_reason),
	     h->registers ? ""
			  : ". Without them only sharing between two samples "
			    "is detected, which is less");
}

/* Of the process that the report calls the program. */
static void item_turns(struct report *r, const struct cdp_header *h)
{
	const struct profile *p = r->profile;
	uint64_t threads = 0;

	if (!h->slice)
		return;
	for (size_t i = 0; i < p->threads; i++)
		threads += p->thread[i].count;
	item(r, "turns",
	     "of %s accesses in the mean, in an order that does not depend on "
	     "the host",
	     count_text(h->slice));
	if (h->turns_by_time || h->unordered)
		item(r, "",
		     "except for %s turns that were given to another thread by "
		     "time, and %s threads that came back from the kernel "
		     "while "
		     "others ran: another run may count differently",
		     count_text(h->turns_by_time), count_text(h->unordered));
	/* To start and to join a thread takes part of a turn each. */
	if (threads > 1 && h->turns_shared <= 2 * threads &&
	    h->state == CDP_ENDED)
		item(r, "",
		     "threads hardly ever overlapped: %s turns ended while "
		     "another thread could run",
		     h->turns_shared ? count_text(h->turns_shared) : "no");
}

static void item_handler(struct report *r)
{
	uint64_t ns = profile_handler_ns(r->profile);

	if (ns)
		item(r, "handler",
		     "%s a sample in the mean; the interrupt itself comes on "
		     "top",
		     duration_text(ns));
}

/* Of processes that were watched from outside. */
static void item_memory(struct report *r)
{
	const struct profile *p = r->profile;
	uint64_t exact = 0, verified = 0, racy = 0;

	for (size_t i = 0; i < p->processes; i++) {
		const struct cdp_header *h = &p->process[i].header;

		exact = sat_add(exact, h->samples_exact);
		verified = sat_add(verified, h->samples_verified);
		racy = sat_add(racy, h->samples_racy);
	}
	if (!exact && !verified && !racy)
		return;
	item(r, "memory",
	     "%s samples depend on registers and on memory that cannot change "
	     "(exact), %s on memory that was read twice and equal (verified)",
	     count_text(exact), count_text(verified));
	if (racy)
		item(r, "",
		     "at %s interrupts a coming access depended on memory that "
		     "may have changed since (racy): only accesses before it "
		     "were taken, so code before such accesses has too large a "
		     "share",
		     count_text(racy));
}

static void item_start(struct report *r, const struct cdp_header *h)
{
	time_t t = h->start_real / 1000000000;
	char when[64];
	struct tm tm;

	if (!h->start_real || !localtime_r(&t, &tm) ||
	    !strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &tm))
		return;
	item(r, "started", "%s", when);
}

static const char *by_text(const struct tally *t)
{
	static char text[128];

	snprintf(text, sizeof(text),
		 "%s by watchpoint traps, %s by two "
		 "samples that met",
		 count_text(t->by[DETECTED_BY_TRAP]),
		 count_text(t->by[DETECTED_BY_BOARD]));
	return text;
}

void report_method(struct report *r)
{
	const struct profile *p = r->profile;
	const struct cdp_header *h = &profile_main_process(p)->header;
	const struct cdp_header *root = &p->process[0].header;
	uint64_t missed = profile_not_followed(p);
	bool comm = h->modes & CDP_MODE_COMM;

	report_heading(r, "How this was measured");
	item(r, "program", "%s",
	     safe_text(root->command[0] ? root->command : root->exe));
	item(r, "source", "%s%s%s",
	     h->source[0] ? safe_text(h->source) : "none was opened",
	     h->source_reason[0] ? ": " : "", safe_text(h->source_reason));
	if (h->delivery[0])
		item(r, "delivery", "%s", safe_text(h->delivery));
	if (h->algorithm[0] && comm)
		item(r, "algorithm", "%s", safe_text(h->algorithm));
	item_rate(r, h);
	if (!is_import(h))
		item_registers(r, h);
	item_turns(r, h);
	item_memory(r);
	if (comm) {
		item_expiry(r, h);
		item(r, "detections", "%s", by_text(&r->tally));
	}
	if (is_import(h))
		item(r, "time", "%s from the first sample to the last",
		     duration_text(profile_wall_ns(p)));
	else if (profile_kernel_ns(p))
		item(r, "time", "%s, of CPU time %s; %s of it in the kernel",
		     duration_text(profile_wall_ns(p)),
		     duration_text(profile_cpu_ns(p)),
		     duration_text(profile_kernel_ns(p)));
	else
		item(r, "time", "%s, of CPU time %s",
		     duration_text(profile_wall_ns(p)),
		     duration_text(profile_cpu_ns(p)));
	item_handler(r);
	item_start(r, root);
	item(r, "machine", "%s; %s; %u processors; Linux %s",
	     safe_text(h->host), safe_text(h->cpu), h->cores,
	     safe_text(h->kernel));
	for (size_t i = 0; i < p->processes; i++)
		if (profile_note_is_new(p, i))
			item(r, "note", "%s",
			     safe_text(p->process[i].header.note));
	if (comm && foreign_unseen(p))
		item(r, "not seen",
		     "processes share the memory %s, and sharing between them "
		     "was not looked for: record --outside --children finds it",
		     safe_text(foreign_unseen(p)));
	item(r, "complete", "%s",
	     profile_complete(p) ? "yes"
	     : p->processes == 1 ? process_end_text(&p->process[0])
				 : "no: see the processes");
	if (missed)
		item(r, "left out",
		     "%s program%s started by it were not profiled; record "
		     "--children includes them",
		     count_text(missed), missed == 1 ? "" : "s");
	item(r, "intervals", "%s",
	     !report_is_estimate(h) ? "95 %; for sampling error only, not for "
				      "the method's bias"
	     : strcmp(h->algorithm, "chain") != 0
		     ? "95 %, for sampling error only; there is no bias where "
		       "whole lines are watched without delay"
	     : estimate_has_traps(h)
		     ? "95 %, for sampling error and the estimator's bias, not "
		       "for what traps change in the program"
		     : "95 %, for sampling error and the estimator's bias");
}

/*
 * True for causes that end an interrupt without a sample. For these the report
 * gives their share of the interrupts.
 */
static bool is_of_interrupts(enum loss_cause c)
{
	switch (c) {
	case LOSS_REENTRANT:
	case LOSS_BLOCKED:
	case LOSS_NO_ACCESS:
	case LOSS_UNDECODED:
	case LOSS_UNREADABLE:
	case LOSS_UNKNOWN_ADDRESS:
	case LOSS_UNKNOWN_PATH:
	case LOSS_NOT_STALLED:
	case LOSS_BREAKPOINT_MISSED:
	case LOSS_BUDGET:
	case LOSS_EXITING:
	case LOSS_WATCHER_BUDGET:
	case LOSS_RACY:
		return true;
	default:
		return false;
	}
}

void report_loss(struct report *r)
{
	const struct profile *p = r->profile;
	uint64_t interrupts = 0, bad = 0;
	bool any = false;

	for (size_t i = 0; i < p->threads; i++)
		interrupts = sat_add(interrupts, p->thread[i].interrupts);
	for (size_t i = 0; i < p->processes; i++)
		bad = sat_add(bad, p->process[i].bad_records);
	report_heading(r, "What was lost (of %s interrupts)",
		       count_text(interrupts));
	for (int c = 0; c < LOSS_COUNT; c++) {
		uint64_t n = profile_loss(p, c);

		if (!n)
			continue;
		any = true;
		fprintf(r->out, "  %9s %8s  ", count_text(n),
			is_of_interrupts(c) && interrupts
				? percent_text(n, interrupts)
				: "");
		print_wrapped(r->out, loss_words[c].text, 22, 22);
	}
	if (bad) {
		any = true;
		fprintf(r->out, "  %9s %8s  damaged records were skipped\n",
			count_text(bad), "");
	}
	for (size_t i = 0; i < p->bad_files; i++) {
		any = true;
		fprintf(r->out, "  file %s: %s\n", safe_text(p->bad[i].name),
			p->bad[i].why);
	}
	if (!any)
		fputs("  nothing\n", r->out);
}
