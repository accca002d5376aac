/* SPDX-License-Identifier: MIT */
/*
 * profile - the .cdp files of one output directory as one model in memory
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile.h"
#include "file.h"
#include "foreign.h"
#include "ranks.h"
#include "rows.h"
#include "slices.h"
#include "analysis/base/util.h"
#include "src/store/outdir.h"

enum {
	BLOCKS_LOOKED_AT = 64, /* before an address */
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* List the .cdp files in @dirfd by name; returns how many, or -errno. */
static ssize_t list_files(int dirfd, char ***names)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = 0, room = 0;
	struct dirent *e;

	*names = NULL;
	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 4, ".cdp"))
			continue;
		*names = grow(*names, n, &room, sizeof(**names));
		(*names)[n++] = xstrdup(e->d_name);
	}
	closedir(dir);
	if (n)
		qsort(*names, n, sizeof(**names), compare_names);
	return n;
}

/* A file is named EXE.PID.MS.cdp by the time when it was made. */
static bool is_made(const char *name, uint64_t from_ms, uint64_t until_ms)
{
	const char *at = name + strlen(name) - strlen(".cdp");
	uint64_t ms;

	while (at > name && at[-1] != '.')
		at--;
	ms = strtoull(at, NULL, 10);
	return ms >= from_ms && ms < until_ms;
}

static int load_one(struct profile *p, const char *path, uint64_t from_ms,
		    uint64_t until_ms)
{
	int dirfd = outdir_open(path, NULL);
	char **names;
	ssize_t n;

	if (dirfd < 0)
		return dirfd;
	n = list_files(dirfd, &names);
	for (ssize_t i = 0; i < n; i++) {
		if (is_made(names[i], from_ms, until_ms))
			profile_add_file(p, dirfd, names[i]);
		free(names[i]);
	}
	free(names);
	close(dirfd);
	return n < 0 ? (int)n : 0;
}

/* A directory without a marker may hold those of ranks. */
static int load_directory(struct profile *p, const char *path, uint64_t from_ms,
			  uint64_t until_ms)
{
	int err = load_one(p, path, from_ms, until_ms);

	return err == -EBADMSG
		       ? ranks_load(p, path, from_ms, until_ms, load_one)
		       : err;
}

/* Until now they went with the pairs, to be given rows. */
static void part_sightings(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->pairs; i++)
		p->sightings += p->pair[i].by == DETECTED_BY_LOOK;
	if (!p->sightings)
		return;
	p->sighting = xcalloc(p->sightings, sizeof(*p->sighting));
	p->sightings = 0;
	for (size_t i = 0; i < p->pairs; i++) {
		if (p->pair[i].by == DETECTED_BY_LOOK)
			p->sighting[p->sightings++] = p->pair[i];
		else
			p->pair[kept++] = p->pair[i];
	}
	p->pairs = kept;
}

static int load(struct profile *p, const char *path, uint64_t from_ms,
		uint64_t until_ms, bool unite)
{
	struct stat st;
	int err = 0;

	memset(p, 0, sizeof(*p));
	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		err = load_directory(p, path, from_ms, until_ms);
	else
		profile_add_file(p, AT_FDCWD, path);
	if (err)
		return err;
	foreign_publishers(p);
	rows_order(p);
	if (unite && slices_unite(p))
		rows_order(p);
	foreign_lines(p);
	rows_take_off_execed(p);
	if (p->threads > PROFILE_ROWS_MAX)
		rows_merge(p);
	part_sightings(p);
	return 0;
}

int profile_load_made(struct profile *p, const char *path, uint64_t from_ms,
		      uint64_t until_ms)
{
	return load(p, path, from_ms, until_ms, false);
}

int profile_load(struct profile *p, const char *path)
{
	return load(p, path, 0, UINT64_MAX, true);
}

void profile_release(struct profile *p)
{
	for (size_t i = 0; i < p->processes; i++)
		process_release(&p->process[i]);
	for (size_t i = 0; i < p->bad_files; i++)
		free(p->bad[i].name);
	free(p->process);
	free(p->thread);
	free(p->pair);
	free(p->sighting);
	free(p->core);
	free(p->reuse);
	free(p->slice);
	free(p->bad);
	memset(p, 0, sizeof(*p));
}

const struct process *profile_main_process(const struct profile *p)
{
	uint64_t *sum = xcalloc(p->processes, sizeof(*sum));
	size_t best = 0;

	for (size_t i = 0; i < p->threads; i++) {
		const struct thread_row *t = &p->thread[i];

		sum[t->process] = sat_add(sum[t->process], t->interrupts);
	}
	for (size_t i = 1; i < p->processes; i++)
		if (sum[i] > sum[best])
			best = i;
	free(sum);
	return &p->process[best];
}

bool profile_complete(const struct profile *p)
{
	for (size_t i = 0; i < p->processes; i++)
		if (p->process[i].state != PROCESS_ENDED &&
		    p->process[i].state != PROCESS_EXECED)
			return false;
	return p->processes && !p->bad_files;
}

uint64_t profile_not_followed(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->processes; i++)
		n = sat_add(n, p->process[i].header.not_followed);
	return n;
}

uint64_t profile_wall_ns(const struct profile *p)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (size_t i = 0; i < p->processes; i++) {
		const struct cdp_header *h = &p->process[i].header;

		if (h->start_mono < start)
			start = h->start_mono;
		if (h->last_mono > end)
			end = h->last_mono;
	}
	return end > start ? end - start : 0;
}

