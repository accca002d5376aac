/* SPDX-License-Identifier: MIT */
/*
 * predict_adjacent - say whether an adjacent-line prefetcher pays
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict_adjacent.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"
#include "analysis/locality/adjacent.h"
#include "analysis/locality/mrc.h"
#include "src/base/regular_file.h"

enum {
	LINE_MAX_BYTES = 256,
};
#define NS_MAX    1e6
#define BYTES_MAX 1e15

static struct latency exactly(double ns)
{
	return (struct latency){ .ns = ns, .by = { ns, ns } };
}

/* Set the value @name of the file; false if there is no such name. */
static bool set(struct adjacent_machine *m, const char *name, double value)
{
	if (!strcmp(name, "dram_ns"))
		m->dram = exactly(value);
	else if (!strcmp(name, "transfer_ns"))
		m->transfer = exactly(value);
	else if (!strcmp(name, "llc_bytes"))
		m->llc_bytes = (uint64_t)value;
	else if (!strcmp(name, "private_bytes"))
		m->private_bytes = (uint64_t)value;
	else
		return false;
	return true;
}

/* Read lines "NAME VALUE"; '#' begins a comment. */
static void read_latencies(struct adjacent_machine *m, const char *path)
{
	char line[LINE_MAX_BYTES];
	int fd = regular_file_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f)
		die("cannot open %s: %s", safe_text(path),
		    regular_file_error(fd < 0 ? fd : -errno));
	for (int n = 1; fgets(line, sizeof(line), f); n++) {
		char name[32], rest[2];
		double value;
		int words;

		line[strcspn(line, "#\n")] = 0;
		if (strspn(line, " \t\r") == strlen(line))
			continue;
		words = sscanf(line, "%31s %lf %1s", name, &value, rest);
		if (words != 2 || !(value > 0) ||
		    value > (strstr(name, "_ns") ? NS_MAX : BYTES_MAX) ||
		    !set(m, name, value))
			die("%s, line %d: needs dram_ns, transfer_ns, "
			    "llc_bytes or private_bytes and a number above 0, "
			    "not '%s'",
			    safe_text(path), n, safe_text(line));
	}
	fclose(f);
	if (!(m->dram.ns > 0) || !(m->transfer.ns > 0))
		die("%s has no line '%s NUMBER'", safe_text(path),
		    m->dram.ns > 0 ? "transfer_ns" : "dram_ns");
}

/* Take the largest private cache and the largest of all. */
static void take_caches(struct adjacent_machine *m,
			const struct reuse_streams *s)
{
	for (size_t i = 0; i < s->caches; i++) {
		const struct host_cache *c = &s->cache[i];

		if (c->shared || i + 1 == s->caches)
			m->llc_bytes = c->bytes;
		if (!c->shared && (i + 1 < s->caches || !i))
			m->private_bytes = c->bytes;
	}
}

static void measure(struct adjacent_machine *m)
{
	int err = latency_of_transfer(&m->transfer);

	if (err == -ENODEV)
		die("predict: cannot measure transfers between cores: this "
		    "process may use only one processor; give latencies "
		    "measured elsewhere with --latencies FILE");
	if (!err)
		err = latency_of_dram(m->llc_bytes, &m->dram);
	if (err)
		die("predict: cannot measure latencies: %s; give them with "
		    "--latencies FILE",
		    strerror(-err));
}

static struct adjacent_machine machine_of(const char *latencies,
					  const struct reuse_streams *s)
{
	struct adjacent_machine m = { 0 };

	take_caches(&m, s);
	if (latencies)
		read_latencies(&m, latencies);
	if (!m.llc_bytes || !m.private_bytes)
		die("predict: this machine does not say how large its caches "
		    "are; give llc_bytes and private_bytes with --latencies "
		    "FILE");
	if (!latencies)
		measure(&m);
	return m;
}

static json_t *json_interval(double value, struct interval by)
{
	json_t *j = json_pack("{s:f,s:f,s:f}", "estimate", value, "low", by.low,
			      "high", by.high);

	if (!j)
		die("out of memory");
	return j;
}

static const char *const verdicts[] = {
	[ADJACENT_GAIN] = "gain",
	[ADJACENT_LOSS] = "loss",
	[ADJACENT_NOTHING] = "nothing",
	[ADJACENT_OPEN] = "open",
};

