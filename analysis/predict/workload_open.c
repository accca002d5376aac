/* SPDX-License-Identifier: MIT */
/*
 * workload_open - the profile that a path names
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload_file.h"
#include "workload_open.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"
#include "src/store/outdir.h"
#include "src/trace/trace_format.h"

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* A file in @path whose name ends in @end, malloc'ed; *@n: of how many. */
static char *find_in(const char *path, const char *end, int *n)
{
	DIR *dir = opendir(path);
	char *found = NULL;
	struct dirent *e;

	*n = 0;
	while (dir && (e = readdir(dir)))
		if (ends_in(e->d_name, end) && !(*n)++)
			found = xasprintf("%s/%s", path, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* True if @path can be read as a file, which does not begin like a trace. */
static bool is_no_trace(const char *path)
{
	int fd = regular_file_open(path);
	char magic[sizeof(TRACE_MAGIC)] = "";
	bool no = fd >= 0 && (read(fd, magic, sizeof(magic)) != sizeof(magic) ||
			      memcmp(magic, TRACE_MAGIC, sizeof(magic)));

	if (fd >= 0)
		close(fd);
	return no;
}

static bool has_trace(const char *path)
{
	int n;

	free(find_in(path, OUTDIR_TRACE, &n));
	return n;
}

/* Collect from the trace @path. Returns 0, or -EINVAL with @error set. */
static int collect(struct workload *w, const char *path, char *error)
{
	struct trace t;
	int err = trace_open(&t, path, error);

	if (err)
		return err;
	if (t.warning)
		warn("%s: %s", safe_text(path), t.warning);
	err = workload_collect(w, &t, 0, error);
	trace_close(&t);
	return err;
}

void workload_open(struct workload *w, const char *path, const char *verb)
{
	char error[WORKLOAD_ERROR_BYTES], *found = NULL;
	struct stat st;
	int n = 0;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		found = find_in(path, OUTDIR_PROFILE, &n);
		if (n > 1)
			die("%s: %s has %d profiles; name one of them", verb,
			    safe_text(path), n);
		if (!n && !has_trace(path))
			die("%s: %s holds no profile and no trace; record one "
			    "with -s emu -m profile",
			    verb, safe_text(path));
	}
	if (!found)
		found = xstrdup(path);
	if (!workload_file_is(found) && is_no_trace(found))
		die("%s: %s is no profile and no trace; record a profile with "
		    "-s emu -m profile",
		    verb, safe_text(found));
	if (workload_file_is(found) ? workload_file_read(w, found, error)
				    : collect(w, found, error))
		die("%s: %s: %s", verb, safe_text(found), error);
	free(found);
}

/* @name is the directory as the user would type it. */
static void convert(const char *trace, const char *name, bool only)
{
	int stem = (int)(strlen(trace) - strlen(OUTDIR_TRACE));
	char *to = xasprintf("%.*s%s", stem, trace, OUTDIR_PROFILE);
	char *shown = xasprintf("%s/%s", name, safe_text(base_name(to)));
	char error[WORKLOAD_ERROR_BYTES];
	struct workload w;

	if (collect(&w, trace, error)) {
		warn("no profile of %s: %s", safe_text(trace), error);
	} else {
		if (workload_file_write(&w, to, error))
			warn("cannot write %s: %s", shown, error);
		else if (unlink(trace))
			warn("cannot remove %s", safe_text(trace));
		else
			warn("%zu thread%s in the profile %s; next: reusetrack "
			     "predict --machine golden-c3 %s",
			     w.threads, w.threads == 1 ? "" : "s", shown,
			     only ? name : shown);
		workload_release(&w);
	}
	free(shown);
	free(to);
}

void workload_convert(const char *path, const char *name)
{
	DIR *dir = opendir(path);
	char **trace = NULL, *typed = xstrdup(name);
	size_t n = 0, room = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (ends_in(e->d_name, OUTDIR_TRACE)) {
			trace = grow(trace, n, &room, sizeof(*trace));
			trace[n++] = xasprintf("%s/%s", path, e->d_name);
		}
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < n; i++) {
		convert(trace[i], typed, n == 1);
		free(trace[i]);
	}
	free(trace);
	free(typed);
}