uint64_t profile_cpu_ns(const struct profile *p)
{
	uint64_t total = 0;

	for (size_t i = 0; i < p->processes; i++) {
		uint64_t sum = 0;

		for (size_t t = 0; t < p->threads; t++)
			if (p->thread[t].process == i)
				sum = sat_add(sum, p->thread[t].cpu_ns);
		if (p->process[i].header.cpu_ns > sum)
			sum = p->process[i].header.cpu_ns;
		total = sat_add(total, sum);
	}
	return total;
}

uint64_t profile_kernel_ns(const struct profile *p)
{
	uint64_t total = 0;

	for (size_t i = 0; i < p->processes; i++)
		total = sat_add(total, p->process[i].header.kernel_ns);
	return total;
}

uint64_t profile_handler_ns(const struct profile *p)
{
	uint64_t ns = 0, interrupts = 0;

	for (size_t i = 0; i < p->threads; i++) {
		ns = sat_add(ns, p->thread[i].handler_ns);
		interrupts = sat_add(interrupts, p->thread[i].interrupts);
	}
	return interrupts ? ns / interrupts : 0;
}

uint64_t profile_loss(const struct profile *p, enum loss_cause cause)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->processes; i++)
		n = sat_add(n, p->process[i].header.loss[cause]);
	for (size_t i = 0; i < p->threads; i++)
		n = sat_add(n, p->thread[i].loss[cause]);
	return n;
}

const char *process_state_text(enum process_state s)
{
	switch (s) {
	case PROCESS_ENDED:
		return "complete";
	case PROCESS_EXECED:
		return "complete up to its exec of another program";
	case PROCESS_STOPPED:
		return "profiling ended before the program";
	case PROCESS_RUNNING:
		return "still running";
	default:
		return "incomplete: killed or crashed, or ended past the C "
		       "library";
	}
}

bool process_was_killed(const struct process *s)
{
	return s->state == PROCESS_ENDED && s->header.end_how == CDP_END_SIGNAL;
}

const char *process_end_text(const struct process *s)
{
	const struct cdp_header *h = &s->header;
	static char text[128];
	const char *name;

	if (s->unwatched)
		return "incomplete: its watcher was killed";
	if (s->state != PROCESS_CUT && !process_was_killed(s))
		return process_state_text(s->state);
	if (h->end_how == CDP_END_UNKNOWN)
		return process_state_text(s->state);
	name = sigdescr_np((int)h->end_value);
	if (h->end_how == CDP_END_SIGNAL)
		snprintf(text, sizeof(text), "%s: ended by signal %u%s%s%s",
			 s->state == PROCESS_CUT ? "incomplete" : "complete",
			 h->end_value, name ? " (" : "", name ? name : "",
			 name ? ")" : "");
	else
		snprintf(text, sizeof(text),
			 "ended past the C library, with exit status %u",
			 h->end_value);
	return text;
}

const struct cdp_path *process_path(const struct process *process,
				    uint64_t node)
{
	size_t low = 0, high = process->paths;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (process->path[mid].node < node)
			low = mid + 1;
		else
			high = mid;
	}
	return low < process->paths && process->path[low].node == node
		       ? &process->path[low]
		       : NULL;
}

const struct cdp_memory_block *process_block(const struct process *process,
					     uint64_t addr)
{
	const struct cdp_memory_block *freed = NULL;
	size_t low = 0, n = process->blocks;

	/* Count those that begin at @addr or before. */
	while (n) {
		size_t half = n / 2;
		bool before = process->block[low + half].start <= addr;

		low += before ? half + 1 : 0;
		n = before ? n - half - 1 : half;
	}
	/* Of those that began there at different times, a few matter. */
	for (int i = 0; low && i < BLOCKS_LOOKED_AT; i++) {
		const struct cdp_memory_block *b = &process->block[--low];

		if (addr - b->start >= b->bytes)
			continue;
		if (!(b->flags & CDP_BLOCK_FREED))
			return b;
		if (!freed)
			freed = b;
	}
	return freed;
}

void profile_open(struct profile *p, const char *path)
{
	int err = profile_load(p, path);

	if (err == -ENOENT)
		die("cannot open %s: %s; record a program first: reusetrack "
		    "record -- ./program",
		    safe_text(path), strerror(-err));
	if (err == -EBADMSG || err == -ENOTDIR)
		die("%s is not an output directory (it has no .comdet marker); "
		    "give the directory that record named",
		    safe_text(path));
	if (err)
		die("cannot open %s: %s; do you own it?", safe_text(path),
		    strerror(-err));
	for (size_t i = 0; i < p->bad_files; i++)
		warn("%s: %s; it is left out", safe_text(p->bad[i].name),
		     p->bad[i].why);
	if (!p->processes && p->bad_files) {
		profile_release(p);
		exit(1);
	}
	if (!p->processes)
		die("%s has no profile in it: the program has not started yet, "
		    "or ran unprofiled; try reusetrack doctor",
		    safe_text(path));
}

bool profile_note_is_new(const struct profile *p, size_t i)
{
	const char *note = p->process[i].header.note;

	for (size_t k = 0; k < i; k++)
		if (!strcmp(p->process[k].header.note, note))
			return false;
	return note[0];
}
