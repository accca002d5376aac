/* SPDX-License-Identifier: MIT */
/*
 * event - the hooks report an access: a counter ran out or a line is watched
 *
 * All other accesses end in the hook. Signals are blocked during an event, so a
 * handler of the program waits for its end; if it has none, and our own signals
 * are not in use, the two system calls are saved. A handler that interrupts a
 * hook before the event finds consistent counters.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sched.h>

#include "event.h"
#include "config.h"
#include "counters.h"
#include "draw.h"
#include "exact.h"
#include "frames.h"
#include "hook_code.h"
#include "libraries.h"
#include "rearm.h"
#include "registers.h"
#include "reuse.h"
#include "state.h"
#include "transfer.h"
#include "watch.h"
#include "preload/core/inside.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/handler/handler.h"
#include "preload/sources/callers.h"
#include "preload/signal/claimed.h"
#include "preload/sources/program_memory.h"
#include "preload/sources/regions.h"
#include "preload/sources/slices.h"
#include "preload/threads/threads.h"
#include "preload/watch/watch.h"
#include "src/store/sample_log.h"
#include "src/x86/decode/cpu_state.h"
#include "src/base/signal_mask.h"
#include "src/base/signal_safe.h"

static uint64_t owner;     /* a number for this run in this process; odd */
static _Atomic int inside; /* how many threads are in an event */

void instr_event_init(void)
{
	owner = runtime.seed | 1;
	instr_counters_init();
	atomic_store(&inside, 0);
	instr_draw_init();
}

/* Skip this access; the next event is a period away. */
static void pass(struct instr_thread *h, enum instr_class class)
{
	if (h->left[class] < 0)
		instr_counters_load(h, class,
				    instr_config.period ? instr_config.period
							: INSTR_FAR);
}

/* Profiling is over: make the counter never run out. */
static void mute(struct instr_thread *h, enum instr_class class)
{
	if (h->left[class] < 0)
		instr_counters_load(h, class, INSTR_FAR);
}

/* Register a thread with the engines, at its first event or trap. */
static void begin(struct thread *t)
{
	if (instr_of(t)->begun)
		return;
	instr_of(t)->begun = true;
	instr_draw_start(t);
	if (instr_config.reuse)
		instr_reuse_start(t);
	if (instr_config.comm && instr_config.algorithm != INSTR_COMDETECTIVE)
		instr_transfer_start(t);
	if (instr_config.exact)
		instr_exact_start(t);
}

/* The thread's first event in this copy of the hooks. */
static void begin_hooks(struct thread *t, struct instr_thread *h)
{
	instr_draw_begin(t, h);
	for (int i = 0; i < instr_libraries(); i++) {
		struct instr_copy *copy = &instr_of(t)->copy[i];

		if (!instr_library(i) || instr_library(i)->thread() != h)
			continue;
		copy->library = instr_library(i);
		atomic_store_explicit(&copy->hooks, h, memory_order_release);
		if (instr_reuse_by_registers())
			instr_rearm_begin(t, copy, h);
	}
	instr_frames_begin(t, h);
	h->owner = owner;
}

struct event {
	struct thread *thread;
	struct instr_thread *hooks;
	enum instr_class class;
	struct access access;
	const struct instr_call *from;
	bool sampled, rearm, reuses;
	enum instr_drawn drawn;
	bool awaited;   /* the sample has been handled, before the access itself
			 */
	bool placed;    /* take_place was called */
	bool watched;   /* when it took its place, its line was watched */
	bool looked;    /* look was called */
	uint64_t slots; /* slots of the transfer estimator that the access may
			   touch, as bits */
	struct cpu_state cpu; /* in the hook; of paths alone */
};

/* Find the calls that led to the access, if they are asked for. */
static void find_path(struct thread *t, const struct event *e)
{
	if (instr_config.reuse)
		instr_frames_path(t, e->from->sp, e->access.ip);
	else
		callers_of_hook(t, &e->cpu, e->access.ip);
	instr_of(t)->transfer.path = t->comm.path;
}

