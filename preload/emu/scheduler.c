/* SPDX-License-Identifier: MIT */
/*
 * scheduler - the simulated machine: threads take turns in a fixed order
 *
 * One thread at a time has the turn. It passes the turn on after a number of
 * accesses, drawn anew each time from half to one and a half of the slice so
 * that it does not resonate with a loop. The order is that of a queue. Nothing
 * in it depends on the host: the same program with the same input interleaves
 * the same way.
 *
 * What a thread does in a system call, calls.c decides. Most calls return at
 * once; the thread keeps its turn, however long the host takes. A thread that
 * waits in the kernel leaves the queue. It comes back when another thread wakes
 * it, at the place in the order where that happens. It may have its turn before
 * the host has run it again; then all wait for it. Such a thread is not
 * present.
 *
 * A thread that sleeps comes back when the threads have made as many accesses
 * as fit into its time (calls.c says how many). If all wait, time jumps.
 *
 * Turns are no lock, because QEMU sometimes stops all threads (to fork, or to
 * discard its code): it lets each run to the end of its block of instructions,
 * and then the thread with the turn waits for those that wait for a turn. So
 * one of the waiting threads is the watcher and looks now and then. If no
 * turn has ended, and the kernel says that the thread with the turn sleeps,
 * several times in a row, then the waiting threads drain, one after the other:
 * each goes on as long as the thread with the turn sleeps. What it does counts
 * as part of its next turn.
 *
 * If that does not help, or the thread with the turn sleeps in a system call of
 * the program, the next thread takes the turn, and after that the robbed thread
 * has its turn back. Each such turn is counted: the order is no longer the
 * program's alone. A thread that is only slow keeps its turn.
 *
 * Only the watcher waits with a time limit, because a timer costs much of a
 * turn. A waiter promoted to watcher is notified by a new value of its futex,
 * so the wakeup cannot be lost.
 */
#include "scheduler.h"
#include "asleep.h"
#include "processor.h"
#include "queue.h"
#include "settle.h"
#include "sleepers.h"
#include "turn_wait.h"
#include "turns.h"

enum {
	DRAINED_MAX = 1000, /* accesses of a thread that drains */
	CALM_TURNS = 16,    /* then turns are longer */
	LONGER = 16
};

void emu_scheduler_contended(void)
{
	atomic_store_explicit(&emu_turns.contended, emu_turns.turns,
			      memory_order_relaxed);
}

static bool calm(void)
{
	unsigned int contended = atomic_load_explicit(&emu_turns.contended,
						      memory_order_relaxed);

	return emu.config.quick && emu_turns.turns - contended > CALM_TURNS;
}

static void load_turn(struct vcpu *v)
{
	uint64_t n = emu.config.slice;
	/* If turns are off, tell the time now and then. */
	uint64_t accesses = EMU_TURN_LOOK;

	if (calm())
		n *= LONGER;
	if (emu_turns_taken())
		accesses = (n + 1) / 2 + rng_below(&v->turn_rng, n / 2 * 2 + 1);
	emu_scheduler_set_turn(v, accesses > v->drained
					  ? (int64_t)(accesses - v->drained)
					  : 0);
	v->drained = 0;
}

/* Have a turn, or drain: then the next access ends the turn again. */
static void go_on(struct vcpu *v)
{
	if (emu_turn_wait(v)) {
		load_turn(v);
		return;
	}
	emu_scheduler_set_turn(v, 0);
}

/* The thread drains, and has made another access. */
static void go_on_draining(struct vcpu *v)
{
	pthread_mutex_lock(&emu_turns.lock);
	/* Who has the turn now sleeps: it waits for this thread. */
	if (v->place == EMU_PLACE_QUEUED && emu_turns.holder != EMU_NOBODY &&
	    v->drained < DRAINED_MAX &&
	    emu_asleep_in(emu.vcpu[emu_turns.holder].tid, SYS_futex,
			  emu_turns.drained_for) == ASLEEP_THERE) {
		pthread_mutex_unlock(&emu_turns.lock);
		emu_scheduler_set_turn(v, 0);
		return;
	}
	if (v->drained >= DRAINED_MAX)
		atomic_fetch_add(&emu_turns.by_time, 1);
	v->drains = false;
	if (v->place == EMU_PLACE_QUEUED) {
		emu_turns_set(v, EMU_WAITING);
		emu_turns_watch_on(emu_turns_index(v));
	}
	pthread_mutex_unlock(&emu_turns.lock);
	go_on(v);
}

