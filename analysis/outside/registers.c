/* SPDX-License-Identifier: MIT */
/*
 * registers - debug registers of watched threads, leased from a pool
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "registers.h"
#include "event.h"

enum {
	IDLE_NS = 20 * 1000 * 1000,
	RING_PAGES = 1,
	STACK_RING_PAGES = 4, /* one hit, or two if the stack is short */
};

static const struct watch_range nowhere = { 0x1000, 8 };

void registers_init(struct registers *r, struct rings *rings, int poll,
		    int wanted)
{
	memset(r, 0, sizeof(*r));
	r->rings = rings;
	r->poll = poll;
	r->wanted = wanted;
}

int registers_free(pid_t tid, int wanted)
{
	struct perf_event_attr a = event_register(&nowhere);
	int fd[COMM_REGISTERS_MAX], n, err = 0;

	for (n = 0; n < wanted && n < COMM_REGISTERS_MAX; n++) {
		fd[n] = event_open(&a, tid, -1);
		if (fd[n] < 0) {
			err = fd[n];
			break;
		}
	}
	for (int i = 0; i < n; i++)
		close(fd[i]);
	return n || err == -ENOSPC ? n : err;
}

static void close_lease(struct registers *r, struct lease *l)
{
	for (int i = 0; i < l->registers; i++)
		close(l->fd[i]); /* also takes it out of the epoll set */
	if (l->ring.perf.page) {
		rings_remove(r->rings, &l->ring);
		ring_unmap(&l->ring);
	}
	*l->holder = NULL;
	memset(l, 0, sizeof(*l));
}

static struct perf_event_attr attr_of(const struct lease *l,
				      const struct watch_range *range)
{
	struct perf_event_attr a = event_register(range);

	if (l->stacks)
		event_add_stack(&a);
	return a;
}

static int open_register(struct lease *l, pid_t tid)
{
	struct perf_event_attr a = attr_of(l, &nowhere);
	int fd = event_open(&a, tid, -1);

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &l->id[l->registers]) ||
	    (l->registers && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, l->fd[0]))) {
		int err = -errno;

		close(fd);
		return err;
	}
	l->fd[l->registers++] = fd;
	return 0;
}

/* The first register, and the ring that all of them use. */
static int open_first(struct lease *l, pid_t tid, bool stacks)
{
	uint32_t pages = stacks ? STACK_RING_PAGES : RING_PAGES;
	int err;

	l->stacks = stacks;
	err = open_register(l, tid);
	if (!err)
		err = ring_map(&l->ring, l->fd[0], pages);
	if (err || l->ring.perf.bytes >= pages * PERF_RING_PAGE)
		return err;
	/* A hit would not fit into what the kernel has granted. */
	ring_unmap(&l->ring);
	close(l->fd[--l->registers]);
	return open_first(l, tid, false);
}

static int open_lease(struct registers *r, struct lease *l,
		      struct lease **holder, pid_t tid, void *owner)
{
	struct epoll_event wake = { .events = EPOLLIN, .data.ptr = l };
	int err;

	l->holder = holder;
	*holder = l;
	/* The ring must be there before other events can write into it. */
	err = open_first(l, tid, r->stacks);
	if (!err) {
		while (l->registers < r->wanted && !open_register(l, tid))
			;
		l->ring.owner = owner;
		rings_add(r->rings, &l->ring);
		/* Without, its hits are read when something else wakes us. */
		epoll_ctl(r->poll, EPOLL_CTL_ADD, l->fd[0], &wake);
		return 0;
	}
	close_lease(r, l);
	return err;
}

/* A set that is free, or that has been idle longest, or NULL. */
static struct lease *find_lease(struct registers *r, uint64_t now)
{
	struct lease *idle = NULL;

	for (int i = 0; i < REGISTERS_SETS; i++) {
		struct lease *l = &r->lease[i];

		if (!l->holder)
			return l;
		if (now > l->used_at + IDLE_NS &&
		    (!idle || l->used_at < idle->used_at))
			idle = l;
	}
	if (idle)
		close_lease(r, idle);
	return idle;
}

static int arm_one(struct lease *l, int i, const struct watch_range *range)
{
	struct perf_event_attr a = attr_of(l, range);

	if (ioctl(l->fd[i], PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a) ||
	    ioctl(l->fd[i], PERF_EVENT_IOC_REFRESH, 1))
		return -errno;
	l->on[i] = true;
	return 0;
}

int registers_arm(struct registers *r, struct lease **holder, pid_t tid,
		  void *owner, const struct watch_range *range, int n,
		  uint64_t now)
{
	struct lease *l = *holder;
	int done = 0, err;

	if (!l) {
		l = find_lease(r, now);
		if (!l)
			return -EBUSY;
		err = open_lease(r, l, holder, tid, owner);
		if (err)
			return err;
	}
	l->used_at = now;
	registers_disarm(l);
	while (done < n && done < l->registers &&
	       !arm_one(l, done, &range[done]))
		done++;
	return done;
}

void registers_disarm(struct lease *l)
{
	for (int i = 0; i < l->registers; i++) {
		if (l->on[i])
			ioctl(l->fd[i], PERF_EVENT_IOC_DISABLE, 0);
		l->on[i] = false;
	}
}

int registers_hit(struct lease *l, uint64_t id)
{
	for (int i = 0; i < l->registers; i++)
		if (l->id[i] == id) {
			l->on[i] = false;
			return i;
		}
	return -1;
}

void registers_end(struct registers *r, struct lease **holder)
{
	if (*holder)
		close_lease(r, *holder);
}

void registers_release(struct registers *r)
{
	for (int i = 0; i < REGISTERS_SETS; i++)
		if (r->lease[i].holder)
			close_lease(r, &r->lease[i]);
}
