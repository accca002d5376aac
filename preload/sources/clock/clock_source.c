/* SPDX-License-Identifier: MIT */
/*
 * clock_source - the source clock: one access chosen at each clock interrupt
 *
 * The clock counts no accesses, so the time of its reuses is the CPU time of
 * the thread: while the thread waits, or another one has its processor, it
 * accesses nothing. The time in our handler is measured and left out. What the
 * kernel takes to get there and back is subtracted by thread_reuse.h.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#include "clock.h"
#include "clock_source.h"
#include "interrupt_cost.h"
#include "rate.h"
#include "wake.h"
#include "young.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "preload/handler/handler.h"
#include "preload/sources/sample.h"
#include "preload/sources/thread_reuse.h"
#include "preload/watch/watch.h"

/* What the source keeps of a thread. */
struct own {
	struct clock_state clock;
	struct young young;
	uint64_t cpu_ours; /* CPU time spent in the handler, ns */
	/* With a budget: what of the record's handler_ns has been counted, */
	uint64_t handler_seen;
	struct rate_seen seen; /* and of CPU time and switches, */
	uint32_t spell;        /* while spells had this value */
};

static struct rate rate;
static _Atomic bool slow;       /* all threads are sampled at the slow rate */
static _Atomic bool changing;   /* somebody changes it */
static _Atomic uint32_t spells; /* times that the clock was started */
static uint64_t interrupt_ns;   /* why the rate is lower than asked for; 0: it
				   is not */

static struct own *own(const struct thread *t)
{
	return t->source;
}

static int choose(char *why, size_t size)
{
	return 1;
}

static void use_period(uint64_t ns)
{
	clock_set_period(ns);
	clock_allow_slow(
		rate_slow_weight(runtime.config.budget, runtime.period_ns));
	runtime.handler_max_ns = runtime.period_ns;
	comm_set_expiry(&runtime.comm, runtime.period_ns);
	young_init();
}

static void set_period(void)
{
	use_period(1000000000ull / runtime.config.freq);
}

/* Leave most of the time to the program, whatever rate was asked for. */
static void limit_rate(void)
{
	uint64_t cost = 0;

	if (runtime.delivery == DELIVERY_SIGTRAP &&
	    runtime.period_ns < INTERRUPT_COST_MATTERS)
		cost = interrupt_cost();
	interrupt_ns = runtime.period_ns < INTERRUPT_SHARE * cost ? cost : 0;
	if (interrupt_ns)
		use_period(INTERRUPT_SHARE * cost);
}

static void begin_young(struct thread *t)
{
	/* A timer begins at random by itself. */
	if (runtime.delivery == DELIVERY_SIGTRAP)
		young_begin(&own(t)->young, t,
			    atomic_load(&slow) ? clock_slow_weight() : 1);
}

/* Fill in the switches of the calling thread. */
static bool ask_kernel(struct rate_seen *now)
{
	struct rusage used;

	if (sys_call2(SYS_getrusage, RUSAGE_THREAD, &used))
		return false;
	now->switches = used.ru_nvcsw + used.ru_nivcsw;
	return true;
}

/*
 * Count what the kernel knows of @t, if its CPU time was read anyway. What came
 * before the clock was started does not count.
 */
static void look(struct thread *t, bool full)
{
	struct own *o = own(t);
	uint32_t spell = atomic_load(&spells);
	struct rate_seen now = { .cpu = t->cpu_at };

	if (!t->cpu_known || !ask_kernel(&now))
		return;
	if (o->spell == spell)
		rate_look(&rate, &o->seen, &now, full);
	else
		o->seen = now;
	o->spell = spell;
}

/* A forked child begins anew, wherever its parent was. */
static void begin_rate(void)
{
	rate_init(&rate, runtime.config.budget);
	atomic_store(&slow, false);
	atomic_store(&changing, false);
	atomic_fetch_add(&spells, 1);
	comm_set_rate(&runtime.comm, 1, now_ns());
}

static int open(char *why, size_t size)
{
	struct thread *t = thread_self();
	int timer, r = 0;
	bool woken = wake_end(&timer);

	if (timer >= 0)
		clock_open_timer(timer);
	else
		r = clock_open(why, size);
	if (r)
		return r;
	begin_rate();
	rate_thread_begins(&rate);
	if (clock_slow_weight() > 1) {
		own(t)->seen.cpu = thread_cpu_ns();
		if (ask_kernel(&own(t)->seen))
			own(t)->spell = atomic_load(&spells);
	}
	if (!woken)
		begin_young(t);
	thread_reuse_begin(t);
	return 0;
}

static void end_wait(void)
{
	int timer;

	if (wake_end(&timer) && timer >= 0)
		sys_call1(SYS_timer_delete, timer);
}

static void describe(struct cdp_header *h, const char *why)
{
	const char *better = runtime.source_why;

	snprintf(h->source, sizeof(h->source), "clock");
	if (runtime.delivery == DELIVERY_SIGTRAP && interrupt_ns)
		snprintf(h->source_reason, sizeof(h->source_reason),
			 "perf task-clock with synchronous signals; not the "
			 "%u Hz asked for, since an interrupt takes %u us "
			 "here%s%.130s",
			 runtime.config.freq, (uint32_t)(interrupt_ns / 1000),
			 *better ? "; " : "", better);
	else if (runtime.delivery == DELIVERY_SIGTRAP)
		snprintf(h->source_reason, sizeof(h->source_reason),
			 "perf task-clock with synchronous signals%s%s",
			 *better ? "; " : "", better);
	else
		snprintf(h->source_reason, sizeof(h->source_reason),
			 "POSIX timers of each thread%s%.150s",
			 *why ? ": " : "", why);
	snprintf(h->period_unit, sizeof(h->period_unit), "ns");
	h->period = runtime.period_ns;
	if (clock_slow_weight() > 1)
		h->slow_period = runtime.period_ns * clock_slow_weight();
}