static void trap_comm(struct thread *t, const struct access *a)
{
	for (uint32_t i = 0; i < instr_of(t)->watches; i++) {
		struct access w = { .addr = instr_of(t)->watched[i].addr,
				    .len = instr_of(t)->watched[i].len };

		if (!access_overlaps(a, &w))
			continue;
		store_add(&t->record->traps, 1);
		comm_trap(&runtime.comm, &t->comm, i, a, instr_ticks(),
			  t->core);
		return;
	}
}

static void trap(struct thread *t, const struct event *e)
{
	if (instr_config.algorithm == INSTR_COMDETECTIVE) {
		trap_comm(t, &e->access);
		return;
	}
	for (uint64_t left = e->slots; left; left &= left - 1) {
		uint32_t slot = __builtin_ctzll(left), generation;

		if (!instr_watch_touches(slot, &e->access, &generation))
			continue;
		store_add(&t->record->traps, 1);
		instr_transfer_trap(t, slot, generation, 0, &e->access);
	}
}

static void sample(struct thread *t, const struct event *e)
{
	struct cdp_thread *r = t->record;

	store_touch(&runtime.store, t->clock_at);
	thread_refresh(t);
	instr_counters_flush(t, e->hooks);
	store_add(&r->interrupts, 1);
	if (runtime_phase(t->clock_at) != RUNTIME_WANTED)
		return;
	store_add(&r->samples[SAMPLE_UNIFORM], 1);
	if (e->access.flags & ACCESS_LOAD)
		store_add(&r->loads, 1);
	if (e->access.flags & ACCESS_STORE)
		store_add(&r->stores, 1);
	regions_sample(t, SAMPLE_UNIFORM);
	slices_sample(t);
	if (e->drawn == DRAW_SOON) {
		instr_transfer_expect(t);
		return;
	}
	sample_log_add(r->id, &e->access, SAMPLE_UNIFORM);
	if (instr_config.reuse)
		instr_reuse_sample(t, &e->access, e->from->sp);
	if (!instr_config.comm)
		return;
	if (instr_config.algorithm == INSTR_COMDETECTIVE)
		comm_sample(&runtime.comm, &t->comm, &e->access, instr_ticks(),
			    t->core);
	else
		instr_transfer_sample(t, &e->access);
}

static void take_place(struct thread *t, struct event *e);

/* Handle an event, on the thread's handler stack with all signals blocked. */
static void work(void *arg)
{
	struct event *e = arg;
	struct thread *t = e->thread;
	uint64_t start = now_ns();

	t->clock_at = start;
	t->core = sched_getcpu();
	instr_of(t)->from = e->from;
	instr_reuse_hook(t, e->access.ip);
	begin(t);
	if (e->hooks->owner != owner)
		begin_hooks(t, e->hooks);
	if (e->rearm)
		instr_rearm_update(t);
	if (e->reuses)
		instr_reuse_trap(t, &e->access, e->from->sp);
	if (e->slots || e->sampled)
		find_path(t, e);
	if (e->slots) {
		take_place(t, e);
		trap(t, e);
	}
	if (e->sampled)
		sample(t, e);
	instr_of(t)->from = NULL;
	store_add(&t->record->handler_ns, now_ns() - start);
}

static void handle(struct event *e)
{
	struct thread *t = thread_self();

	if (!t && runtime_active())
		t = thread_adopt();
	e->thread = t;
	if (!runtime_active() || (!t && thread_has_ended())) {
		mute(e->hooks, e->class);
	} else if (!t || thread_is_another() || t->in_handler) {
		count_loss(t && !thread_is_another() ? t : NULL,
			   t ? LOSS_REENTRANT : LOSS_NO_THREAD);
		pass(e->hooks, e->class);
	} else if (t->ending) {
		mute(e->hooks, e->class);
	} else {
		t->in_handler = true;
		if (runtime.config.paths)
			instr_note_registers(&e->cpu);
		handler_call(t, work, e);
		t->in_handler = false;
	}
}

