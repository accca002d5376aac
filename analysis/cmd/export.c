/* SPDX-License-Identifier: MIT */
/*
 * export - a profile in the formats of other tools
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/json_build.h"
#include "analysis/base/options.h"
#include "analysis/export/csv.h"
#include "analysis/export/flame.h"
#include "analysis/export/pprof.h"
#include "analysis/export/sqlite.h"
#include "analysis/profile/beside.h"
#include "analysis/report/json.h"
#include "analysis/report/reuse.h"

enum format {
	FORMAT_CSV,
	FORMAT_SQLITE,
	FORMAT_COLLAPSED,
	FORMAT_SPEEDSCOPE,
	FORMAT_PPROF,
	FORMATS
};

static const char *const formats[FORMATS] = {
	[FORMAT_CSV] = "csv",
	[FORMAT_SQLITE] = "sqlite",
	[FORMAT_COLLAPSED] = "collapsed",
	[FORMAT_SPEEDSCOPE] = "speedscope",
	[FORMAT_PPROF] = "pprof",
};

struct options {
	enum format format;
	bool list, symbols;
	const char *table, *output, *dir;
};

static const struct option long_options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "list", no_argument, NULL, 'l' },
	{ "no-symbols", no_argument, NULL, 'S' },
	{ "output", required_argument, NULL, 'o' },
	{ "table", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static enum format parse_format(const char *s)
{
	for (int i = 0; i < FORMATS; i++)
		if (!strcmp(s, formats[i]))
			return i;
	die("export: --format is csv, sqlite, collapsed, speedscope or pprof, "
	    "not '%s'",
	    safe_text(s));
}

static void check_options(const struct options *o)
{
	if (o->format != FORMAT_CSV && (o->table || o->list))
		die("export: --table and --list go with --format csv");
	if (o->format == FORMAT_CSV && !o->output && !o->table && !o->list)
		die("export: CSV is several tables; give -o DIR for all, "
		    "--table NAME for one, or --list");
	if (o->format == FORMAT_SQLITE && !o->output)
		die("export: a database needs a name: give -o FILE");
	if (o->format == FORMAT_PPROF && !o->output && isatty(STDOUT_FILENO))
		die("export: pprof's format is not text; give -o FILE");
}

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "export", cmd_export.usage,
					      ":f:lo:t:h", long_options };
	int letter;

	*o = (struct options){ .format = FORMAT_CSV, .symbols = true };
	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		if (letter == 'f')
			o->format = parse_format(optarg);
		else if (letter == 'l')
			o->list = true;
		else if (letter == 'S')
			o->symbols = false;
		else if (letter == 'o')
			o->output = strcmp(optarg, "-") ? optarg : NULL;
		else if (letter == 't')
			o->table = optarg;
	}
	o->dir = profile_beside(directory_argument("export", argc, argv));
	check_options(o);
}

/* Standard output if @path is NULL. */
static FILE *open_file(const char *path)
{
	FILE *f = stdout;

	if (path && !(f = fopen(path, "we")))
		die("cannot write %s: %s", safe_text(path), strerror(errno));
	return f;
}

static void close_file(FILE *f, const char *path)
{
	const char *name = path ? safe_text(path) : "standard output";

	if (fflush(f) || ferror(f) || (path && fclose(f)))
		die("cannot write %s: %s", name, strerror(errno));
}

static void read_tables(struct tables *t, struct report *r)
{
	json_t *report;
	char *text;
	size_t size;

	r->out = open_memstream(&text, &size);
	if (!r->out || report_json(r) || fclose(r->out))
		die("out of memory");
	report = json_loads(text, 0, NULL);
	if (!report)
		die("out of memory");
	tables_init(t, report);
	json_decref(report);
	free(text);
}

static void list_tables(const struct tables *t)
{
	printf("%-40s %10s %8s\n", "table", "rows", "columns");
	for (size_t i = 0; i < t->tables; i++)
		printf("%-40s %10zu %8zu\n", safe_text(t->table[i].name),
		       t->table[i].rows, t->table[i].columns);
	close_file(stdout, NULL);
}

static void write_table(const struct options *o, const struct tables *t)
{
	const struct table *table = tables_find(t, o->table);
	FILE *f;

	if (!table)
		die("export: there is no table '%s' in this profile; "
		    "reusetrack export --list %s names them",
		    safe_text(o->table), safe_text(o->dir));
	f = open_file(o->output);
	csv_write(f, table);
	close_file(f, o->output);
}

