/* SPDX-License-Identifier: MIT */
/*
 * import - turn a recording of perf into an output directory
 *
 * The files are written to a temporary directory beside the wanted one, and
 * moved into it when all are complete. If anything goes wrong before that,
 * nothing is left behind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/import/collect.h"
#include "analysis/import/import.h"
#include "analysis/import/tasks.h"
#include "analysis/import/write.h"
#include "src/store/outdir.h"

enum {
	PROCESSES_MAX = 4096,
};

struct options {
	const char *file, *out;
	bool samples;
};

/* The temporary directory for the files until they are complete. */
struct scratch {
	int parent, dir; /* descriptors, -1: none */
	char name[64];
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
}

/* Open the directory that will contain @out. */
static int open_parent(const char *out)
{
	char *copy = xstrdup(out), *end = copy + strlen(copy);
	int fd;

	while (end > copy + 1 && end[-1] == '/')
		*--end = 0;
	end = strrchr(copy, '/');
	if (end)
		end[end == copy] = 0;
	fd = open(end ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	return fd;
}

static int scratch_open(struct scratch *s, const char *out, uint64_t number)
{
	*s = (struct scratch){ .parent = open_parent(out), .dir = -1 };
	if (s->parent < 0)
		return -errno;
	snprintf(s->name, sizeof(s->name), ".comdet-import-%016llx",
		 (unsigned long long)number);
	if (mkdirat(s->parent, s->name, 0700)) {
		s->name[0] = 0;
		return -errno;
	}
	s->dir = openat(s->parent, s->name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->dir < 0 ? -errno : 0;
}

/* Move every file to @to, or remove them if @to is -1. Returns 0 or -errno. */
static int scratch_empty(struct scratch *s, int to)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		const char *name = e->d_name;

		if (name[0] == '.')
			continue;
		if (to >= 0 ? renameat(s->dir, name, to, name)
			    : unlinkat(s->dir, name, 0))
			err = -errno;
	}
	if (dir)
		closedir(dir);
	return dir ? err : -EIO;
}

static void scratch_close(struct scratch *s)
{
	if (s->dir >= 0) {
		scratch_empty(s, -1);
		close(s->dir);
	}
	if (s->name[0])
		unlinkat(s->parent, s->name, AT_REMOVEDIR);
	if (s->parent >= 0)
		close(s->parent);
}

static int open_input(const char *file)
{
	int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY)
				   : STDIN_FILENO;

	if (fd < 0)
		die("cannot open %s: %s", safe_text(file), strerror(errno));
	if (fd == STDIN_FILENO && isatty(fd))
		die("standard input is a terminal: give a file, or pipe "
		    "'perf record -o -' into it");
	return fd;
}

static const char *shown_name(const char *file)
{
	return strcmp(file, "-") ? safe_text(file) : "standard input";
}

struct by_samples {
	size_t samples;
	uint32_t process;
};

