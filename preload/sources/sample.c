/* SPDX-License-Identifier: MIT */
/*
 * sample - from an interrupt or a trap to the engine, and from the engine to
 * the file
 *
 * Runs in the handler, on the handler's own stack.
 */
#include <errno.h>
#include <string.h>

#include "sample.h"
#include "callers.h"
#include "program_memory.h"
#include "heap_blocks.h"
#include "look.h"
#include "our_code.h"
#include "regions.h"
#include "slices.h"
#include "thread_reuse.h"
#include "visit.h"
#include "preload/core/maps.h"
#include "preload/core/sys.h"
#include "preload/core/vdso.h"
#include "preload/handler/handler.h"
#include "preload/threads/thread_rows.h"
#include "preload/threads/threads.h"
#include "src/store/sample_log.h"
#include "src/base/signal_safe.h"

static void on_detection(void *ctx, const struct detection *d)
{
	struct thread *t = ctx;
	uint64_t g = maps_note(d->detector.ip);
	struct detection judged = *d;

	maps_note(d->publisher.ip);
	judged.padding = visit_of(t, t->cpu, d);
	judged.publisher_thread = thread_mark_referenced(d->publisher_thread);
	if (pair_table_add(&runtime.store, &t->pairs, &judged, t->clock_at,
			   g)) {
		count_loss(t, LOSS_STORE_FULL);
		return;
	}
	callers_detected(t, &judged);
	regions_detected(t, &judged);
	slices_detected(t, &judged);
	heap_blocks_note(d);
	core_table_add(&runtime.store, &t->cores, d);
	store_add(&t->record->detections, 1);
	store_add(&t->record->squares[d->sharing],
		  (uint64_t)d->weight * d->weight);
}

static void on_loss(void *ctx, enum loss_cause cause)
{
	count_loss(ctx, cause);
}

const struct comm_sink sample_sink = {
	.detected = on_detection,
	.lost = on_loss,
};

static void note(struct thread *t, const struct access *a,
		 enum sample_kind kind)
{
	store_add(&t->record->samples[kind], 1);
	if (t->comm.weight > 1)
		store_add(&t->record->samples_skipped, t->comm.weight - 1);
	if (kind == SAMPLE_UNIFORM) {
		if (a->flags & ACCESS_LOAD)
			store_add(&t->record->loads, 1);
		if (a->flags & ACCESS_STORE)
			store_add(&t->record->stores, 1);
	}
	regions_sample(t, kind);
	slices_sample(t);
	sample_log_add(t->record->id, a, kind);
}

static void feed(struct thread *t, const struct access *a,
		 enum sample_kind kind, uint64_t time, uint32_t core)
{
	note(t, a, kind);
	visit_note(t, a);
	comm_sample(&runtime.comm, &t->comm, a, time, core);
	if (t->comm.armed && t->comm.armed_at == time &&
	    t->comm.armed_weight > 1)
		t->armed_cpu = handler_cpu_at(t);
}

static void deliver(struct thread *t, const struct choice *c)
{
	if (c->stalled_unknown)
		count_loss(t, LOSS_NOT_STALLED);
	if (c->what != CHOSEN) {
		count_loss(t, c->cause);
	} else if (our_code_has(c->access.ip)) {
		count_loss(t, LOSS_REENTRANT);
	} else if (t->reuse) {
		note(t, &c->access, c->kind);
		thread_reuse_sample_ahead(t, &c->access);
	} else {
		callers_of_choice(t, c);
		feed(t, &c->access, c->kind, t->clock_at, t->core);
	}
}

void sample_hardware(struct thread *t, const struct access *a, uint64_t time,
		     uint32_t core)
{
	if (!(runtime.config.modes & CDP_MODE_REUSE)) {
		feed(t, a, SAMPLE_UNIFORM, time, core);
	} else if (t->reuse) {
		note(t, a, SAMPLE_UNIFORM);
		thread_reuse_sample(t, a);
	}
}

/*
 * The interpreter cannot read the vDSO's data, so a window may end there with a
 * breakpoint. But our handler calls the vDSO for the time and would trap on it,
 * so such a choice is given up.
 */
