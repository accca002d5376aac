/* SPDX-License-Identifier: MIT */
/*
 * report - say what a profile found
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/pager.h"
#include "analysis/attribution/sighted.h"
#include "analysis/base/util.h"
#include "analysis/html/html.h"
#include "analysis/placement/mapping.h"
#include "analysis/profile/beside.h"
#include "analysis/report/json.h"
#include "analysis/report/reuse_svg.h"
#include "analysis/report/reuse_words.h"
#include "analysis/report/text.h"
#include "analysis/symbols/jit_files.h"
#include "src/store/outdir.h"

enum {
	TOP_DEFAULT = 10,
	THREAD_ROWS_DEFAULT = 16,
	TOP_MAX = 1000000
};

struct options {
	bool json, symbols, mapping, pager, strips;
	enum colour_mode colour;
	size_t top, thread_rows;
	struct reuse_filter filter;
	const char *output, *svg, *html, *topology, *dir;
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "top", required_argument, NULL, 'n' },
	{ "thread", required_argument, NULL, 't' },
	{ "kind", required_argument, NULL, 'k' },
	{ "color", required_argument, NULL, 'c' },
	{ "no-symbols", no_argument, NULL, 'S' },
	{ "output", required_argument, NULL, 'o' },
	{ "svg", required_argument, NULL, 'g' },
	{ "html", required_argument, NULL, 'H' },
	{ "time", no_argument, NULL, 'T' },
	{ "mapping", optional_argument, NULL, 'M' },
	{ "no-pager", no_argument, NULL, 'P' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static uint64_t parse_number(const char *name, const char *s, uint64_t low,
			     uint64_t high)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno || end == s || *end || *s == '-' || n < low || n > high)
		die("report: %s must be a whole number from %llu to %llu, not "
		    "'%s'",
		    name, (unsigned long long)low, (unsigned long long)high,
		    safe_text(s));
	return n;
}

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "report", cmd_report.usage,
					      ":jn:t:k:o:h", long_options };
	int letter, mode;

	*o = (struct options){ .symbols = true,
			       .pager = true,
			       .colour = COLOUR_AUTO,
			       .top = TOP_DEFAULT,
			       .thread_rows = THREAD_ROWS_DEFAULT,
			       .filter = { .thread = -1 } };
	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		switch (letter) {
		case 'j':
			o->json = true;
			break;
		case 'n':
			o->top = parse_number("--top", optarg, 1, TOP_MAX);
			o->thread_rows = o->top;
			break;
		case 't':
			o->filter.thread = (int64_t)parse_number(
				"--thread", optarg, 0, UINT32_MAX);
			break;
		case 'k':
			o->filter.pairings = reuse_pairings_parse(optarg);
			if (!o->filter.pairings)
				die("report: --kind takes some of RAR, RAW, "
				    "WAR and WAW, separated by commas, not "
				    "'%s'",
				    safe_text(optarg));
			break;
		case 'c':
			mode = colour_parse(optarg);
			if (mode < 0)
				die("report: --color is auto, always or never, "
				    "not '%s'",
				    safe_text(optarg));
			o->colour = mode;
			break;
		case 'S':
			o->symbols = false;
			break;
		case 'o':
			o->output = optarg;
			break;
		case 'g':
			o->svg = optarg;
			break;
		case 'H':
			o->html = optarg;
			break;
		case 'T':
			o->strips = true;
			break;
		case 'M':
			o->mapping = true;
			o->topology = optarg;
			break;
		case 'P':
			o->pager = false;
			break;
		}
	}
	if (o->mapping && (o->json || o->html || o->svg))
		die("report: --mapping prints a text of its own, without "
		    "--json, --html and --svg");
	o->dir = profile_beside(directory_argument("report", argc, argv));
}

static bool to_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
}

/* Keep the file's content until empty_output(). */
static FILE *open_output(const char *path)
{
	FILE *f = to_stdout(path) ? stdout : fopen(path, "ae");

	if (!f)
		die("cannot write %s: %s", safe_text(path), strerror(errno));
	return f;
}

/* EINVAL: a pipe or a device, which has no length. */
static void empty_output(FILE *f, const char *path)
{
	if (!to_stdout(path) && ftruncate(fileno(f), 0) && errno != EINVAL)
		die("cannot write %s: %s", safe_text(path), strerror(errno));
}

static void close_output(FILE *f, const char *path)
{
	if (to_stdout(path))
		return; /* main() closes it */
	if (ferror(f) || fclose(f))
		die("cannot write %s: %s", safe_text(path), strerror(errno));
}

static void write_svg(FILE *f, const char *path,
		      const struct report_reuse *reuse)
{
	empty_output(f, path);
	report_reuse_svg(f, reuse);
	close_output(f, path);
}

