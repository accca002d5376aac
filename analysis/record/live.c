/* SPDX-License-Identifier: MIT */
/*
 * live - how the recording goes, on one line of the terminal
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "live.h"
#include "analysis/base/util.h"
#include "src/store/cdp_read.h"

struct sums {
	uint64_t samples, detections;
};

static int add_thread(void *ctx, const void *record)
{
	const struct cdp_thread *t = record;
	struct sums *s = ctx;

	for (int k = 0; k < SAMPLE_KINDS; k++)
		s->samples = sat_add(s->samples, t->samples[k]);
	return 0;
}

/* As the last line of record counts them. */
static int add_pair(void *ctx, const void *record)
{
	const struct cdp_pair *p = record;
	struct sums *s = ctx;

	if (p->by != DETECTED_BY_LOOK)
		s->detections = sat_add(s->detections, p->count);
	return 0;
}

/* A file that its process is about to fill in cannot be read yet. */
static void add_file(void *ctx, int dirfd, const char *name)
{
	struct cdp_reader r;

	if (cdp_open(&r, dirfd, name))
		return;
	cdp_each(&r, CDP_PAIRS, add_pair, ctx, NULL);
	cdp_each(&r, CDP_THREADS, add_thread, ctx, NULL);
	cdp_close(&r);
}

char *live_text(int dirfd, uint64_t ns)
{
	struct sums s = { 0, 0 };

	record_each_file(dirfd, add_file, &s);
	return xasprintf("%s: %s sample%s, %s detection%s", duration_text(ns),
			 count_text(s.samples), s.samples == 1 ? "" : "s",
			 count_text(s.detections),
			 s.detections == 1 ? "" : "s");
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void show(void *ctx)
{
	const struct live *p = ctx;
	char *text = live_text(p->dirfd, now() - p->begin);

	fprintf(stderr, "\r%s\033[K", text);
	fflush(stderr);
	free(text);
}

void live_begin(struct live *p, struct run *r, int dirfd)
{
	const char *value = getenv("COMDET_PROGRESS");

	if (!value || strcmp(value, "1") || !isatty(STDERR_FILENO))
		return;
	p->dirfd = dirfd;
	p->begin = now();
	r->tick = show;
	r->tick_ctx = p;
}

void live_end(const struct run *r)
{
	if (!r->tick)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}