/* Queue, and let the next thread run if there is one. */
static void take_turn(struct vcpu *v, bool in_block)
{
	struct vcpu *other = NULL;
	unsigned int index = emu_turns_index(v);

	pthread_mutex_lock(&emu_turns.lock);
	v->in_block = in_block;
	if (emu_turns.robbed == (int)index)
		emu_turns.robbed = EMU_NOBODY;
	emu_turns_end_sleeps();
	if (emu_turns.holder == (int)index && emu_turns.robbed != EMU_NOBODY) {
		emu_turns_append(index);
		emu_turns.holder =
			emu_turns.robbed; /* it runs already if it can */
		emu_turns.robbed = EMU_NOBODY;
		emu_turns.turns++;
		emu_turns_watch_on(index);
	} else if (emu_turns.holder == (int)index) {
		emu_processor_turn();
		if (!emu_queue_length()) {
			pthread_mutex_unlock(&emu_turns.lock);
			load_turn(v);
			return;
		}
		emu_turns.counts.shared++;
		emu_turns_append(index);
		other = emu_turns_next(index);
	} else {
		emu_turns_append(index);
		if (emu_turns.holder == EMU_NOBODY)
			other = emu_turns_next(index);
		else
			emu_turns_watch_on(index);
	}
	pthread_mutex_unlock(&emu_turns.lock);
	emu_turns_wake(other);
	go_on(v);
}

void emu_scheduler_end(struct vcpu *v)
{
	emu_quick_settle(v);
	if (v->drains)
		v->drained += emu_scheduler_spent(v);
	emu_scheduler_tell_time(v);
	if (v->drains)
		go_on_draining(v);
	else if (emu_turns_taken())
		take_turn(v, true);
	else
		load_turn(v);
}

void emu_scheduler_yield(struct vcpu *v)
{
	emu_scheduler_tell_time(v);
	if (emu_turns_taken())
		take_turn(v, false);
}

void emu_scheduler_call(struct vcpu *v)
{
	if (!v->drains)
		return;
	emu_quick_settle(v);
	v->drained += emu_scheduler_spent(v);
	emu_scheduler_tell_time(v);
	pthread_mutex_lock(&emu_turns.lock);
	v->drains = v->in_block = false;
	if (v->place == EMU_PLACE_QUEUED) {
		emu_turns_set(v, EMU_WAITING);
		emu_turns_watch_on(emu_turns_index(v));
	}
	pthread_mutex_unlock(&emu_turns.lock);
	go_on(v);
}

/*
 * Give up the turn, to be at @place, for @accesses if it sleeps. The next
 * thread settles for the futex, or for the end of this one if @futex is 0.
 */
static void give_up(struct vcpu *v, enum emu_place place, uint64_t accesses,
		    bool settles, uint64_t futex)
{
	struct vcpu *other = NULL;
	unsigned int index = emu_turns_index(v);
	uint64_t now;

	emu_scheduler_tell_time(v);
	if (!emu_turns_taken())
		return;
	pthread_mutex_lock(&emu_turns.lock);
	now = emu_turns_time();
	if (place == EMU_PLACE_SLEEPS)
		emu_sleepers_add(index, accesses < UINT64_MAX - now
						? now + accesses
						: UINT64_MAX);
	emu_turns_set(v, EMU_WAITING);
	v->place = place;
	v->present = v->in_block = false;
	v->left = emu_turns.turns;
	if (emu_turns.robbed == (int)index)
		emu_turns.robbed = EMU_NOBODY;
	if (emu_turns.holder == (int)index) {
		if (settles)
			emu_settle_begin(index, v->tid, futex);
		other = emu_turns_next(EMU_NOBODY);
	}
	pthread_mutex_unlock(&emu_turns.lock);
	emu_turns_wake(other);
}

void emu_scheduler_leave(struct vcpu *v, uint64_t futex)
{
	give_up(v, EMU_PLACE_AWAY, 0, futex != 0, futex);
}

void emu_scheduler_sleep(struct vcpu *v, uint64_t accesses)
{
	give_up(v, EMU_PLACE_SLEEPS, accesses, false, 0);
}

void emu_scheduler_exit(struct vcpu *v)
{
	give_up(v, EMU_PLACE_AWAY, 0, true, 0);
}

