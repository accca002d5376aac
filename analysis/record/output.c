/* SPDX-License-Identifier: MIT */
/*
 * output - the directory of a recording, and what is said of it
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "output.h"
#include "analysis/base/util.h"
#include "analysis/profile/foreign.h"
#include "src/store/outdir.h"
#include "src/store/rank.h"

static void new_run_id(char *id, size_t size)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		die("cannot get random bytes: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes) && 2 * i + 2 < size; i++)
		sprintf(id + 2 * i, "%02x", bytes[i]);
}

static const char *mend_out(int error)
{
	switch (error) {
	case EACCES:
	case EROFS:
	case EPERM:
		return "; choose a directory that you may write with -o";
	case ENOSPC:
	case EDQUOT:
		return "; make room, or write elsewhere with -o";
	case ENOENT:
		return "; make the directory above it first";
	case EEXIST:
		return "; remove some of the earlier ones";
	default:
		return "; choose another one with -o";
	}
}

bool output_remove_if_empty(int dirfd, const char *path)
{
	DIR *dir = fdopendir(dup(dirfd));
	struct dirent *e;
	bool empty = true;

	if (!dir)
		return false;
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, OUTDIR_MARKER))
			empty = false;
	closedir(dir);
	return empty && !unlinkat(dirfd, OUTDIR_MARKER, 0) && !rmdir(path);
}

const char *output_name(const char *path)
{
	char cwd[PATH_MAX];
	size_t n;

	if (!getcwd(cwd, sizeof(cwd)))
		return safe_text(path);
	n = strlen(cwd);
	/* A name that begins with "-" would look like an option. */
	if (!strncmp(path, cwd, n) && path[n] == '/' && path[n + 1] &&
	    path[n + 1] != '-')
		path += n + 1;
	return safe_text(path);
}

/* The directory that the user named, if the run did not get it. */
static char *refused;

/* The last line names the directory; this one says why it is another one. */
static void say_where(const char *out)
{
	if (refused)
		warn("%s was left alone: it is not an earlier recording, or "
		     "one that still goes on; this one is in %s",
		     output_name(refused), output_name(out));
}

void output_say(const struct profile *p, const char *out)
{
	const struct process *first = profile_main_process(p);
	uint64_t samples = 0, detections = 0;
	const char *shared;
	char *found = NULL;

	for (size_t i = 0; i < p->threads; i++)
		for (int k = 0; k < SAMPLE_KINDS; k++)
			samples = sat_add(samples, p->thread[i].samples[k]);
	for (size_t i = 0; i < p->pairs; i++)
		detections = sat_add(detections, p->pair[i].count);
	if (first->header.source[0])
		warn("source %s: %s", safe_text(first->header.source),
		     first->header.source_reason[0]
			     ? safe_text(first->header.source_reason)
			     : "no reason was recorded");
	for (size_t i = 0; i < p->processes; i++)
		if (profile_note_is_new(p, i))
			warn("note: %s", safe_text(p->process[i].header.note));
	if (!first->header.registers &&
	    !strcmp(first->header.delivery, "rtsig"))
		warn("-s emu needs neither perf_events nor debug registers: it "
		     "counts every access under QEMU, some ten times slower");
	if (first->header.modes & CDP_MODE_COMM)
		found = xasprintf(", %s detection%s", count_text(detections),
				  detections == 1 ? "" : "s");
	shared = foreign_unseen(p);
	if (shared)
		warn("processes share the memory %s, and sharing between them "
		     "was not looked for: record --outside --children finds it",
		     safe_text(shared));
	if (profile_not_followed(p))
		warn("programs that it started and that were not profiled: %s; "
		     "--children includes them",
		     count_text(profile_not_followed(p)));
	say_where(out);
	warn("%s sample%s%s in %s; next: reusetrack report %s",
	     count_text(samples), samples == 1 ? "" : "s", found ? found : "",
	     output_name(out), output_name(out));
	free(found);
}

/* Remember @wanted if the directory made is not it, but @made. */
static void note_refused(const char *wanted, const char *made)
{
	size_t n = strlen(wanted);
	const char *last = base_name(made);

	while (n > 1 && wanted[n - 1] == '/')
		n--;
	free(refused);
	refused = xasprintf("%.*s", (int)n, wanted);
	if (strcmp(base_name(refused), last))
		return;
	free(refused);
	refused = NULL;
}

const char *output_of_rank(const char *wanted)
{
	static char path[PATH_MAX];
	uint32_t rank, ranks;
	int err;

	if (!rank_of(0, &rank, &ranks))
		return wanted;
	if (!wanted || !*wanted)
		wanted = "out";
	err = rank_directory(wanted, rank, path, sizeof(path));
	if (err)
		die("cannot make the output directory %s: %s%s",
		    safe_text(wanted), strerror(-err), mend_out(-err));
	return path;
}

int output_make(const char *wanted, char *run_id, char *path)
{
	int dirfd;

	if (!wanted || !*wanted)
		wanted = "out";
	new_run_id(run_id, OUTDIR_RUN_ID_BYTES);
	dirfd = outdir_create(wanted, run_id, path, PATH_MAX);
	if (dirfd < 0)
		die("cannot make the output directory %s: %s%s",
		    safe_text(wanted), strerror(-dirfd), mend_out(-dirfd));
	note_refused(wanted, path);
	return dirfd;
}