static void thread_begin(struct thread *t)
{
	clock_thread_begin(t);
	rate_thread_begins(&rate);
	if (t->start) { /* else it began unseen, and is no longer young */
		begin_young(t);
		own(t)->spell = atomic_load(&spells);
	}
	thread_reuse_begin(t);
}

static void thread_end(struct thread *t)
{
	clock_thread_end(t);
	rate_thread_ends(&rate);
	young_end(&own(t)->young, t);
	if (!t->reuse)
		return;
	t->cpu_at = thread_cpu_ns();
	t->cpu_known = true;
	thread_reuse_end(t);
}

static void enter(struct thread *t)
{
	if (t->reuse)
		handler_cpu_at(t);
	thread_reuse_signal(t);
}

/* How much CPU time has passed since the last interrupt of this kind. */
static uint64_t passed(const struct watch_signal *s)
{
	if (s->event != WATCH_CLOCK || s->reg == CLOCK_OWN)
		return 0;
	return runtime.period_ns *
	       (s->reg == CLOCK_SLOW ? clock_slow_weight() : 1);
}

/* Count the CPU time, and the switches, since the signal before this one. */
static void count_time(struct thread *t, const struct watch_signal *s)
{
	uint64_t ns = passed(s);

	rate_pass(&rate, ns, s->reg != CLOCK_SLOW);
	own(t)->seen.cpu += ns;
	look(t, !atomic_load(&slow));
}

/*
 * Account for the signal, and change the rate of all threads if need be. This
 * is on the program's stack, which may be nearly full.
 */
static void adapt(struct thread *t, const struct watch_signal *s)
{
	uint64_t handler = t->record->handler_ns;
	bool is_slow = atomic_load(&slow), full;

	rate_spend(&rate, handler - own(t)->handler_seen);
	own(t)->handler_seen = handler;
	full = rate_wants_full(&rate, !is_slow);
	if (full != is_slow || atomic_exchange(&changing, true))
		return;
	comm_set_rate(&runtime.comm, full ? 1 : clock_slow_weight(),
		      t->clock_at);
	clock_use_slow(!full);
	atomic_store(&slow, !full);
	atomic_store(&changing, false);
}

static void leave(struct thread *t, const struct watch_signal *s)
{
	if (clock_slow_weight() > 1)
		adapt(t, s);
	if (t->reuse)
		own(t)->cpu_ours += thread_cpu_ns() - handler_cpu_at(t);
}

static uint32_t weight(const struct thread *t, uint32_t event)
{
	return event == CLOCK_OWN    ? own(t)->young.weight
	       : event == CLOCK_SLOW ? clock_slow_weight()
				     : 1;
}

static void on_signal(struct thread *t, const struct watch_signal *s,
		      const struct cpu_state *cpu)
{
	uint64_t detections = t->record->detections;

	if (s->event != WATCH_CLOCK)
		sample_trap(t, s, cpu);
	else if (young_takes(&own(t)->young, t, s->reg == CLOCK_OWN))
		sample_interrupt(t, cpu, weight(t, s->reg));
	/* A trap that came too late to count is a reason to look, too. */
	if (t->record->detections != detections || s->event == WATCH_DATA)
		rate_found(&rate);
	if (clock_slow_weight() > 1)
		count_time(t, s);
}

/*
 * A young thread's event comes at its first interval until it has been taken.
 * That may be shorter than a signal takes: the thread would get no further.
 */
static void skip(struct thread *t, const struct watch_signal *s)
{
	if (s->event != WATCH_CLOCK)
		return;
	interrupt_cost_saw();
	t->cpu_known = false;
	young_takes(&own(t)->young, t, s->reg == CLOCK_OWN);
}

static void pause_all(void)
{
	clock_pause();
	wake_pause();
	young_close_all();
}

static void resume_all(void)
{
	atomic_fetch_add(&spells, 1);
	clock_resume();
	wake_resume();
}

static void after_fork(void)
{
	clock_close();
	wake_after_fork();
	young_after_fork();
}

/* CPU time up to the handler's begin, without what handlers took. */
static bool reuse_count(struct thread *t, uint64_t *count)
{
	*count = handler_cpu_at(t) - own(t)->cpu_ours;
	return true;
}

static int reuse_possible(char *why, size_t size)
{
	const struct config *c = &runtime.config;

	/* Accesses were asked for, and the clock has only time. */
	if (c->source == SOURCE_AUTO || c->source == SOURCE_CLOCK)
		return 0;
	snprintf(why, size,
		 "-m reuse by accesses needs pebs, ibs, instr or emu, "
		 "and there is neither pebs nor ibs: %.100s; clock "
		 "measures it in ns",
		 runtime.source_why);
	return -ENODEV;
}

static const struct source_reuse reuse = {
	.registers = 1, /* the execution breakpoint */
	.possible = reuse_possible,
	.count = reuse_count,
};

const struct source_ops clock_source = {
	.thread_bytes = sizeof(struct own),
	.reuse = &reuse,
	.choose = choose,
	.set_period = set_period,
	.limit_rate = limit_rate,
	.open = open,
	.describe = describe,
	.pause = pause_all,
	.resume = resume_all,
	.was_closed = clock_was_closed,
	.after_fork = after_fork,
	.wait = wake_begin,
	.is_due = wake_came,
	.end_wait = end_wait,
	.thread_begin = thread_begin,
	.thread_end = thread_end,
	.enter = enter,
	.leave = leave,
	.on_signal = on_signal,
	.skip = skip,
	.takes_late_traps = thread_reuse_takes_late,
	.time = sample_time,
};
