/* SPDX-License-Identifier: MIT */
/*
 * turn_wait - threads wait for their turns, and watch who has the turn
 */
#include <errno.h>
#include <time.h>

#include "turn_wait.h"
#include "asleep.h"
#include "queue.h"
#include "settle.h"
#include "turns.h"

enum {
	CHECK_NS = 1000 * 1000,
	/*
	 * Before the first look at a turn. A timer that ends before the
	 * kernel's next tick (4 ms at 250 Hz) would be programmed and cancelled
	 * for most turns, which costs as much as a third of the hand-over.
	 */
	FIRST_CHECK_NS = 5 * CHECK_NS,
	/* How often the holder is found asleep until its turn is taken, */
	STUCK_CHECKS = 3,
	STUCK_IN_CALL_CHECKS = 100, /* in a system call of the program, */
	UNBORN_CHECKS = 2000,       /* and before it has begun */
	/* How often more while another thread runs or waits for a processor. */
	BUSY_CHECKS = 100,
};

/* True if the holder's turn must be taken, as far as one look can tell. */
static bool holder_sleeps(int *limit)
{
	const struct vcpu *v = &emu.vcpu[emu_turns.holder];

	*limit = STUCK_CHECKS;
	if (v->settles || !v->woken ||
	    atomic_load_explicit(&emu_turns.writing, memory_order_relaxed))
		return false;
	if (!v->present || v->in_call)
		*limit = STUCK_IN_CALL_CHECKS;
	/* It may wait for the watcher, which has the lock while it looks. */
	if (v->tid)
		return emu_asleep(v->tid) != ASLEEP_NOT &&
		       emu_asleep_futex(v->tid) != (uintptr_t)&emu_turns.lock;
	*limit = UNBORN_CHECKS;
	return true;
}

/*
 * If the holder waits on a futex of QEMU, let the next thread drain that is
 * within a block and has not. Returns false if there is none. With the lock
 * held.
 */
static bool drain_one(void)
{
	uint64_t futex = emu_asleep_futex(emu.vcpu[emu_turns.holder].tid);

	if (!futex || futex == (uintptr_t)&emu_turns.lock)
		return false;
	emu_turns.drained_for = futex;
	for (unsigned int i = 0; i < emu_queue_length(); i++) {
		struct vcpu *v = &emu.vcpu[emu_queue_at(i)];

		if (!v->present || !v->in_block || v->drains)
			continue;
		v->drains = true;
		if (emu_turns.watcher == (int)emu_turns_index(v)) {
			emu_turns.watcher = EMU_NOBODY;
			emu_turns_watch_on(emu_turns_index(v));
		}
		emu_turns_set(v, EMU_DRAINING);
		emu_turns_nudge(v);
		return true;
	}
	return false;
}

static void release_all(void)
{
	atomic_store(&emu_turns.released, true);
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++) {
		emu_turns_set(&emu.vcpu[i], EMU_RUNNING);
		emu_turns_nudge(&emu.vcpu[i]);
	}
}

/* What the watcher knows from looks before. */
struct looks {
	unsigned int seen; /* the turn */
	int stuck, busy;   /* the holder slept; and another thread ran */
};

/* The watcher looks. */
static void check(struct looks *l)
{
	struct vcpu *other = NULL;
	bool release = false;
	int limit;

	pthread_mutex_lock(&emu_turns.lock);
	if (emu_turns.turns != l->seen || emu_turns.holder == EMU_NOBODY ||
	    emu_turns.frozen > emu_turns.written || !holder_sleeps(&limit)) {
		*l = (struct looks){ .seen = emu_turns.turns };
	} else if (l->busy < BUSY_CHECKS && emu_others_run()) {
		l->busy++; /* the holder may wait for that thread */
	} else if (++l->stuck >= limit && emu_turns.written) {
		release = true;
	} else if (l->stuck >= limit) {
		struct vcpu *v = &emu.vcpu[emu_turns.holder];

		if (v->present && !v->in_call && drain_one()) {
			l->stuck =
				STUCK_CHECKS - 1; /* the next one may, soon */
			pthread_mutex_unlock(&emu_turns.lock);
			return;
		}
		atomic_fetch_add(&emu_turns.by_time, 1);
		if (!v->present) {
			v->place = EMU_PLACE_AWAY;
			v->passed_over = true;
			emu_turns_set(v, EMU_WAITING);
		} else if (emu_turns.robbed == EMU_NOBODY) {
			emu_turns.robbed = emu_turns.holder;
		}
		other = emu_turns_next(EMU_NOBODY);
	}
	pthread_mutex_unlock(&emu_turns.lock);
	emu_turns_wake(other);
	if (release)
		release_all();
}

bool emu_turn_wait(struct vcpu *v)
{
	struct timespec patience = { 0, FIRST_CHECK_NS };
	struct looks looks = { 0 };
	int as;

	/* (U) pairs with (T): see what the others did in their turns. */
	while ((as = atomic_load_explicit(&v->wait, memory_order_acquire)) !=
		       EMU_RUNNING &&
	       emu_turns_taken()) {
		if (as == EMU_DRAINING)
			return false;
		if (!syscall(SYS_futex, &v->wait, FUTEX_WAIT_PRIVATE, as,
			     as == EMU_WATCHING ? &patience : NULL, NULL, 0) ||
		    errno != ETIMEDOUT)
			continue;
		check(&looks);
		patience.tv_nsec = CHECK_NS;
	}
	v->settles = true;
	if (!emu_settle_wait())
		atomic_fetch_add(&emu_turns.by_time, 1);
	v->settles = false;
	return true;
}
