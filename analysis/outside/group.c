/* SPDX-License-Identifier: MIT */
/*
 * group - the processes of control groups that we may watch
 */
#include <stdlib.h>

#include "group.h"
#include "permission.h"
#include "analysis/base/util.h"
#include "src/store/host.h"

static uint64_t start_of(pid_t pid)
{
	uint32_t parent;

	return host_process_start(pid, &parent);
}

static bool is_left_out(const struct group *g, pid_t pid)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->left_out[i].pid == pid)
			return g->left_out[i].start == start_of(pid);
	return false;
}

static bool has(const struct listing *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->pid[i] == pid)
			return true;
	return false;
}

static void forget_ended(struct group *g, const struct listing *live)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->n; i++)
		if (has(live, g->left_out[i].pid))
			g->left_out[kept++] = g->left_out[i];
	g->n = kept;
}

void group_leave_out(struct group *g, pid_t pid, char *why)
{
	g->left_out = grow(g->left_out, g->n, &g->room, sizeof(*g->left_out));
	g->left_out[g->n++] = (struct group_left_out){ pid, start_of(pid) };
	g->left_out_ever++;
	if (g->why)
		free(why);
	else
		g->why = why;
}

struct listing group_scan(struct group *g, const struct tasks *known)
{
	struct listing l = cgroups_list(&g->cgroups);
	size_t kept = 0;

	forget_ended(g, &l);
	for (size_t i = 0; i < l.n; i++) {
		pid_t pid = l.pid[i];
		char *why;

		if ((known && tasks_process(known, pid)) || is_left_out(g, pid))
			continue;
		why = permission_denied(pid, false);
		if (why)
			group_leave_out(g, pid, why);
		else
			l.pid[kept++] = pid;
	}
	l.n = kept;
	return l;
}

void group_release(struct group *g)
{
	cgroups_release(&g->cgroups);
	free(g->left_out);
	free(g->why);
	*g = (struct group){ 0 };
}