/*
 * Two system calls take longer than all else, and the order of traps of several
 * threads is to be that of their accesses.
 */
static void blocked(struct event *e)
{
	bool block =
		!instr_transfer_awaits() ||
		atomic_load_explicit(&signal_handlers, memory_order_relaxed);
	uint64_t before = 0;

	if (block)
		before = signals_block_all();
	atomic_fetch_add(&inside, 1);
	handle(e);
	atomic_fetch_sub(&inside, 1);
	if (block)
		signals_restore(before);
}

static bool is_near(const struct watch_range *w, uint64_t addr, uint64_t bytes)
{
	return addr < w->addr + w->len && w->addr < addr + bytes;
}

/* The slots that the access touches and whose estimator still needs it. */
static uint64_t slots_of(const struct thread *t, const struct access *a,
			 uint64_t bytes)
{
	uint64_t slots;

	if (instr_config.algorithm == INSTR_COMDETECTIVE)
		return instr_of(t)->watches &&
		       is_near(&instr_of(t)->watched[0], a->addr, bytes);
	slots = instr_watch_slots(a->addr, bytes);
	for (uint64_t left = slots; left; left &= left - 1)
		if (!instr_transfer_needs(t, __builtin_ctzll(left), a))
			slots &= ~(left & -left);
	return slots;
}

/* True if one of them may need it by the time the access has its place. */
static bool is_watched(const struct thread *t, const struct access *a)
{
	uint64_t slots = instr_watch_slots(a->addr, a->len);

	for (; slots; slots &= slots - 1)
		if (instr_transfer_may_need(t, __builtin_ctzll(slots), a))
			return true;
	return false;
}

static bool takes_slot(const struct event *e)
{
	return e->awaited || e->drawn == DRAW_NOW;
}

/* Find the slots that the access matters to, and log it. */
static void look(struct thread *t, struct event *e)
{
	e->looked = true;
	if (!instr_config.comm)
		return;
	e->slots = slots_of(t, &e->access, e->access.len);
	if (takes_slot(e))
		instr_transfer_follow(t);
	if (e->slots)
		e->slots = instr_transfer_log(t, &e->access, e->slots);
}

/*
 * The access has its place, and no other thread has the next one yet. What it
 * ends, ends here, and the slot of its sample opens.
 */
static void placed(void *event)
{
	struct event *e = event;

	if (takes_slot(e))
		instr_transfer_made(e->thread);
	if (!e->watched)
		return;
	look(e->thread, e);
	if (e->slots)
		blocked(e);
	e->slots = 0;
}

/*
 * The access takes its place among those of other threads, if it has none yet.
 * If its line is watched, the estimator hears of it before another access takes
 * the place after it, so that both see the same order. The rest looks at the
 * slots after that: then it sees those of all samples that come before it.
 */
static void take_place(struct thread *t, struct event *e)
{
	if (e->placed)
		return;
	e->placed = true;
	e->thread = t;
	e->watched = instr_config.exact && instr_config.comm &&
		     instr_transfer_awaits() && is_watched(t, &e->access);
	if (e->drawn == DRAW_NOW)
		instr_transfer_met(t, &e->access);
	if (instr_config.exact)
		instr_exact_access(t, &e->access,
				   e->watched || takes_slot(e) ? placed : NULL,
				   e);
	if (takes_slot(e))
		instr_transfer_made(t);
	if (e->drawn == DRAW_NOW)
		sample_log_add(t->record->id, &e->access, SAMPLE_UNIFORM);
}

/*
 * Let the hooks use their library's table: threads set no registers any more.
 */
static void leave(const struct instr_thread *h)
{
	for (int i = 0; i < instr_libraries(); i++)
		if (instr_library(i) && instr_library(i)->thread() == h)
			instr_rearm_end(instr_library(i));
}