static void write_all(const char *dir, const struct tables *t)
{
	if (mkdir(dir, 0777) && errno != EEXIST)
		die("cannot make %s: %s", safe_text(dir), strerror(errno));
	for (size_t i = 0; i < t->tables; i++) {
		char *path = xasprintf("%s/%s.csv", dir, t->table[i].name);
		FILE *f = open_file(path);

		csv_write(f, &t->table[i]);
		close_file(f, path);
		free(path);
	}
	fprintf(stderr, "reusetrack: wrote %zu tables into %s\n", t->tables,
		safe_text(dir));
}

/* Into another file first, so that a failure leaves no half of a database. */
static void write_database(const char *path, const struct tables *t)
{
	const char *why;
	char *part;

	if (!access(path, F_OK))
		die("export: %s exists; a database is not overwritten",
		    safe_text(path));
	part = xasprintf("%s.part", path);
	unlink(part);
	why = sqlite_write(part, t);
	if (!why && rename(part, path))
		why = strerror(errno);
	if (why) {
		unlink(part);
		die("cannot write %s: %s", safe_text(path), why);
	}
	free(part);
	fprintf(stderr, "reusetrack: wrote %zu tables into %s\n", t->tables,
		safe_text(path));
}

static void export_tables(const struct options *o, struct report *r)
{
	struct tables t;

	read_tables(&t, r);
	if (o->format == FORMAT_SQLITE)
		write_database(o->output, &t);
	else if (o->list)
		list_tables(&t);
	else if (o->table)
		write_table(o, &t);
	else
		write_all(o->output, &t);
	tables_release(&t);
}

static void export_stacks(const struct options *o, const struct report *r)
{
	struct stacks s;
	FILE *f;

	stacks_init(&s, r);
	if (!s.stacks)
		die("export: no detections in %s, so there is nothing to draw",
		    safe_text(o->dir));
	f = open_file(o->output);
	if (o->format == FORMAT_COLLAPSED)
		flame_collapsed(f, &s);
	else if (o->format == FORMAT_PPROF)
		pprof_write(f, &s, r);
	else if (flame_speedscope(f, &s))
		die("cannot write %s", safe_text(o->output));
	close_file(f, o->output);
	stacks_release(&s);
}

static int run_export(int argc, char **argv)
{
	struct reuse_filter filter = { .thread = -1 };
	struct report_reuse reuse;
	struct sharing_cost cost;
	struct options o;
	struct profile p;
	struct report r = { .profile = &p,
			    .reuse = &reuse,
			    .top = SIZE_MAX,
			    .thread_rows = SIZE_MAX,
			    .thread = -1 };

	parse_options(argc, argv, &o);
	profile_open(&p, o.dir);
	r.cost = sharing_cost_read(&cost, o.dir) ? &cost : NULL;
	r.symbols = symbols_new(o.symbols, o.dir);
	tally_init(&r.tally, &p, r.symbols, r.thread);
	report_reuse_init(&reuse, &p, r.symbols, &filter);
	if (o.format == FORMAT_CSV || o.format == FORMAT_SQLITE)
		export_tables(&o, &r);
	else
		export_stacks(&o, &r);
	report_reuse_release(&reuse);
	tally_release(&r.tally);
	symbols_free(r.symbols);
	profile_release(&p);
	return p.bad_files ? 1 : 0;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "write a profile in the formats of other tools",
	.usage =
		"usage: reusetrack export [OPTION...] [DIR]\n\n"
		"Writes what was found in the output directory DIR, default "
		"out.\n\n"
		"  -f, --format FORMAT  csv: the tables of report --json "
		"(default)\n"
		"                       sqlite: the same as one database\n"
		"                       collapsed: stacks for flamegraph.pl\n"
		"                       speedscope: stacks for speedscope.app\n"
		"                       pprof: stacks for go tool pprof\n"
		"  -o, --output PATH    a file; of csv without --table a "
		"directory\n"
		"  -t, --table NAME     csv: only this table\n"
		"  -l, --list           csv: only the names of the tables\n"
		"      --no-symbols     modules and offsets, no names\n",
	.run = run_export,
};
