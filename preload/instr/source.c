/* SPDX-License-Identifier: MIT */
/*
 * source - start and end of the source instr
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "source.h"
#include "config.h"
#include "count.h"
#include "counters.h"
#include "event.h"
#include "exact.h"
#include "frames.h"
#include "libraries.h"
#include "rearm.h"
#include "regpool.h"
#include "reuse.h"
#include "transfer.h"
#include "watch.h"
#include "state.h"
#include "preload/core/thread.h"
#include "preload/handler/handler.h"
#include "preload/signal/claim.h"
#include "preload/sources/sample.h"
#include "preload/watch/watch.h"
#include "src/store/directory_store.h"

enum {
	ARM_ONE_IN_HARDWARE = 8,
};

static bool is_source;

bool instr_is_source(void)
{
	return is_source;
}

static int choose(char *why, size_t size)
{
	const char *reason = "";

	switch (instr_libraries_find()) {
	case INSTR_HOOKS:
		if (instr_config.wish != INSTR_UNWANTED)
			return 1;
		break;
	case INSTR_SANITIZER:
		snprintf(why, size,
			 "not profiled: ThreadSanitizer is in this program; "
			 "link it with -lcomdet-instr in place of libtsan");
		return -1;
	case INSTR_TOO_NEW:
		reason = "its libcomdet-instr is of another version: link it "
			 "anew";
		break;
	case INSTR_NONE:
		reason = "compile it with -fsanitize=thread and link it with "
			 "-lcomdet-instr";
		break;
	}
	if (instr_config.wish == INSTR_DEMANDED)
		snprintf(why, size,
			 "not profiled: this program has no hooks for the "
			 "source instr; %s",
			 reason);
	else if (runtime.config.modes != CDP_MODE_COMM &&
		 runtime.config.modes != CDP_MODE_REUSE)
		snprintf(
			why, size,
			"not profiled: COMDET_MODE: shared, global and several "
			"modes at once need the source instr%s%s",
			*reason ? ": " : "", reason);
	else if (instr_config.algorithm > INSTR_COMDETECTIVE)
		snprintf(why, size,
			 "not profiled: COMDET_ALGORITHM: estimates need a "
			 "source that counts accesses");
	else
		return 0;
	return -1;
}

/* Returns how many registers work; if 0, the reason is in @why. */
static int open_registers(int wanted, bool *lines, char *why, size_t size)
{
	int n;

	if (instr_config.reuse ||
	    instr_config.algorithm == INSTR_COMDETECTIVE) {
		n = watch_selftest(why, size);
		if (instr_config.reuse) /* each thread opens its own later */
			watch_thread_end(thread_self());
		return n;
	}
	n = instr_watch_open(wanted, lines);
	if (!n)
		snprintf(why, size,
			 "no debug register could be armed for all threads and "
			 "triggered: a debugger has them, perf_events is not "
			 "permitted, or this virtual machine does not pass "
			 "them on");
	else if (n < wanted)
		snprintf(why, size, "%d of %d could be opened", n, wanted);
	return n;
}

static void start_hardware(bool sigtrap, bool *lines, char *why, size_t size)
{
	struct cdp_header *h = runtime.store.header;
	char *reason = h->registers_reason;
	int wanted = runtime.config.registers;

	if (!sigtrap) {
		snprintf(why, size,
			 "software watchpoints, since this kernel "
			 "has no synchronous signals of perf");
		return;
	}
	runtime.delivery = DELIVERY_SIGTRAP;
	runtime.signal = SIGTRAP;
	if (signal_claim(runtime.signal, handler_on_signal))
		return;
	runtime.registers = wanted; /* the self-test tries this many */
	runtime.registers = open_registers(wanted, lines, reason,
					   sizeof(h->registers_reason));
	if (!runtime.registers)
		snprintf(why, size, "software watchpoints, since %s", reason);
}

static void set_up_comm(void)
{
	struct comm *c = &runtime.comm;
	bool hardware = runtime.registers;

	comm_set_expiry(c, instr_config.period);
	c->watch = hardware ? &watch_ops : &instr_software_comm;
	c->registers = hardware ? runtime.registers : 1;
	if (!hardware)
		c->chunk_bytes = c->line_bytes;
	c->arm_one_in = hardware ? ARM_ONE_IN_HARDWARE : 1;
	if (!runtime.config.registers)
		c->watch = NULL;
}

static int start(char *why, size_t size)
{
	bool sigtrap = runtime.delivery == DELIVERY_SIGTRAP;
	struct instr_config *config = &instr_config;
	bool lines = true;
	int r = 0;

	/* Hooks need no signal of ours, so none is queued. */
	runtime.delivery = DELIVERY_SIGTRAP;
	is_source = true;
	instr_event_init();
	runtime.registers = 0;
	if (config->hardware && runtime.config.registers)
		start_hardware(sigtrap, &lines, why, size);
	/* The epoch estimator needs watches that are armed at once. */
	if (config->algorithm == INSTR_BEST)
		config->algorithm =
			runtime.registers ? INSTR_CHAIN : INSTR_EPOCH;
	if (config->reuse)
		r = instr_reuse_init(runtime.registers);
	if (config->comm && config->algorithm == INSTR_COMDETECTIVE)
		set_up_comm();
	else if (config->comm && !r)
		r = instr_transfer_init(runtime.registers, lines,
					runtime.registers);
	if (!r && config->exact)
		r = instr_exact_init();
	if (r)
		return r;
	runtime.sampling = true;
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i))
			instr_event_connect(instr_library(i));
	return 0;
}

