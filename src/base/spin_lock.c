/* SPDX-License-Identifier: MIT */
/*
 * spin_lock - how a waiter lets others run
 */
#include <time.h>

#include "rawcall.h"
#include "spin_lock.h"
#include "signal_safe.h"

enum {
	YIELDS_BEFORE_SLEEP = 20,
	SLEEP_NS = 50 * 1000,
};

void spin_give_way(uint32_t n)
{
	const struct timespec moment = { 0, SLEEP_NS };

	if (n <= YIELDS_BEFORE_SLEEP)
		rawcall1(SYS_sched_yield, 0);
	else
		rawcall2(SYS_nanosleep, &moment, 0);
}