static int compare_by_samples(const void *a, const void *b)
{
	const struct by_samples *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

struct result {
	uint64_t detections;
	size_t processes;
	uint64_t left_out; /* samples of processes beyond PROCESSES_MAX */
};

/*
 * Write a file for each process, for those with most samples if there are too
 * many.
 */
static int write_all(struct import *im, const struct import_run *run, int dir,
		     struct result *r)
{
	struct by_samples *order = xcalloc(im->processes + 1, sizeof(*order));
	size_t n = 0;
	int err = 0;

	for (uint32_t i = 0; i < im->processes; i++)
		if (im->process[i].samples)
			order[n++] =
				(struct by_samples){ im->process[i].samples,
						     i };
	if (n)
		qsort(order, n, sizeof(*order), compare_by_samples);
	for (size_t i = 0; i < n && !err; i++) {
		if (i >= PROCESSES_MAX) {
			r->left_out += order[i].samples;
			continue;
		}
		if (interrupted)
			err = -EINTR;
		else
			err = import_write(im, run, order[i].process, dir,
					   &r->detections);
		r->processes++;
	}
	free(order);
	return err;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void say_result(const struct import *im, const struct options *o,
		       const struct result *r, const char *path)
{
	uint64_t left = im->records - im->samples;

	fprintf(stderr,
		"reusetrack: %s: %s sample%s of memory accesses in %zu "
		"process%s, %s detection%s\n",
		shown_name(o->file), count_text(im->samples),
		plural(im->samples), r->processes,
		r->processes == 1 ? "" : "es", count_text(r->detections),
		plural(r->detections));
	if (left)
		fprintf(stderr,
			"reusetrack: %s other sample%s left out; the report "
			"says why\n",
			count_text(left), left == 1 ? " was" : "s were");
	if (r->left_out)
		fprintf(stderr,
			"reusetrack: %s sample%s of processes beyond the "
			"first %d were left out\n",
			count_text(r->left_out), plural(r->left_out),
			PROCESSES_MAX);
	fprintf(stderr, "reusetrack: the profile is in %s\n", safe_text(path));
}

/*
 * Write the files, then the directory with its marker, then move the files
 * there.
 */
static void write_directory(struct import *im, const struct options *o)
{
	char run_id[OUTDIR_RUN_ID_BYTES], path[PATH_MAX];
	struct import_run run = { .file = shown_name(o->file),
				  .run_id = run_id };
	struct scratch scratch;
	struct result r = { 0 };
	uint64_t number;
	int err, dir;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		number = (uint64_t)getpid();
	snprintf(run_id, sizeof(run_id), "%016llx", (unsigned long long)number);
	import_tasks(im);
	import_plan(im, &run);
	catch_signals();
	err = scratch_open(&scratch, o->out, number);
	if (err) {
		scratch_close(&scratch);
		die("cannot write beside %s: %s; choose another place with "
		    "-o DIR",
		    safe_text(o->out), strerror(-err));
	}
	err = write_all(im, &run, scratch.dir, &r);
	if (err) {
		scratch_close(&scratch);
		if (interrupted)
			die("interrupted; nothing was written");
		die("%s %s", shown_name(o->file), im->error);
	}
	dir = outdir_create(o->out, run_id, path, sizeof(path));
	err = dir < 0 ? dir : scratch_empty(&scratch, dir);
	scratch_close(&scratch);
	if (err)
		die("cannot write %s: %s", safe_text(o->out), strerror(-err));
	close(dir);
	say_result(im, o, &r, path);
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "samples", no_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const struct option_syntax syntax = { "import", cmd_import.usage,
					      ":o:", options };
	int letter;

	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		switch (letter) {
		case 'o':
			o->out = optarg;
			break;
		case 's':
			o->samples = true;
			break;
		}
	}
	if (optind == argc)
		die("import needs a perf.data file, or '-' for a pipe; "
		    "'reusetrack import --help' says more");
	if (optind + 1 < argc)
		die("import reads one file, not '%s' as well",
		    safe_text(argv[optind + 1]));
	o->file = argv[optind];
}

static int run_import(int argc, char **argv)
{
	struct options o = { .out = "out" };
	struct import im = { 0 };
	int fd, err;

	parse(argc, argv, &o);
	fd = open_input(o.file);
	if (o.samples)
		im.print = stdout;
	err = import_collect(&im, fd);
	if (err)
		die("%s %s", shown_name(o.file), im.error);
	if (!o.samples)
		write_directory(&im, &o);
	import_release(&im);
	if (fd != STDIN_FILENO)
		close(fd);
	return 0;
}

const struct command cmd_import = {
	.name = "import",
	.summary = "turn a recording of perf into a profile",
	.usage =
		"usage: reusetrack import [-o DIR] FILE\n"
		"       reusetrack import --samples FILE\n"
		"\n"
		"Turn the memory samples of a perf.data file, recorded by "
		"'perf mem record',\n"
		"'perf c2c record' or 'perf record -d' on this or another "
		"x86-64 machine, into\n"
		"a directory that 'reusetrack report' reads. FILE may be '-' "
		"for what\n"
		"'perf record -o -' writes to a pipe.\n"
		"\n"
		"  -o, --output DIR  the directory to write; default out\n"
		"      --samples     print the samples, a line each, and write "
		"nothing\n",
	.run = run_import,
};