static void describe(struct cdp_header *h, const char *why)
{
	static const char *const algorithms[] = {
		[INSTR_COMDETECTIVE] = "comdetective",
		[INSTR_EPOCH] = "epoch",
		[INSTR_CHAIN] = "chain",
	};

	snprintf(h->source, sizeof(h->source), "instr");
	snprintf(h->source_reason, sizeof(h->source_reason),
		 "the program was compiled with our hooks, which see every "
		 "access%s%.150s",
		 *why ? ": " : "", why);
	snprintf(h->delivery, sizeof(h->delivery), "hooks");
	snprintf(h->algorithm, sizeof(h->algorithm), "%s",
		 algorithms[instr_config.algorithm]);
	snprintf(h->period_unit, sizeof(h->period_unit), "accesses");
	h->period = instr_config.period;
	h->registers = runtime.registers;
	if (!runtime.registers && !h->registers_reason[0])
		snprintf(h->registers_reason, sizeof(h->registers_reason),
			 "software watchpoints (--watch sw)");
}

static void thread_begin(struct thread *t)
{
	for (int i = 0; is_source && i < instr_libraries(); i++)
		if (instr_library(i))
			instr_frames_begin(t, instr_library(i)->thread());
}

/* At the end of the process finish() has done all of this. */
static void thread_end(struct thread *t)
{
	if (!is_source || !runtime_active())
		return;
	instr_frames_end(t);
	if (instr_of(t)->watches)
		instr_software_comm.disarm(t);
	instr_counters_flush_all(t);
	instr_regpool_release(t);
	if (instr_of(t)->in_reuse) {
		instr_reuse_end(t);
		instr_count_end(t);
	}
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i)) {
			instr_library(i)->thread()->owner =
				t == thread_self() ? INSTR_ENDED : 0;
			instr_rearm_end(instr_library(i));
		}
	instr_transfer_end(t);
	if (instr_of(t)->in_exact)
		instr_exact_end(t);
}

static void stop(void)
{
	if (!is_source)
		return;
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i))
			instr_event_disconnect(instr_library(i));
	instr_event_drain();
	instr_watch_close();
	instr_regpool_close_all();
}

static void finish(bool last)
{
	struct cdp_header *h = runtime.store.header;
	uint32_t again;

	if (!is_source)
		return;
	if (last)
		stop();
	if (thread_self())
		instr_counters_flush_all(thread_self());
	if (instr_config.reuse && last)
		instr_reuse_finish();
	if (instr_config.comm && instr_config.algorithm != INSTR_COMDETECTIVE)
		instr_transfer_finish(last);
	if (!instr_config.exact)
		return;
	again = instr_exact_finish();
	if (again && !h->note[0])
		snprintf(h->note, sizeof(h->note),
			 "%u threads are counted together with earlier ones: "
			 "the exact counts keep only %d apart",
			 again, EXACT_ROWS);
}

static void after_fork(void)
{
	if (!is_source)
		return;
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i)) {
			instr_event_disconnect(instr_library(i));
			instr_counters_forget(instr_library(i)->thread());
			instr_frames_forget(instr_library(i)->thread());
			instr_rearm_end(instr_library(i));
		}
	instr_watch_close();
	instr_regpool_close_all();
	instr_reuse_after_fork();
	is_source = false;
}

static void on_signal(struct thread *t, const struct watch_signal *s,
		      const struct cpu_state *cpu)
{
	if (s->event == WATCH_SHARED)
		instr_trap(t, s, cpu);
	else if (s->event == WATCH_DATA && instr_reuse_by_registers())
		instr_reuse_register(t, s, cpu);
	else
		sample_trap(t, s, cpu);
}

static bool takes_late_traps(const struct thread *t)
{
	return instr_reuse_by_registers();
}

/* No event interrupts the program; hooks ask runtime_phase and _active. */
static void nothing_to_pause(void)
{
}

static uint64_t ticks(const struct thread *t)
{
	return instr_ticks();
}

const struct source_ops instr_source = {
	.thread_bytes = sizeof(struct instr_state),
	.choose = choose,
	.start = start,
	.describe = describe,
	.pause = nothing_to_pause,
	.resume = nothing_to_pause,
	.finish = finish,
	.stop = stop,
	.after_fork = after_fork,
	.thread_begin = thread_begin,
	.thread_end = thread_end,
	.on_signal = on_signal,
	.takes_late_traps = takes_late_traps,
	.disarm_late_trap = instr_watch_disarm_late_trap,
	.time = ticks,
};
