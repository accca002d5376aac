/* SPDX-License-Identifier: MIT */
/*
 * watch_classify - what a signal is about
 */
#include <signal.h>
#include <string.h>

#include "watch.h"
#include "preload/core/thread.h"
#include "src/base/signal_safe.h"

enum {
	TRAP_PERF_CODE = 6, /* TRAP_PERF, newer than our libc */
	LATE_FLAG = 1,      /* TRAP_PERF_FLAG_ASYNC */
};

/* Bytes of the kernel's siginfo that our libc has no names for. */
static uint64_t perf_data(const siginfo_t *info)
{
	uint64_t v;

	memcpy(&v, (const char *)info + 24, sizeof(v));
	return v;
}

static uint32_t perf_flags(const siginfo_t *info)
{
	uint32_t v;

	memcpy(&v, (const char *)info + 36, sizeof(v));
	return v;
}

struct watch_signal watch_classify(int sig, const siginfo_t *info)
{
	struct watch_signal s = { .event = WATCH_NOTHING };
	uint64_t data;

	if (info->si_code == SI_TIMER &&
	    info->si_value.sival_ptr == (void *)&runtime) {
		s.late = runtime.delivery == DELIVERY_SIGTRAP; /* perhaps */
		s.event = s.late ? WATCH_WAKE : WATCH_CLOCK;
		return s;
	}
	if (runtime.delivery == DELIVERY_RTSIG) {
		if (info->si_code > 0 && info->si_code <= 6)
			return watch_classify_fd(info->si_fd);
		return s;
	}
	if (info->si_code != TRAP_PERF_CODE)
		return s;
	data = perf_data(info);
	if ((data & 0xFFFFFFFF00000000ull) != WATCH_COOKIE)
		return s;
	s.event = (data >> 8) & 0xFF;
	s.reg = data & 0xFF;
	s.tag = data >> 16 & 0xFFFF;
	s.addr = (uint64_t)(uintptr_t)info->si_addr;
	s.late = perf_flags(info) & LATE_FLAG;
	return s;
}
