/* SPDX-License-Identifier: MIT */
/*
 * now - the clocks of the system
 */
#include "now.h"

uint64_t emu_now_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
