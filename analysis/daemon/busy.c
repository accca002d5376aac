/* SPDX-License-Identifier: MIT */
/*
 * busy - which processes of the machine use processors, and whose turn it is
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "busy.h"
#include "analysis/base/util.h"

#define BUSY_LOAD 0.01 /* processors */

enum {
	OF_THE_KERNEL = 0x00200000, /* PF_KTHREAD */
	STAT_BYTES = 1024,
};

bool busy_parse(const char *text, struct busy_process *p)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user, system, start;
	unsigned long flags;
	long pid, parent, threads;
	char state;
	size_t n;

	memset(p, 0, sizeof(*p));
	if (!open || !close || close < open || sscanf(text, "%ld", &pid) != 1 ||
	    sscanf(close + 1,
		   " %c %ld %*d %*d %*d %*d %lu %*u %*u %*u %*u %llu %llu "
		   "%*d %*d %*d %*d %ld %*d %llu",
		   &state, &parent, &flags, &user, &system, &threads,
		   &start) != 7)
		return false;
	n = (size_t)(close - open - 1);
	if (n >= sizeof(p->name))
		n = sizeof(p->name) - 1;
	memcpy(p->name, open + 1, n);
	p->pid = (pid_t)pid;
	p->parent = (pid_t)parent;
	p->start = start;
	p->ticks = user + system;
	p->threads = threads < 1 ? 1 : (uint32_t)threads;
	return pid > 0 && !(flags & OF_THE_KERNEL) && state != 'Z' &&
	       state != 'X';
}

/* The bytes of a small file below @dir; false if it cannot be read. */
static bool read_below(int dir, const char *path, char *to, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, to, size - 1);
	close(fd);
	to[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool wants_user(const struct busy_filter *f, int proc, pid_t pid)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "%d", (int)pid);
	if (fstatat(proc, name, &st, 0))
		return false;
	for (size_t i = 0; i < f->users; i++)
		if (f->user[i] == st.st_uid)
			return true;
	return false;
}

static bool wants_name(const struct busy_filter *f, const char *name)
{
	for (size_t i = 0; i < f->names; i++)
		if (!fnmatch(f->name[i], name, 0))
			return true;
	return false;
}

static bool wants_pid(const struct busy_filter *f, pid_t pid)
{
	for (size_t i = 0; i < f->pids; i++)
		if (f->pid[i] == pid)
			return true;
	return false;
}

static bool wants(const struct busy_filter *f, int proc,
		  const struct busy_process *p)
{
	return (!f->names || wants_name(f, p->name)) &&
	       (!f->users || wants_user(f, proc, p->pid)) &&
	       (!f->cgroup.n || cgroups_hold(&f->cgroup, p->pid));
}

static int by_pid(const void *a, const void *b)
{
	const struct busy_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct busy_process *busy_find(const struct busy *b, pid_t pid)
{
	const struct busy_process key = { .pid = pid };

	return b->processes ? bsearch(&key, b->process, b->processes,
				      sizeof(key), by_pid)
			    : NULL;
}

/* What a process did since the last scan, of @seconds. */
static void compare(const struct busy *b, struct busy_process *p, int proc,
		    double seconds)
{
	const struct busy_process *old = busy_find(b, p->pid);
	uint64_t before = 0;

	if (!b->scanned_at)
		return;
	if (old && old->start == p->start) {
		before = old->ticks < p->ticks ? old->ticks : p->ticks;
		p->watched_at = old->watched_at;
	}
	p->load = (double)(p->ticks - before) / (double)sysconf(_SC_CLK_TCK) /
		  seconds;
	p->wanted = p->load >= BUSY_LOAD && wants(&b->filter, proc, p);
}

void busy_scan(struct busy *b, uint64_t now)
{
	double seconds = (double)(now - b->scanned_at) / 1e9;
	struct busy_process *list = NULL, p;
	size_t n = 0, room = 0;
	char name[300], text[STAT_BYTES];
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		pid_t pid = atoi(e->d_name);

		if (pid <= 0 || pid == getpid() ||
		    (b->filter.pids && !wants_pid(&b->filter, pid)))
			continue;
		snprintf(name, sizeof(name), "%s/stat", e->d_name);
		if (!read_below(dirfd(dir), name, text, sizeof(text)) ||
		    !busy_parse(text, &p))
			continue;
		compare(b, &p, dirfd(dir), seconds > 0 ? seconds : 1);
		list = grow(list, n, &room, sizeof(*list));
		list[n++] = p;
	}
	closedir(dir);
	if (n)
		qsort(list, n, sizeof(*list), by_pid);
	free(b->process);
	b->process = list;
	b->processes = n;
	b->scanned_at = now;
}

/* True if it is the turn of @a rather than of @b. */
static bool before(const struct busy_process *a, const struct busy_process *b)
{
	if (a->watched_at != b->watched_at)
		return a->watched_at < b->watched_at;
	return a->load > b->load;
}

static bool related(const struct busy_process *a, const struct busy_process *b)
{
	return a->parent == b->pid || b->parent == a->pid ||
	       (a->parent == b->parent && a->parent > 1);
}

/* Whose turn it is; with @of, among the relatives of that one. */
static struct busy_process *next(struct busy *b, uint64_t now,
				 const struct busy_process *of,
				 uint32_t threads)
{
	struct busy_process *best = NULL;

	for (size_t i = 0; i < b->processes; i++) {
		struct busy_process *p = &b->process[i];

		if (!p->wanted || p->watched_at >= now || p->threads > threads)
			continue;
		if (of && !related(of, p))
			continue;
		if (!best || before(p, best))
			best = p;
	}
	return best;
}

size_t busy_pick(struct busy *b, uint64_t now, pid_t *pid, size_t max,
		 uint32_t threads)
{
	struct busy_process *first, *p;
	size_t n = 0;

	while (n < max && (first = next(b, now, NULL, threads))) {
		for (p = first; p && n < max;
		     p = next(b, now, first, threads)) {
			p->watched_at = now + n; /* keeps their order */
			threads -= p->threads;
			pid[n++] = p->pid;
		}
	}
	return n;
}

size_t busy_wanted(const struct busy *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->processes; i++)
		n += b->process[i].wanted;
	return n;
}

void busy_release(struct busy *b)
{
	for (size_t i = 0; i < b->filter.names; i++)
		free(b->filter.name[i]);
	cgroups_release(&b->filter.cgroup);
	free(b->filter.pid);
	free(b->filter.name);
	free(b->filter.user);
	free(b->process);
	memset(b, 0, sizeof(*b));
}