static void finish_choice(struct thread *t, struct choice *c)
{
	if (c->what == CHOSEN_BREAKPOINT && vdso_has(c->breakpoint_ip)) {
		choose_abandon(&t->choose, c);
	} else if (c->what == CHOSEN_BREAKPOINT) {
		if (!watch_exec(t, c->breakpoint_ip)) {
			t->exec_ip = c->breakpoint_ip;
			return;
		}
		count_loss(t, LOSS_NO_REGISTER);
		choose_abandon(&t->choose, c);
	}
	look_through(t, c);
	deliver(t, c);
}

static void interrupt(struct thread *t, const struct cpu_state *cpu,
		      uint32_t weight)
{
	struct memory m = program_memory_at(t, cpu);
	struct choice c;

	store_add(&t->record->interrupts, 1);
	store_touch(&runtime.store, t->clock_at);
	thread_refresh(t);
	if (t->exec_ip) { /* the breakpoint was not reached in time */
		watch_exec_off(t);
		t->exec_ip = 0;
		count_loss(t, LOSS_BREAKPOINT_MISSED);
		choose_abandon(&t->choose, &c);
		if (c.what == CHOSEN)
			deliver(t, &c);
	}
	t->comm.weight = weight;
	if (budget_is_spent(&t->budget, runtime.period_ns)) {
		count_loss(t, LOSS_BUDGET);
		return;
	}
	choose_start(&t->choose, cpu, &m, &c);
	finish_choice(t, &c);
}

void sample_interrupt(struct thread *t, const struct cpu_state *cpu,
		      uint32_t weight)
{
	t->cpu = cpu;
	interrupt(t, cpu, weight);
	t->cpu = NULL;
}

static void exec_breakpoint(struct thread *t, const struct cpu_state *cpu)
{
	struct memory m = program_memory_at(t, cpu);
	struct choice c;

	store_add(&t->record->exec_traps, 1);
	if (!t->exec_ip || t->exec_ip != cpu->rip) {
		watch_exec_off(t);
		count_loss(t, LOSS_TRAP_STALE);
		return;
	}
	watch_exec_off(t);
	t->exec_ip = 0;
	choose_resume(&t->choose, cpu, &m, &c);
	finish_choice(t, &c);
}

/*
 * At the full rate the watch would have ended with the next sample. That is a
 * time that the thread runs.
 */
static bool is_late(struct thread *t)
{
	return t->comm.armed && t->comm.armed_weight > 1 &&
	       handler_cpu_at(t) - t->armed_cpu > runtime.period_ns;
}

static void data_trap(struct thread *t, int reg, const struct cpu_state *cpu)
{
	struct access a;
	bool known = false;

	store_add(&t->record->traps, 1);
	if (t->reuse) {
		thread_reuse_trap(t, reg, cpu);
		return;
	}
	if (is_late(t)) {
		comm_trap_late(&runtime.comm, &t->comm);
		return;
	}
	if (reg < (int)t->comm.armed)
		known = program_trapped(t, cpu, &t->comm.ranges[reg], &a);
	if (!known)
		a.ip = cpu->rip;
	if (our_code_has(a.ip)) {
		count_loss(t, LOSS_REENTRANT);
		return;
	}
	callers_of_trap(t, known ? &a : NULL);
	comm_trap(&runtime.comm, &t->comm, reg, known ? &a : NULL,
		  runtime.source->time(t), t->core);
}

void sample_trap(struct thread *t, const struct watch_signal *s,
		 const struct cpu_state *cpu)
{
	t->cpu = cpu;
	if (s->event == WATCH_EXEC)
		exec_breakpoint(t, cpu);
	else if (s->event == WATCH_DATA && s->late && t->reuse)
		thread_reuse_late(t, s->reg);
	else if (s->event == WATCH_DATA)
		data_trap(t, s->reg, cpu);
	t->cpu = NULL;
}

uint64_t sample_time(const struct thread *t)
{
	return t->clock_at;
}
