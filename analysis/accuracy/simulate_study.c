/* SPDX-License-Identifier: MIT */
/*
 * simulate_study - the simulator against a reference simulator
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulate_study.h"
#include "judge.h"
#include "reference.h"
#include "run.h"
#include "analysis/base/library.h"
#include "analysis/base/util.h"
#include "analysis/model/simulate.h"

#define SUITE "simulate"
/* As the reference's own script builds them: its addresses are in the results.
 */
#define COMPILE                                                                \
	"gcc", "-O2", "-static", "-fno-pie", "-no-pie", "-march=x86-64",       \
		"-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns",   \
		"-fcf-protection=none", "-pthread"

/* What the reference and this project agreed on before anything was built. */
#define MEDIAN        0.02
#define NEAR          0.05
#define NEAR_SHARE    (109.0 / 115)
#define WORST         0.15
#define FOUR_THREADS  0.02
#define CONTENDED     0.30
#define MISSES        0.01
#define MISSES_LINES  5
#define CUT_OFF_LIMIT 600 /* instructions that the reference leaves out */

enum {
	CONFIGS = 5,
	PREDICTORS_COMPARED = 2,
	KERNELS_MAX = 256,
	PATH_BYTES = 4096,
};

static const char *const levels[REFERENCE_MISSES] = { "L1D", "L2", "LLC" };
static const char *const compared[PREDICTORS_COMPARED] = { "pentium_m",
							   "one_bit" };

struct study {
	struct accuracy *all;
	struct reference reference;
	char *folder;
	const char *work; /* where programs and traces go */
	double error[KERNELS_MAX * CONFIGS];
	size_t errors;
	size_t misses, misses_off;
};

static __attribute__((noreturn)) void skip(const char *why, const char *path)
{
	warn("accuracy: suite simulate: %s %s", why, safe_text(path));
	exit(SIMULATE_STUDY_SKIPPED);
}

static bool is_there(const char *folder)
{
	char *path = xasprintf("%s/results.csv", folder);
	bool there = !access(path, R_OK);

	free(path);
	return there;
}

