/* SPDX-License-Identifier: MIT */
/*
 * cgroup - which processes are in control groups
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "analysis/base/util.h"
#include "src/store/host.h"

enum {
	CGROUP_BYTES = 4096,
};

void cgroups_add(struct cgroups *g, const char *name)
{
	g->name = grow(g->name, g->n, &g->room, sizeof(*g->name));
	g->name[g->n++] = xstrdup(name);
}

void cgroups_release(struct cgroups *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->name[i]);
	free(g->name);
	*g = (struct cgroups){ 0 };
}

bool cgroup_holds(const char *line, const char *wanted)
{
	const char *path = strchr(line, ':');
	size_t n = strlen(wanted);

	path = path ? strchr(path + 1, ':') : NULL;
	if (!path || !n)
		return false;
	path++;
	if (wanted[0] == '/') {
		while (n > 1 && wanted[n - 1] == '/')
			n--;
		return n == 1 || (!strncmp(path, wanted, n) &&
				  (!path[n] || path[n] == '/'));
	}
	return strstr(path, wanted);
}

bool cgroups_hold(const struct cgroups *g, pid_t pid)
{
	char path[64], text[CGROUP_BYTES], *rest = text, *line;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (!host_read_file(path, text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n")))
		for (size_t i = 0; i < g->n; i++)
			if (cgroup_holds(line, g->name[i]))
				return true;
	return false;
}

/*
 * False of the kernel's own threads, and of what has ended. Of a program there
 * is at least one byte, which all users may read.
 */
static bool has_arguments(pid_t pid)
{
	char path[64], text[2];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	return host_read_file(path, text, sizeof(text));
}

struct listing cgroups_list(const struct cgroups *g)
{
	struct listing all = list_processes();
	size_t kept = 0;

	for (size_t i = 0; i < all.n; i++)
		if (all.pid[i] != getpid() && cgroups_hold(g, all.pid[i]) &&
		    has_arguments(all.pid[i]))
			all.pid[kept++] = all.pid[i];
	all.n = kept;
	return all;
}
