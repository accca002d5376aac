/* SPDX-License-Identifier: MIT */
/*
 * event - perf events of other tasks, as the watcher opens them
 */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>

#include "event.h"
#include "record.h"

struct perf_event_attr event_attr(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = OUTSIDE_SAMPLE_TYPE,
		.sample_regs_user = OUTSIDE_REGS,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.exclude_callchain_user = 1,
		/* One clock for all, or the kernel lets them share no ring. */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* Wake us for each sample: memory changes while we wait. */
		.wakeup_events = 1,
	};
}

struct perf_event_attr event_clock(uint64_t period, enum event_heirs heirs,
				   bool on_exec)
{
	struct perf_event_attr a = event_attr();

	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = period;
	a.inherit = heirs != HEIRS_NONE;
	a.inherit_thread = heirs == HEIRS_THREADS;
	a.disabled = on_exec;
	a.enable_on_exec = on_exec;
	a.task = 1;
	a.comm = 1;
	a.comm_exec = 1;
	a.mmap = 1;
	a.mmap2 = 1;
	a.mmap_data = 1; /* shared memory is data */
	return a;
}

struct perf_event_attr event_register(const struct watch_range *range)
{
	struct perf_event_attr a = event_attr();

	a.type = PERF_TYPE_BREAKPOINT;
	a.config = 0;
	a.sample_period = 1;
	a.disabled = 1;
	a.bp_type = HW_BREAKPOINT_RW;
	a.bp_addr = range->addr;
	a.bp_len = range->len;
	return a;
}

void event_add_stack(struct perf_event_attr *a)
{
	a->sample_type |= PERF_SAMPLE_STACK_USER;
	a->sample_stack_user = EVENT_STACK_BYTES;
}

int event_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	struct perf_event_attr a = *attr;
	long fd = syscall(SYS_perf_event_open, &a, tid, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

bool event_has_ended(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && p.revents & POLLHUP;
}
