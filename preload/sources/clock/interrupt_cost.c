/* SPDX-License-Identifier: MIT */
#include <sys/ioctl.h>

#include "clock.h"
#include "interrupt_cost.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"

enum {
	TRIALS = 5,
	INTERVAL = 400000, /* ns; much longer than the longest interrupt seen */
	LONGEST = 50 * 1000 * 1000, /* ns, until we give up */
};

static volatile uint32_t seen;
static uint64_t known; /* a forked child has its parent's */

void interrupt_cost_saw(void)
{
	seen++;
}

/* Watch the time go by: where an interrupt comes, it jumps. */
static int watch_time(uint64_t *sorted)
{
	uint64_t start = now_ns(), last = start, now;
	uint32_t had = seen;
	int n = 0;

	do {
		now = now_ns();
		if (seen != had) {
			uint64_t jump = now_ns() - last;
			int at = n++;

			for (; at && sorted[at - 1] > jump; at--)
				sorted[at] = sorted[at - 1];
			sorted[at] = jump;
			had = seen;
			now = now_ns();
		}
		last = now;
	} while (n < TRIALS && now - start < LONGEST);
	return n;
}

uint64_t interrupt_cost(void)
{
	struct own_event event = { .fd = -1 };
	struct perf_event_attr a = own_event_attr(
		PERF_TYPE_SOFTWARE, watch_cookie(WATCH_CLOCK) | CLOCK_FULL);
	uint64_t sorted[TRIALS];

	if (known)
		return known;
	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = INTERVAL;
	if (own_event_open(&event, &a, -1, watch_fd_base()))
		return 0;
	if (!sys_call3(SYS_ioctl, event.fd, PERF_EVENT_IOC_ENABLE, 0) &&
	    watch_time(sorted) == TRIALS)
		known = sorted[TRIALS / 4];
	own_event_close(&event);
	return known;
}