/*
 * A sample stops its thread for a microsecond, and for much longer if the
 * thread loses its processor meanwhile, as threads tend to in system calls.
 * Other threads then touch the line more often than after stores that are no
 * samples. So the stop comes first, best long before (draw.h), and the sampled
 * access takes its place among others when the thread goes on (take_place).
 */
static void sample_first(struct event *e)
{
	if (!e->sampled || !instr_config.comm || !instr_transfer_awaits())
		return;
	blocked(e);
	e->sampled = false;
	e->awaited = e->drawn == DRAW_STOP;
}

/* The hooks call it for each event, in ordinary context. */
static void listen(struct instr_thread *h, enum instr_class class,
		   uint64_t addr, uint64_t bytes, const struct instr_call *from)
{
	struct event e = {
		.hooks = h,
		.class = class,
		.access = {
			.addr = addr,
			.ip = from->ip - 1, /* the call, not the instruction after it */
			.len = bytes < UINT32_MAX ? bytes : UINT32_MAX,
			.flags = (instr_class_loads(class) ? ACCESS_LOAD : 0) |
				 (instr_class_stores(class) ? ACCESS_STORE : 0),
		},
		.from = from,
	};
	struct thread *t = thread_self();

	if (class >= INSTR_MODIFY && class < INSTR_LOAD_RANGE)
		e.access.flags |= ACCESS_LOCKED;
	if (!runtime_active()) { /* a child made by a raw system call */
		leave(h);
		mute(h, class);
		return;
	}
	/* No system call: a handler that a fast timer calls must end. */
	if (!t && h->owner == INSTR_ENDED) {
		mute(h, class);
		return;
	}
	if (!t || h->owner != owner || !instr_of(t)->begun) {
		blocked(&e);
		t = thread_self();
		if (!t || h->owner != owner || !instr_of(t)->begun)
			return;
	}
	e.drawn = instr_draw(t, h, class);
	e.sampled = e.drawn == DRAW_STOP || e.drawn == DRAW_SOON;
	sample_first(&e);
	/* A sample that is still to be handled takes its place afterwards. */
	if (!e.sampled)
		take_place(t, &e);
	e.rearm = instr_reuse_by_registers() && instr_rearm_is_due(t);
	if (instr_config.reuse)
		e.reuses = instr_reuse_watches(t, &e.access);
	if (!e.looked)
		look(t, &e);
	if (e.sampled || e.reuses || e.slots || e.rearm)
		blocked(&e);
	take_place(t, &e);
}

static void set_listener(struct instr_library *l, instr_listener *listener)
{
	/* (I) pairs with (L) in the hooks: they see our set-up. */
	atomic_store_explicit(&l->listener, listener, memory_order_release);
}

void instr_event_connect(struct instr_library *l)
{
	instr_counters_expect(l->thread());
	instr_frames_begin(thread_self(), l->thread());
	set_listener(l, listen);
}

void instr_event_disconnect(struct instr_library *l)
{
	set_listener(l, NULL);
}

void instr_event_drain(void)
{
	inside_wait(&inside);
}

void instr_trap(struct thread *t, const struct watch_signal *what,
		const struct cpu_state *cpu)
{
	uint32_t slot, index, generation;
	struct access a = { .ip = cpu->rip };
	struct watch_range w;

	store_add(&t->record->traps, 1);
	begin(t);
	if (!instr_watch_register(what, &w, &slot, &index, &generation)) {
		count_loss(t, LOSS_TRAP_STALE);
		return;
	}
	if (program_trapped(t, cpu, &w, &a))
		instr_hook_code_attribute(&a);
	else
		count_loss(t, LOSS_TRAP_INEXACT);
	t->cpu = cpu;
	callers_of_trap(t, a.flags ? &a : NULL);
	t->cpu = NULL;
	instr_of(t)->transfer.path = t->comm.path;
	instr_transfer_trap(t, slot, generation, index, &a);
}
