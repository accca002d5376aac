/* SPDX-License-Identifier: MIT */
/*
 * choose_source - which source samples, how its signals come, and its start
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "choose_source.h"
#include "source_table.h"
#include "stop.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/handler/handler.h"
#include "preload/signal/claim.h"
#include "preload/sources/clock/clock_source.h"
#include "preload/sources/thread_reuse.h"
#include "preload/watch/watch.h"
#include "src/pmu/machine.h"

/* Why SIGTRAP is not used, "" if it is. */
static char delivery_why[128];

/* Before 5.19 the kernel kills a process that traps with SIGTRAP blocked. */
static enum delivery choose_delivery(void)
{
	delivery_why[0] = 0;
	if (runtime.config.force_rtsig || runtime.config.force_timer) {
		snprintf(delivery_why, sizeof(delivery_why),
			 "asked for by the environment");
		return DELIVERY_RTSIG;
	}
	if (pmu_linux_version(&perf_kernel_linux, NULL) >= PMU_LINUX(5, 19, 0))
		return DELIVERY_SIGTRAP;
	snprintf(delivery_why, sizeof(delivery_why),
		 "kernels before 5.19 deliver perf signals unsafely");
	return DELIVERY_RTSIG;
}

/* The user asked for a hardware source, and there is none: say so. */
static void say_replaced(void)
{
	const struct config *c = &runtime.config;
	char line[400];

	if (runtime.source != &clock_source || c->source == SOURCE_AUTO ||
	    c->source == SOURCE_CLOCK ||
	    c->modes & CDP_MODE_REUSE) /* which may refuse */
		return;
	snprintf(line, sizeof(line), "%.300s; the clock samples instead",
		 runtime.source_why);
	stderr_line(line);
}

int source_choose(char *why, size_t size)
{
	char reason[512];
	int r = 0;

	runtime.delivery = choose_delivery();
	runtime.source_why[0] = 0;
	for (int i = 0; source_table[i] && !r; i++) {
		reason[0] = 0;
		r = source_table[i]->choose(reason, sizeof(reason));
		if (reason[0])
			snprintf(runtime.source_why, sizeof(runtime.source_why),
				 "%.199s", reason);
		runtime.source = source_table[i];
	}
	if (r > 0)
		return 0;
	snprintf(why, size, "%s", reason);
	return -ENODEV;
}

static void use_delivery(enum delivery delivery)
{
	runtime.delivery = delivery;
	runtime.signal = delivery == DELIVERY_SIGTRAP ? SIGTRAP : SIGRTMAX - 5;
}

/*
 * A debugger, and a program that opens breakpoints, expect to find a register.
 * For -m reuse each register counts; the board finds most of the sharing.
 */
static uint32_t wanted_registers(void)
{
	const struct config *c = &runtime.config;
	uint32_t left = !c->registers_asked && !(c->modes & CDP_MODE_REUSE);

	return c->registers - left;
}

static void try_registers(void)
{
	struct cdp_header *h = runtime.store.header;
	char *why = h->registers_reason;

	runtime.registers = wanted_registers();
	if (!runtime.registers)
		snprintf(why, sizeof(h->registers_reason),
			 "switched off by --registers 0");
	else
		runtime.registers =
			watch_selftest(why, sizeof(h->registers_reason));
	if (runtime.registers && runtime.registers == wanted_registers() &&
	    runtime.registers < runtime.config.registers)
		snprintf(why, sizeof(h->registers_reason),
			 "one is left for debuggers and the program; "
			 "--registers %u uses it",
			 runtime.config.registers);
	runtime.comm.registers = runtime.registers;
	runtime.comm.watch = runtime.registers ? &watch_ops : NULL;
}

int source_start(char *why, size_t size)
{
	char detail[200] = "";
	int r;

	if (runtime.source->start)
		return runtime.source->start(why, size);
	say_replaced();
	snprintf(why, size, "%s", delivery_why);
	for (;;) {
		use_delivery(runtime.delivery);
		runtime.source->set_period();
		r = signal_claim(runtime.signal, handler_on_signal);
		if (r)
			return r;
		if (runtime.source->limit_rate)
			runtime.source->limit_rate();
		try_registers();
		if (runtime.config.modes & CDP_MODE_REUSE) {
			r = thread_reuse_possible(why, size);
			if (r)
				return r;
		}
		if (runtime.waits_for_thread)
			return 0;
		r = runtime.source->open(detail, sizeof(detail));
		if (!r || runtime.delivery == DELIVERY_RTSIG)
			break;
		snprintf(why, size, "%s", detail);
		runtime.delivery = DELIVERY_RTSIG;
	}
	if (r)
		snprintf(why, size, "%s", detail);
	return r;
}

void source_first_thread(void)
{
	char detail[200];

	if (!runtime.waits_for_thread)
		return;
	signal_reclaim();
	if (runtime.sampling)
		return;
	runtime.sampling = true;
	if (runtime.source->open(detail, sizeof(detail))) {
		runtime.sampling = false;
		runtime_stop("profiling stopped: the clock could not start");
		return;
	}
	thread_reuse_calibrate();
}
