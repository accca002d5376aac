/* SPDX-License-Identifier: MIT */
/*
 * clocks - the clock events of all watched threads, and their rings
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clocks.h"
#include "analysis/base/util.h"

enum {
	RING_PAGES = 64,
	STACK_RING_PAGES = 256, /* a sample has 8 KiB of stack */
	CPUS_MAX = 8192,
	TICK_NS = 1000 * 1000, /* half the CPU time of threads to be seen */
	TICKS_MAX = 8,         /* of a sample: what they cost is bounded */
};

/* The processor may be offline: then there is no ring, and no error. */
static int open_ring(struct clocks *c, int cpu)
{
	struct perf_event_attr a = event_attr();
	struct epoll_event wake = { .events = EPOLLIN };
	int fd = event_open(&a, 0, cpu), err;

	if (fd == -ENODEV || fd == -EINVAL)
		return 0;
	if (fd < 0)
		return fd;
	err = ring_map(&c->ring[cpu], fd,
		       c->rings->stacks ? STACK_RING_PAGES : RING_PAGES);
	if (!err && epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &wake))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	c->fd[cpu] = fd;
	rings_add(c->rings, &c->ring[cpu]);
	return 0;
}

static uint32_t ticks_of(uint64_t period)
{
	uint64_t n = (period + TICK_NS - 1) / TICK_NS;

	return n < 1 ? 1 : n > TICKS_MAX ? TICKS_MAX : (uint32_t)n;
}

int clocks_init(struct clocks *c, struct rings *rings, int poll,
		uint64_t period, enum event_heirs heirs, bool on_exec)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err = 0;

	memset(c, 0, sizeof(*c));
	c->rings = rings;
	c->poll = poll;
	c->ticks = ticks_of(period);
	c->tick = period / c->ticks;
	c->heirs = heirs;
	c->on_exec = on_exec;
	c->cpus = cpus < 1 ? 1 : cpus > CPUS_MAX ? CPUS_MAX : (int)cpus;
	c->ring = xcalloc((size_t)c->cpus, sizeof(*c->ring));
	c->fd = xcalloc((size_t)c->cpus, sizeof(*c->fd));
	for (int i = 0; i < c->cpus; i++)
		c->fd[i] = -1;
	for (int i = 0; i < c->cpus && !err; i++)
		err = open_ring(c, i);
	if (err)
		clocks_release(c);
	return err;
}

static int open_event(struct clocks *c, const struct perf_event_attr *a,
		      bool fine, pid_t tid, int cpu)
{
	struct clock_event e = { .set = c->sets, .fd = -1, .fine = fine };
	int err = 0;

	e.fd = event_open(a, tid, cpu);
	if (e.fd < 0)
		return e.fd;
	if (ioctl(e.fd, PERF_EVENT_IOC_SET_OUTPUT, c->fd[cpu]) ||
	    ioctl(e.fd, PERF_EVENT_IOC_ID, &e.id))
		err = -errno;
	if (err) {
		close(e.fd);
		return err;
	}
	c->event = grow(c->event, c->events, &c->room, sizeof(*c->event));
	c->event[c->events++] = e;
	return 0;
}

static int open_set(struct clocks *c, struct perf_event_attr *a, bool fine,
		    pid_t tid)
{
	int err = 0;

	if (c->stacks)
		event_add_stack(a);
	c->sets++;
	for (int cpu = 0; cpu < c->cpus && !err; cpu++)
		if (c->fd[cpu] >= 0)
			err = open_event(c, a, fine, tid, cpu);
	if (err)
		clocks_close(c, c->sets);
	return err;
}

int clocks_attach(struct clocks *c, pid_t tid)
{
	struct perf_event_attr a =
		event_clock(c->tick * c->ticks, c->heirs, c->on_exec);

	return open_set(c, &a, false, tid);
}

int clocks_attach_fine(struct clocks *c, pid_t tid)
{
	struct perf_event_attr a = event_clock(c->tick, c->heirs, false);

	/* The other set has the records of tasks. */
	a.task = a.comm = a.comm_exec = 0;
	a.mmap = a.mmap2 = a.mmap_data = 0;
	a.wakeup_events = c->ticks;
	return open_set(c, &a, true, tid);
}

uint32_t clocks_ended(struct clocks *c, uint32_t set)
{
	for (size_t i = 0; i < c->events; i++) {
		struct clock_event *e = &c->event[i];
		bool had = e->ended;

		if (e->set <= set)
			continue;
		set = e->set;
		e->ended = event_has_ended(e->fd);
		if (had && e->ended)
			return set;
	}
	return 0;
}

void clocks_close(struct clocks *c, uint32_t set)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->events; i++)
		if (c->event[i].set == set)
			close(c->event[i].fd);
		else
			c->event[kept++] = c->event[i];
	c->events = kept;
}

/*
 * The kernel counts the same records of the ring to wake us; a record of the
 * other sets, which wakes us by itself, leaves its count as it was.
 */
bool clocks_is_sample(const struct clocks *c, struct outside_ring *ring)
{
	return ++ring->ticks % c->ticks == 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct clock_event *x = a, *y = b;

	return order_u64(x->id, y->id);
}

const struct clock_event *clocks_event(const struct clocks *c, uint64_t id)
{
	struct clock_event key = { .id = id };

	return c->events ? bsearch(&key, c->event, c->events, sizeof(key),
				   compare_events)
			 : NULL;
}

void clocks_release(struct clocks *c)
{
	for (size_t i = 0; i < c->events; i++)
		close(c->event[i].fd);
	for (int i = 0; i < c->cpus; i++) {
		if (c->fd[i] < 0)
			continue;
		rings_remove(c->rings, &c->ring[i]);
		ring_unmap(&c->ring[i]);
		close(c->fd[i]);
	}
	free(c->event);
	free(c->ring);
	free(c->fd);
	memset(c, 0, sizeof(*c));
}