static void predict_json(const struct adjacent *a,
			 const struct adjacent_machine *m, bool measured)
{
	json_t *j = json_pack(
		"{s:i,s:{s:s,s:f,s:o,s:o,s:o,s:o,s:o,s:s,s:I,s:I}}", "schema",
		1, "adjacent_line_prefetch", "verdict", verdicts[a->verdict],
		"accesses", a->accesses, "gain_ns",
		json_interval(a->gain.value, a->gain.by), "dram_reuses",
		json_interval(a->dram.value, a->dram.by), "sharing_reuses",
		json_interval(a->sharing.value, a->sharing.by), "dram_ns",
		json_interval(m->dram.ns, m->dram.by), "transfer_ns",
		json_interval(m->transfer.ns, m->transfer.by), "latencies",
		measured ? "measured" : "given", "llc_bytes",
		(json_int_t)m->llc_bytes, "private_bytes",
		(json_int_t)m->private_bytes);

	json_print(j);
}

/* A time with its sign. */
static const char *time_text(double ns)
{
	static char text[8][48];
	static int next;
	char *t = text[next++ % 8];

	snprintf(t, sizeof(text[0]), "%s%s", ns < 0 ? "-" : "",
		 duration_text((uint64_t)fmin(fabs(ns), 1e18)));
	return t;
}

static const char *whole(double x)
{
	return count_text((uint64_t)fmin(fmax(x + 0.5, 0), 1e18));
}

static void print_reuses(const char *what, const struct adjacent_estimate *e,
			 const char *latency, const struct latency *l)
{
	printf("  %-6s  %s (95 %%: %s to %s)\n", what, whole(e->value),
	       whole(e->by.low), whole(e->by.high));
	printf("  %-6s  %.1f ns", latency, l->ns);
	if (l->by.high > l->by.low)
		printf(" (95 %%: %.1f to %.1f)", l->by.low, l->by.high);
	printf("; together %s\n", time_text(e->value * l->ns));
}

static void print_text(const struct adjacent *a,
		       const struct adjacent_machine *m, bool measured)
{
	static const char *const said[] = {
		[ADJACENT_GAIN] =
			"likely a gain: lines that come back from DRAM in "
			"order outweigh those that are falsely shared",
		[ADJACENT_LOSS] =
			"likely a loss: falsely shared lines outweigh those "
			"that come back from DRAM in order",
		[ADJACENT_NOTHING] =
			"no difference: neither lines that come back from DRAM "
			"in order nor falsely shared ones were found",
		[ADJACENT_OPEN] = "open: the interval of G contains 0; record "
				  "with a smaller period to narrow it",
	};

	printf("Adjacent-line prefetch: ");
	print_wrapped(stdout, said[a->verdict],
		      strlen("Adjacent-line "
			     "prefetch: "),
		      2);
	printf("\n  G = R_dram L_dram - R_fs L_fs = %s (95 %%: %s to %s)\n\n",
	       time_text(a->gain.value), time_text(a->gain.by.low),
	       time_text(a->gain.by.high));
	print_reuses("R_dram", &a->dram, "L_dram", &m->dram);
	print_reuses("R_fs", &a->sharing, "L_fs", &m->transfer);
	printf("\n  ");
	print_wrapped(stdout,
		      "R_dram and R_fs count accesses of the program that "
		      "reuse a line but no byte of it: R_dram those within a "
		      "thread after the line has left the shared cache, R_fs "
		      "those by another core, of stored data, while the line "
		      "is still in a private cache.",
		      2, 2);
	printf("  %s accesses; shared cache %s,", whole(a->accesses),
	       size_text((double)m->llc_bytes));
	printf(" private %s; latencies %s.\n",
	       size_text((double)m->private_bytes),
	       measured ? "measured here" : "as given");
	printf("  ");
	print_wrapped(stdout,
		      "The sign of G is the prediction; its size is not the "
		      "time saved.",
		      2, 2);
}

int predict_adjacent(const char *dir, const char *latencies, bool json)
{
	struct adjacent_machine machine;
	struct reuse_streams streams;
	struct adjacent result;
	const char *lacks;
	struct profile p;
	int status;

	profile_open(&p, dir);
	status = p.bad_files ? 1 : 0;
	reuse_streams_init(&streams, &p);
	lacks = adjacent_lacks(&streams);
	if (lacks)
		die("predict: cannot predict from %s: %s", safe_text(dir),
		    lacks);
	machine = machine_of(latencies, &streams);
	adjacent_predict(&result, &streams, &machine);
	if (json)
		predict_json(&result, &machine, !latencies);
	else
		print_text(&result, &machine, !latencies);
	reuse_streams_release(&streams);
	profile_release(&p);
	return status;
}
