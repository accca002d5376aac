/* SPDX-License-Identifier: MIT */
/*
 * text - the report for people: its parts in order, and the table of threads
 *
 * Tables fit 80 columns where names allow it. Every number stands below or
 * beside its meaning and unit.
 */
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "answer.h"
#include "calls.h"
#include "estimate.h"
#include "exact.h"
#include "fixes.h"
#include "lines.h"
#include "matrix.h"
#include "memory.h"
#include "method.h"
#include "over_time.h"
#include "regions.h"
#include "reuse.h"
#include "reuse_answer.h"
#include "reuse_text.h"
#include "sighted.h"
#include "style.h"
#include "analysis/base/util.h"

enum {
	NAME_COLUMNS = 15
};

static void print_processes(struct report *r)
{
	const struct profile *p = r->profile;

	report_heading(r, "Processes");
	for (size_t i = 0; i < p->processes && i < r->top; i++) {
		const struct process *s = &p->process[i];

		fprintf(r->out, "  %2zu  pid %-7u ", i, s->header.pid);
		if (s->header.rank)
			fprintf(r->out, "rank %u: ", s->header.rank - 1);
		fprintf(r->out, "%s (%s)\n",
			safe_text(base_name(s->header.exe)),
			process_end_text(s));
	}
	if (p->processes > r->top)
		fprintf(r->out, "  ... and %s more\n",
			count_text(p->processes - r->top));
}

static void print_thread(struct report *r, size_t i, uint64_t total)
{
	const struct thread_row *t = &r->profile->thread[i];
	const char *name = cut_text(safe_text(t->name), NAME_COLUMNS);
	uint64_t with = r->tally.thread_detections[i];
	char tid[16];

	if (t->count > 1)
		snprintf(tid, sizeof(tid), "%s", "-");
	else
		snprintf(tid, sizeof(tid), "%u", t->tid);
	fprintf(r->out, "  %4zu %7s  %s%*s %5s %8s %8s %8s %7s %7s\n", i, tid,
		name, (int)(NAME_COLUMNS - text_columns(name)), "",
		count_text(t->count), duration_text(t->cpu_ns),
		count_text(t->samples[SAMPLE_UNIFORM]),
		count_text(t->samples[SAMPLE_STALLED]), count_text(t->traps),
		total ? percent_text(with, total) : "-");
}

/* Pick the most interesting rows: by detections, then by CPU time. */
static size_t pick_threads(const struct report *r, size_t *picked)
{
	const struct profile *p = r->profile;
	size_t n = 0;

	for (size_t i = 0; i < p->threads; i++) {
		size_t at = n;

		while (at) {
			const struct thread_row *x = &p->thread[picked[at - 1]];
			uint64_t mine = r->tally.thread_detections[i];
			uint64_t its =
				r->tally.thread_detections[picked[at - 1]];

			if (its > mine ||
			    (its == mine && x->cpu_ns >= p->thread[i].cpu_ns))
				break;
			at--;
		}
		if (at == r->thread_rows)
			continue;
		if (n < r->thread_rows)
			n++;
		memmove(&picked[at + 1], &picked[at],
			(n - 1 - at) * sizeof(*picked));
		picked[at] = i;
	}
	return n;
}

static void print_threads(struct report *r)
{
	const struct profile *p = r->profile;
	size_t *picked = xcalloc(r->thread_rows + 1, sizeof(*picked));
	size_t n = pick_threads(r, picked);
	uint64_t total = tally_total(r->tally.kind);
	bool *show = xcalloc(p->threads, sizeof(*show));
	uint32_t process = UINT32_MAX;

	for (size_t i = 0; i < n; i++)
		show[picked[i]] = true;
	report_heading(r, "Threads");
	fprintf(r->out, "%s%46s %17s %7s %7s%s\n", paint(r, PAINT_DIM), "",
		"sampled accesses", "watch", "part in", paint(r, PAINT_OFF));
	fprintf(r->out, "%s  %4s %7s  %-15s %5s %8s %8s %8s %7s %7s%s\n",
		paint(r, PAINT_DIM), "id", "tid", "name", "count", "CPU time",
		"uniform", "stalled", "traps", "sharing", paint(r, PAINT_OFF));
	for (size_t i = 0; i < p->threads; i++) {
		if (!show[i])
			continue;
		if (p->processes > 1 && p->thread[i].process != process) {
			process = p->thread[i].process;
			fprintf(r->out, "  pid %u %s\n",
				p->process[process].header.pid,
				safe_text(base_name(
					p->process[process].header.exe)));
		}
		print_thread(r, i, total);
	}
	if (p->threads > n)
		fprintf(r->out, "  ... and %s more rows (--top %s shows all)\n",
			count_text(p->threads - n), count_text(p->threads));
	if (p->merged)
		fprintf(r->out, "  Ended threads of the same name and start "
				"routine share a row.\n");
	free(picked);
	free(show);
}

static void print_problems(struct report *r)
{
	const char *problem;

	for (size_t i = 0; (problem = symbols_problem(r->symbols, i)); i++) {
		if (!i)
			report_heading(r, "Names that are missing");
		fputs("  ", r->out);
		print_wrapped(r->out, problem, 2, 4);
	}
}

void report_text(struct report *r)
{
	bool comm =
		profile_main_process(r->profile)->header.modes & CDP_MODE_COMM;

	if (comm)
		report_answer(r);
	if (!report_reuse_answer(r, r->reuse) && !comm)
		report_answer(r);
	if (r->profile->processes > 1)
		print_processes(r);
	print_threads(r);
	report_regions(r);
	if (tally_total(r->tally.kind)) {
		report_matrix(r);
		report_over_time(r);
		report_estimate(r);
		report_fixes(r);
		report_lines(r);
		report_sites(r);
		report_calls(r);
	}
	report_sighted(r);
	report_exact(r);
	report_reuse_text(r, r->reuse);
	report_memory(r);
	report_method(r);
	report_loss(r);
	print_problems(r);
}
