/* SPDX-License-Identifier: MIT */
/*
 * targets - attach to processes that run already, with all of their threads
 */
#include <errno.h>

#include "targets.h"
#include "listing.h"
#include "permission.h"

/* Attach to a thread that was listed; it may have ended since. */
static int attach_thread(struct follow *f, struct task_process *p, pid_t tid)
{
	int err = follow_watch(f, p, tid);

	if (err)
		return err == -ESRCH ? 0 : err;
	return 1;
}

/*
 * Threads begin while we look: list them until nothing is new. Those that
 * began after their maker had its events have inherited these, and the ring
 * says so.
 */
static int attach_process(struct follow *f, struct task_process *p)
{
	int added, err = 0;

	do {
		struct listing tids = list_threads(p->pid);

		added = 0;
		follow_drain(f);
		for (size_t i = 0; i < tids.n && err >= 0; i++) {
			if (tasks_thread(&f->tasks, tids.pid[i]))
				continue;
			err = attach_thread(f, p, tids.pid[i]);
			added += err > 0;
		}
		listing_release(&tids);
	} while (added && err >= 0);
	return err < 0 ? err : 0;
}

static int attach_target(struct follow *f, pid_t pid)
{
	struct task_process *p = tasks_process(&f->tasks, pid);
	int err;

	if (p)
		return 0;
	if (f->threads) {
		pid_t tgid = list_process_of(pid);

		p = tasks_process(&f->tasks, tgid);
		if (!p)
			p = follow_add_process(f, tgid);
		err = attach_thread(f, p, pid);
	} else {
		p = follow_add_process(f, pid);
		err = attach_process(f, p);
	}
	return err < 0 ? err : 0;
}

/* The children, and theirs, that the process has already. */
static int attach_children(struct follow *f, pid_t pid)
{
	struct listing children = list_children(pid);
	int err = 0;

	for (size_t i = 0; i < children.n && !err; i++) {
		err = attach_target(f, children.pid[i]);
		if (!err)
			err = attach_children(f, children.pid[i]);
	}
	listing_release(&children);
	return err;
}

static bool is_lenient(const struct targets *t)
{
	return t->lenient || t->group;
}

static void leave_out(struct group *g, pid_t pid, int err)
{
	group_leave_out(g, pid, permission_event(pid, -err));
}

int targets_attach(const struct targets *t, const pid_t *pid, size_t n,
		   pid_t *failed)
{
	bool any;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		*failed = pid[i];
		err = attach_target(t->follow, pid[i]);
		if (!err && t->children)
			err = attach_children(t->follow, pid[i]);
		if (err && t->group)
			leave_out(t->group, pid[i], err);
		if (is_lenient(t) && i + 1 < n)
			err = 0;
	}
	any = tasks_any_thread(&t->follow->tasks, NULL);
	if (is_lenient(t) && any)
		err = 0;
	return !err && !any ? -ESRCH : err;
}

void targets_attach_group(struct follow *f, struct group *g)
{
	struct listing l = group_scan(g, &f->tasks);

	/* A watched process may have made it, and the rings say so first. */
	follow_drain(f);
	for (size_t i = 0; i < l.n; i++) {
		int err = attach_target(f, l.pid[i]);

		if (err)
			leave_out(g, l.pid[i], err);
	}
	listing_release(&l);
}
