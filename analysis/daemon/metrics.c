/* SPDX-License-Identifier: MIT */
/*
 * metrics - what the daemon has seen, as OpenMetrics
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics.h"
#include "analysis/base/util.h"
#include "src/base/loss.h"

static const char *const loss_name[] = {
#define NAME(id, name, text) name,
	LOSS_CAUSES(NAME)
#undef NAME
};

static const char *const kind_name[SHARING_KINDS] = {
	[SHARING_FALSE] = "false",
	[SHARING_TRUE] = "true",
};

static void head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* A label's value: UTF-8, with what ends it escaped. */
static void print_value(FILE *f, const char *s)
{
	char *clean = utf8_text(s);

	for (const char *c = clean; *c; c++)
		if (*c == '\n')
			fputs("\\n", f);
		else if (*c == '"' || *c == '\\')
			fprintf(f, "\\%c", *c);
		else
			putc(*c, f);
	free(clean);
}

static void print_process(FILE *f, const char *name,
			  const struct slice_process *p)
{
	fprintf(f, "%s{pid=\"%d\",comm=\"", name, (int)p->pid);
	print_value(f, p->name);
	putc('"', f);
}

static void print_processes(FILE *f, const struct sums *s)
{
	head(f, "comdet_detections", "counter",
	     "Detections of cache lines that threads share.");
	for (size_t i = 0; i < s->processes; i++)
		for (int k = 0; k < SHARING_KINDS; k++) {
			const struct slice_process *p = &s->process[i].process;

			print_process(f, "comdet_detections_total", p);
			fprintf(f, ",kind=\"%s\"} %" PRIu64 "\n", kind_name[k],
				p->detections[k]);
		}
	head(f, "comdet_watched_seconds", "counter",
	     "How long a process was watched.");
	for (size_t i = 0; i < s->processes; i++) {
		const struct slice_process *p = &s->process[i].process;

		print_process(f, "comdet_watched_seconds_total", p);
		fprintf(f, "} %.3f\n", (double)p->watched_ns / 1e9);
	}
}

static void count(FILE *f, const char *name, const char *help, double n)
{
	head(f, name, "counter", help);
	fprintf(f, "%s_total %.15g\n", name, n);
}

char *metrics_text(const struct machine_watch *w)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		die("out of memory");
	print_processes(f, &w->sums);
	count(f, "comdet_samples", "Memory accesses that were sampled.",
	      (double)w->sums.samples);
	head(f, "comdet_lost", "counter", "What was lost, by cause.");
	for (size_t i = 0; i < sizeof(loss_name) / sizeof(loss_name[0]); i++)
		fprintf(f, "comdet_lost_total{cause=\"%s\"} %" PRIu64 "\n",
			loss_name[i], w->sums.loss[i]);
	count(f, "comdet_cpu_seconds", "CPU time of the daemon.",
	      (double)w->own_ns / 1e9);
	count(f, "comdet_target_cpu_seconds",
	      "CPU time that watched processes lost, estimated.",
	      (double)w->target_ns / 1e9);
	count(f, "comdet_slices", "Slices of time that were watched.",
	      (double)w->sums.slices);
	count(f, "comdet_failed_slices", "Slices that failed.",
	      (double)w->sums.failed_slices);
	head(f, "comdet_busy_processes", "gauge", "Processes that take turns.");
	fprintf(f, "comdet_busy_processes %zu\n", busy_wanted(&w->busy));
	fputs("# EOF\n", f);
	if (fclose(f))
		die("out of memory");
	return text;
}
