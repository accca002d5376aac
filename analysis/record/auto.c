/* SPDX-License-Identifier: MIT */
/*
 * auto - which source takes the place of auto
 *
 * The preload library finds out how its clock can tick. If neither perf_events
 * nor POSIX timers work, the program runs under QEMU, which needs no privilege.
 * But if the user gives --freq, the source stays the clock: no other source has
 * a frequency.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auto.h"
#include "emu.h"
#include "analysis/base/util.h"
#include "analysis/doctor/probe.h"

static bool timers_work(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	timer_t timer;

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer))
		return false;
	timer_delete(timer);
	return true;
}

static bool perf_events_work(void)
{
	struct probe p;

	probe_sigtrap(&p);
	return p.end == PROBE_WORKS;
}

void record_choose_source(void)
{
	const char *source = getenv("COMDET_SOURCE");
	const char *freq = getenv("COMDET_FREQ");
	char *qemu;

	if (source && *source && strcmp(source, "auto"))
		return;
	if ((freq && *freq) || timers_work() || perf_events_work())
		return;
	qemu = record_find_qemu();
	if (!qemu) {
		warn("neither perf_events nor POSIX timers can be used here; "
		     "-s emu needs neither: install the package qemu-user");
		return;
	}
	free(qemu);
	warn("taking the source emu, some ten times slower: neither "
	     "perf_events nor POSIX timers can be used here");
	setenv("COMDET_SOURCE", "emu", 1);
}