void emu_scheduler_place(struct vcpu *v, bool ordered)
{
	struct vcpu *other = NULL;

	if (!emu_turns_taken())
		return;
	pthread_mutex_lock(&emu_turns.lock);
	if (v->place == EMU_PLACE_SLEEPS)
		emu_sleepers_remove(emu_turns_index(v));
	if (v->place == EMU_PLACE_SLEEPS || v->place == EMU_PLACE_AWAY) {
		emu_turns.counts.unordered +=
			!ordered && v->left != emu_turns.turns;
		emu_turns_append(emu_turns_index(v));
		if (emu_turns.holder == EMU_NOBODY)
			other = emu_turns_next(EMU_NOBODY);
		else
			emu_turns_watch_on(EMU_NOBODY);
	}
	pthread_mutex_unlock(&emu_turns.lock);
	emu_turns_wake(other);
}

void emu_scheduler_return(struct vcpu *v)
{
	struct vcpu *other = NULL;

	if (!emu_turns_taken())
		return;
	emu_settle_back(emu_turns_index(v));
	pthread_mutex_lock(&emu_turns.lock);
	v->present = true;
	if (v->passed_over && v->place == EMU_PLACE_AWAY)
		emu_turns_append(emu_turns_index(v));
	v->passed_over = false;
	/* If all others wait, a sleeper that is due first runs. */
	if (emu_turns.holder == EMU_NOBODY)
		other = emu_turns_next(EMU_NOBODY);
	else if (v->place == EMU_PLACE_QUEUED)
		emu_turns_watch_on(EMU_NOBODY);
	pthread_mutex_unlock(&emu_turns.lock);
	emu_turns_wake(other);
	emu_turn_wait(v);
}

void emu_scheduler_create(struct vcpu *v)
{
	if (v->record->id)
		emu_processor_share();
	v->left = emu_turns.turns;
	emu_scheduler_place(v, true);
}

void emu_scheduler_forget(struct vcpu *v)
{
	struct vcpu *other = NULL;
	int index = emu_turns_index(v);

	pthread_mutex_lock(&emu_turns.lock);
	v->place = EMU_PLACE_AWAY;
	emu_queue_remove(index);
	if (emu_turns.holder == index)
		other = emu_turns_next(EMU_NOBODY);
	pthread_mutex_unlock(&emu_turns.lock);
	emu_turns_wake(other);
}

void emu_scheduler_begin(struct vcpu *v)
{
	emu_scheduler_tell_time(v);
	emu_scheduler_set_turn(v, 0);
	v->in_block = true;
	emu_scheduler_return(v);
	if (!v->drains)
		load_turn(v);
}

bool emu_scheduler_freeze(struct vcpu *v)
{
	if (!emu_turns_taken())
		return false;
	pthread_mutex_lock(&emu_turns.lock);
	emu_turns.frozen = emu_turns.holder == (int)emu_turns_index(v);
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		if (&emu.vcpu[i] != v && emu.vcpu[i].place == EMU_PLACE_RUNS)
			emu_turns.frozen = false;
	pthread_mutex_unlock(&emu_turns.lock);
	return emu_turns.frozen;
}

void emu_scheduler_release(void)
{
	pthread_mutex_lock(&emu_turns.lock);
	emu_turns.written = true;
	pthread_mutex_unlock(&emu_turns.lock);
}

struct emu_scheduler_counts emu_scheduler_counts(void)
{
	struct emu_scheduler_counts c;

	pthread_mutex_lock(&emu_turns.lock);
	c = emu_turns.counts;
	c.by_time = atomic_load(&emu_turns.by_time);
	pthread_mutex_unlock(&emu_turns.lock);
	return c;
}

void emu_scheduler_init(void)
{
	pthread_mutex_init(&emu_turns.lock, NULL);
	emu_queue_init();
	emu_sleepers_init();
	emu_turns.holder = emu_turns.robbed = emu_turns.watcher = EMU_NOBODY;
	emu_turns.idle = 0;
	emu_turns.frozen = emu_turns.written = false;
	atomic_store(&emu_turns.released, false);
	emu_settle_init();
	emu_processor_init();
	/* In a forked child: the threads of the parent. */
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		emu.vcpu[i].place = EMU_PLACE_AWAY;
	emu_turns.counts = (struct emu_scheduler_counts){ 0 };
	atomic_store(&emu_turns.by_time, 0);
}