/* Beside the project, from where we are or from where reusetrack is. */
static char *find_folder(void)
{
	char exe[PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *path = xstrdup("../shared/data/golden"), *slash;

	if (is_there(path))
		return path;
	free(path);
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	path = xasprintf("%s/../../shared/data/golden", exe);
	if (is_there(path))
		return path;
	skip("the reference results are not here; name their folder with",
	     "--reference DIR");
}

/* Run a command without output; its exit status, or -1. */
static int command(char *const argv[], const char *program)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!pid) {
		accuracy_clear_environment();
		accuracy_become(open("/dev/null", O_RDWR | O_CLOEXEC), 0);
		accuracy_become(0, 1);
		accuracy_become(0, 2);
		execvp(program, argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Build and trace @kernel; the directory of the trace, malloc'ed. */
static char *record(const struct study *s, const char *kernel)
{
	char *source = xasprintf("%s/kernels/%s.c", s->folder, kernel);
	char *program = xasprintf("%s/%s", s->work, kernel);
	char *trace = xasprintf("%s/%s.trace", s->work, kernel);
	char *const compile[] = { COMPILE, "-o", program, source, NULL };
	char *const record[] = {
		"reusetrack", "record", "-s",    "emu",
		"-m",         "trace",  "--roi", "roi_begin,roi_end",
		"-o",         trace,    "--",    program,
		NULL
	};

	if (command(compile, "gcc"))
		skip("gcc cannot build", source);
	if (command(record, "/proc/self/exe"))
		die("cannot record %s", safe_text(program));
	unlink(program);
	free(program);
	free(source);
	return trace;
}

static struct accuracy_row *add_row(struct study *s, const char *name,
				    const char *metric, double measured,
				    double truth)
{
	struct accuracy_row *r = accuracy_row(s->all, SUITE, name, metric);

	r->source = "simulate";
	r->measured = measured;
	r->truth = truth;
	r->error = truth > 0 ? measured / truth - 1 : NAN;
	return r;
}

static void simulate_on(struct simulated *result, const struct trace *t,
			const char *config, const char *predictor)
{
	char *name = xasprintf("golden-%s", config);
	char *change = xasprintf("core.predictor=%s", predictor);
	char error[MACHINE_ERROR_BYTES];
	struct machine m;

	if (machine_read(&m, name, error) || machine_set(&m, change, error) ||
	    simulate(result, t, &m, error))
		die("accuracy: %s", error);
	free(change);
	free(name);
}

static void compare_misses(struct study *s, const struct simulated *result,
			   const struct reference_row *truth, const char *name)
{
	const struct caches_counts *c = &result->thread[0].caches;
	const uint64_t own[] = { c->l1d_misses, c->l2_misses, c->llc_misses };

	for (int i = 0; i < REFERENCE_MISSES; i++) {
		double off = fabs((double)own[i] - truth->miss[i]);
		struct accuracy_row *r;

		s->misses++;
		if (off <= MISSES_LINES || off <= MISSES * truth->miss[i])
			continue;
		s->misses_off++;
		r = add_row(s, name, levels[i], (double)own[i], truth->miss[i]);
		accuracy_bound(r, MISSES);
	}
}

/* One thread on one machine with one predictor. */
static void compare_one(struct study *s, const struct trace *t,
			const char *kernel, const char *config,
			const char *predictor)
{
	const struct reference_row *truth =
		reference_find(&s->reference, kernel, config, predictor, 1, 0);
	char *name = xasprintf("%s %s %s", kernel, config, predictor);
	struct simulated result;
	struct accuracy_row *r;

	if (truth) {
		simulate_on(&result, t, config, predictor);
		r = add_row(s, name, "cycles", (double)result.cycles,
			    truth->cycles);
		r->threads = 1;
		if (fabs((double)result.instructions - truth->instructions) >
		    CUT_OFF_LIMIT) {
			warn("%s: another compiler made other code of it; it "
			     "is not judged",
			     kernel);
		} else {
			accuracy_bound(r, WORST);
			compare_misses(s, &result, truth, name);
			if (predictor == compared[0])
				s->error[s->errors++] = fabs(r->error);
		}
		simulated_release(&result);
	}
	free(name);
}

static bool is_contended(const char *kernel)
{
	return !strcmp(kernel, "mt_atomic") ||
	       !strcmp(kernel, "mt_falseshare") ||
	       !strcmp(kernel, "mt_writer_readers");
}

/* Four threads: until the last one has ended. */
static void compare_four(struct study *s, const struct trace *t,
			 const char *kernel, const char *config)
{
	char *name = xasprintf("%s %s", kernel, config);
	const struct reference_row *row;
	struct simulated result;
	struct accuracy_row *r;
	double truth = 0;

	for (uint32_t core = 0;
	     (row = reference_find(&s->reference, kernel, config, compared[0],
				   (uint32_t)t->threads, core));
	     core++)
		truth = fmax(truth, row->cycles);
	if (truth > 0) {
		simulate_on(&result, t, config, compared[0]);
		r = add_row(s, name, "cycles", (double)result.cycles, truth);
		r->threads = (uint32_t)t->threads;
		accuracy_bound(r,
			       is_contended(kernel) ? CONTENDED : FOUR_THREADS);
		simulated_release(&result);
	}
	free(name);
}

static void compare_kernel(struct study *s, const char *kernel)
{
	char *dir = record(s, kernel);
	char error[TRACE_ERROR_BYTES];
	struct trace t;

	if (trace_open(&t, dir, error))
		die("accuracy: %s: %s", safe_text(dir), error);
	for (int i = 1; i <= CONFIGS; i++) {
		char *config = xasprintf("c%d", i);

		if (s->all->short_form && i != 3) {
			free(config);
			continue;
		}
		if (t.threads > 1)
			compare_four(s, &t, kernel, config);
		for (int k = 0; t.threads == 1 && k < PREDICTORS_COMPARED; k++)
			compare_one(s, &t, kernel, config, compared[k]);
		free(config);
	}
	trace_close(&t);
	accuracy_remove(dir);
	free(dir);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The names of the sources, malloc'ed, in their order. */
static size_t list_kernels(const char *folder, char *kernel[KERNELS_MAX])
{
	char *path = xasprintf("%s/kernels", folder);
	DIR *dir = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (dir && n < KERNELS_MAX && (e = readdir(dir))) {
		size_t bytes = strlen(e->d_name);

		if (bytes > 2 && !strcmp(e->d_name + bytes - 2, ".c"))
			kernel[n++] =
				xasprintf("%.*s", (int)bytes - 2, e->d_name);
	}
	if (dir)
		closedir(dir);
	if (!n)
		skip("there are no sources in", path);
	qsort(kernel, n, sizeof(*kernel), by_name);
	free(path);
	return n;
}

static void sum_up(struct study *s)
{
	struct accuracy_row *r;
	size_t near = 0;
	double worst = 0;

	if (!s->errors)
		return;
	for (size_t i = 0; i < s->errors; i++) {
		near += s->error[i] <= NEAR;
		worst = fmax(worst, s->error[i]);
	}
	r = add_row(s, "all, one thread", "median error",
		    accuracy_median(s->error, s->errors), NAN);
	r->error = r->measured;
	accuracy_bound(r, MEDIAN);
	r = add_row(s, "all, one thread", "largest error", worst, NAN);
	r->error = worst;
	accuracy_bound(r, WORST);
	r = add_row(s, "points within 5 %", "points", (double)near,
		    (double)s->errors);
	accuracy_verdict(r,
			 (double)near >= NEAR_SHARE * (double)s->errors - 1e-9);
	r = add_row(s, "misses within 1 % or 5 lines", "points",
		    (double)(s->misses - s->misses_off), (double)s->misses);
	accuracy_verdict(r, !s->misses_off);
}

void simulate_study_run(struct accuracy *all, const char *folder)
{
	static struct study s;
	char *kernel[KERNELS_MAX], *table;
	size_t n;

	s.all = all;
	s.folder = folder ? xstrdup(folder) : find_folder();
	if (!is_there(s.folder))
		skip("there is no results.csv in", s.folder);
	if (!in_path("gcc"))
		skip("the programs need", "gcc");
	table = xasprintf("%s/results.csv", s.folder);
	reference_read(&s.reference, table);
	n = list_kernels(s.folder, kernel);
	s.work = accuracy_directory(all->keep);
	for (size_t i = 0; i < n; i++) {
		compare_kernel(&s, kernel[i]);
		free(kernel[i]);
	}
	sum_up(&s);
	reference_release(&s.reference);
	free(s.folder);
	free(table);
}
