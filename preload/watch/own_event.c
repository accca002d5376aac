/* SPDX-License-Identifier: MIT */
/*
 * own_event - a perf event of ours among the descriptors of the application
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

#include "own_event.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

enum {
	NUMBERS = 4096, /* higher ones are not noted */
};

static _Atomic uint64_t noted[NUMBERS / 64]; /* a bit for each of ours */

static void note(int fd)
{
	if (fd >= 0 && fd < NUMBERS)
		atomic_fetch_or(&noted[fd / 64], 1ull << fd % 64);
}

static void forget(int fd)
{
	if (fd >= 0 && fd < NUMBERS)
		atomic_fetch_and(&noted[fd / 64], ~(1ull << fd % 64));
}

/* The program may have closed it: then it has a file of its own there. */
bool own_event_has(int fd)
{
	uint64_t id;

	return fd >= 0 && fd < NUMBERS &&
	       atomic_load_explicit(&noted[fd / 64], memory_order_relaxed) >>
			       fd % 64 &
		       1 &&
	       !sys_call3(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id);
}

struct perf_event_attr own_event_attr(uint32_t type, uint64_t data)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = type;
	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP;
	a.exclude_kernel = 1; /* allowed at perf_event_paranoid 2 */
	a.exclude_hv = 1;
	a.sigtrap = 1;
	a.remove_on_exec = 1; /* demanded by sigtrap */
	a.sig_data = data;
	return a;
}

struct perf_event_attr own_event_breakpoint(uint32_t type,
					    const struct watch_range *range,
					    uint64_t data)
{
	/*
	 * System calls that access watched memory do not trap: the attributes
	 * exclude the kernel.
	 */
	struct perf_event_attr a = own_event_attr(PERF_TYPE_BREAKPOINT, data);

	a.bp_type = type;
	a.bp_addr = range->addr;
	a.bp_len = range->len;
	return a;
}

int own_event_open(struct own_event *e, struct perf_event_attr *a, int group,
		   int base)
{
	long low, high, r;

	e->fd = -1;
	e->on = false;
	a->disabled = 1;
	low = sys_call6(SYS_perf_event_open, (long)a, 0, -1, group,
			PERF_FLAG_FD_CLOEXEC, 0);
	if (low < 0)
		return low;
	high = sys_call3(SYS_fcntl, low, F_DUPFD_CLOEXEC, base);
	sys_call1(SYS_close, low);
	if (high < 0) /* a base above the limit is invalid */
		return high == -EINVAL ? -EMFILE : high;
	/* This fails if the application has put a file of its own there. */
	r = sys_call3(SYS_ioctl, high, PERF_EVENT_IOC_ID, &e->id);
	if (r)
		return r;
	e->fd = high;
	note(high);
	return 0;
}

bool own_event_is_open(const struct own_event *e)
{
	int fd = e->fd;
	uint64_t id = 0;

	return fd >= 0 && !sys_call3(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id) &&
	       id == e->id;
}

int own_event_set(struct own_event *e, const struct perf_event_attr *a)
{
	int r = sys_call3(SYS_ioctl, e->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
			  a);

	e->on = !r && !a->disabled;
	return r;
}

void own_event_off(struct own_event *e)
{
	if (e->on)
		sys_call3(SYS_ioctl, e->fd, PERF_EVENT_IOC_DISABLE, 0);
	e->on = false;
}

void own_event_close(struct own_event *e)
{
	if (e->fd < 0 && !e->on) /* in a child a store would copy the page */
		return;
	forget(e->fd);
	if (own_event_is_open(e))
		sys_call1(SYS_close, e->fd);
	e->fd = -1;
	e->on = false;
}
