/* SPDX-License-Identifier: MIT */
/*
 * listing - which processes there are now, and their threads and children
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "analysis/base/util.h"

static void add(struct listing *l, pid_t pid)
{
	l->pid = grow(l->pid, l->n, &l->room, sizeof(*l->pid));
	l->pid[l->n++] = pid;
}

static struct listing list_numbers(const char *path)
{
	DIR *dir = opendir(path);
	struct listing l = { 0 };
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (atoi(e->d_name) > 0)
			add(&l, atoi(e->d_name));
	if (dir)
		closedir(dir);
	return l;
}

struct listing list_processes(void)
{
	return list_numbers("/proc");
}

struct listing list_threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return list_numbers(path);
}

/* The kernel lists them by the thread that made them. */
static void add_children_of(struct listing *l, pid_t pid, pid_t tid)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
		 (int)tid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		add(l, child);
	if (f)
		fclose(f);
}

struct listing list_children(pid_t pid)
{
	struct listing threads = list_threads(pid), l = { 0 };

	for (size_t i = 0; i < threads.n; i++)
		add_children_of(&l, pid, threads.pid[i]);
	listing_release(&threads);
	return l;
}

void listing_release(struct listing *l)
{
	free(l->pid);
	*l = (struct listing){ 0 };
}

pid_t list_process_of(pid_t tid)
{
	char path[64], line[256];
	pid_t tgid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && !tgid && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Tgid:", 5))
			tgid = atoi(line + 5);
	if (f)
		fclose(f);
	return tgid;
}
