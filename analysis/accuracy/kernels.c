/* SPDX-License-Identifier: MIT */
/*
 * kernels - small programs, and what another simulator made of them
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"
#include "run.h"
#include "analysis/base/library.h"
#include "analysis/base/util.h"

/* As the reference's own script builds them: its addresses are in the results.
 */
#define COMPILE                                                                \
	"gcc", "-O2", "-static", "-fno-pie", "-no-pie", "-march=x86-64",       \
		"-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns",   \
		"-fcf-protection=none", "-pthread"

enum {
	PATH_BYTES = 4096
};

static __attribute__((noreturn)) void skip(const struct kernels *k,
					   const char *why, const char *path)
{
	warn("accuracy: suite %s: %s %s", k->suite, why, safe_text(path));
	exit(KERNELS_SKIPPED);
}

static bool is_there(const char *folder)
{
	char *path = xasprintf("%s/results.csv", folder);
	bool there = !access(path, R_OK);

	free(path);
	return there;
}

/* Beside the project, from where we are or from where reusetrack is. */
static char *find_folder(const struct kernels *k)
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
	skip(k, "the reference results are not here; name their folder with",
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

char *kernels_trace(const struct kernels *k, const char *name)
{
	char *source = xasprintf("%s/kernels/%s.c", k->folder, name);
	char *program = xasprintf("%s/%s", k->work, name);
	char *trace = xasprintf("%s/%s.trace", k->work, name);
	char *const compile[] = { COMPILE, "-o", program, source, NULL };
	char *const record[] = {
		"reusetrack", "record", "-s",    "emu",
		"-m",         "trace",  "--roi", "roi_begin,roi_end",
		"-o",         trace,    "--",    program,
		NULL
	};

	if (command(compile, "gcc"))
		skip(k, "gcc cannot build", source);
	if (command(record, "/proc/self/exe"))
		die("cannot record %s", safe_text(program));
	unlink(program);
	free(program);
	free(source);
	return trace;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void list(struct kernels *k)
{
	char *path = xasprintf("%s/kernels", k->folder);
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir && k->n < KERNELS_MAX && (e = readdir(dir))) {
		size_t bytes = strlen(e->d_name);

		if (bytes > 2 && !strcmp(e->d_name + bytes - 2, ".c"))
			k->name[k->n++] =
				xasprintf("%.*s", (int)bytes - 2, e->d_name);
	}
	if (dir)
		closedir(dir);
	if (!k->n)
		skip(k, "there are no sources in", path);
	qsort(k->name, k->n, sizeof(*k->name), by_name);
	free(path);
}

void kernels_open(struct kernels *k, const char *suite, const char *folder,
		  const char *keep)
{
	char *table;

	memset(k, 0, sizeof(*k));
	k->suite = suite;
	k->folder = folder ? xstrdup(folder) : find_folder(k);
	if (!is_there(k->folder))
		skip(k, "there is no results.csv in", k->folder);
	if (!in_path("gcc"))
		skip(k, "the programs need", "gcc");
	table = xasprintf("%s/results.csv", k->folder);
	reference_read(&k->reference, table);
	free(table);
	list(k);
	k->work = accuracy_directory(keep);
}

void kernels_close(struct kernels *k)
{
	while (k->n)
		free(k->name[--k->n]);
	reference_release(&k->reference);
	free(k->folder);
}