static void write_html(FILE *f, const char *path, struct report *r)
{
	empty_output(f, path);
	report_html(f, r);
	close_output(f, path);
	if (!to_stdout(path))
		fprintf(stderr,
			"reusetrack: %s shows the report in a browser\n",
			safe_text(path));
}

/* Until now they were where the program left them, if record did not run. */
static void save_jit_files(const struct profile *p, const char *path)
{
	int dirfd = outdir_open(path, NULL);

	if (dirfd < 0)
		return;
	jit_files_save(p, dirfd);
	close(dirfd);
}

static int run_report(int argc, char **argv)
{
	struct sharing_cost cost;
	struct report_reuse reuse;
	struct sighted sighted;
	struct report r = { 0 };
	struct profile p;
	struct options o;
	FILE *svg, *html;
	int status;

	parse_options(argc, argv, &o);
	profile_open(&p, o.dir);
	if (o.filter.thread >= (int64_t)p.threads)
		die("report: there is no thread %lld; the ids go from 0 to "
		    "%zu",
		    (long long)o.filter.thread, p.threads - 1);
	status = p.bad_files ? 1 : 0;
	r.profile = &p;
	save_jit_files(&p, o.dir);
	r.symbols = symbols_new(o.symbols, o.dir);
	r.cost = sharing_cost_read(&cost, o.dir) ? &cost : NULL;
	r.top = o.top;
	r.thread_rows = o.thread_rows;
	r.thread = o.filter.thread;
	r.strips = o.strips;
	tally_init(&r.tally, &p, r.symbols, o.filter.thread);
	sighted_init(&sighted, &p, r.symbols, o.filter.thread);
	r.sighted = &sighted;
	report_reuse_init(&reuse, &p, r.symbols, &o.filter);
	if (o.filter.pairings && !reuse.streams.streams)
		die("report: --kind needs reuse data, and there is none; "
		    "record with -m reuse");
	if (o.svg && !report_reuse_curves(&reuse))
		die("report: there are no miss ratio curves to draw: a curve "
		    "needs reuses of cache lines, counted in accesses; record "
		    "with -m reuse and -s emu, instr, pebs or ibs, not by the "
		    "clock and not with --watch hw");
	/*
	 * Everything that can be refused has been checked; now the file may
	 * change.
	 */
	r.reuse = &reuse;
	r.out = open_output(o.output);
	svg = o.svg ? open_output(o.svg) : NULL;
	html = o.html ? open_output(o.html) : NULL;
	empty_output(r.out, o.output);
	r.colour = colour_wanted(o.colour, r.out);
	if (o.pager && !o.json && !o.output && !o.html &&
	    !(svg && to_stdout(o.svg)))
		pager_begin();
	if (svg)
		write_svg(svg, o.svg, &reuse);
	if (html)
		write_html(html, o.html, &r);
	if (o.mapping)
		mapping_print(r.out, &r.tally, o.topology);
	else if (html && !o.output && !o.json)
		; /* the page has the text */
	else if (o.json)
		status |= report_json(&r) ? 1 : 0;
	else
		report_text(&r);
	if (o.output)
		close_output(r.out, o.output);
	report_reuse_release(&reuse);
	sighted_release(&sighted);
	tally_release(&r.tally);
	symbols_free(r.symbols);
	profile_release(&p);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show which threads shared cache lines, and where",
	.usage = "usage: reusetrack report [OPTION...] [DIR]\n\n"
		 "Prints what was found in the output directory DIR, default "
		 "out. The program\n"
		 "may still be running. The exit status is 1 if a file could "
		 "not be read.\n\n"
		 "      --json          one JSON object instead of text\n"
		 "  -n, --top N         rows of each table at most; default "
		 "10\n"
		 "  -t, --thread ID     only sharing that thread ID took part "
		 "in, and its reuse\n"
		 "  -k, --kind LIST     only pairs and sites of these reuses: "
		 "RAR, RAW, WAR, WAW\n"
		 "  -o, --output FILE   write to FILE; -, also of the next "
		 "two, is the standard\n"
		 "                      output\n"
		 "      --svg FILE      also draw the miss ratio curves, as "
		 "SVG\n"
		 "      --html FILE     write a page for a browser instead of "
		 "the text\n"
		 "      --time          draw sharing over time, also if it was "
		 "even\n"
		 "      --mapping[=TOPOLOGY]  which thread on which core, from "
		 "the matrix; of this\n"
		 "                      machine, lstopo's XML or "
		 "'package:2 l3:2 core:4 pu:1'\n"
		 "      --no-pager      on a terminal, do not start $PAGER, "
		 "default less\n"
		 "      --no-symbols    modules and offsets, no names\n"
		 "      --color WHEN    auto, always or never\n",
	.run = run_report,
};
