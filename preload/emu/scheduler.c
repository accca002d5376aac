/* SPDX-License-Identifier: MIT */
/*
 * scheduler - threads take turns, so that many share few cores finely
 *
 * With more threads than cores the kernel runs some for milliseconds while the
 * others wait: millions of accesses, where threads on cores of their own would
 * have met thousands of times. Here one thread runs at a time and hands its
 * turn to the next after some number of accesses, drawn anew each time from
 * half to one and a half of the setting, so that a fixed number meets no loop.
 *
 * A thread gives its turn up before a system call, which may block, and asks
 * for one after it. Nothing else depends on the turn: who sees nobody's turn
 * end for STEAL_NS takes it. QEMU stops all threads at times (fork, a full code
 * cache), and the thread that has the turn may be the one that is waiting for
 * us to stop; or the kernel has taken its processor away. The thief has one
 * turn, then it is the other's again, for STEAL_NS: on a busy machine turns
 * become slow and stay short. A thread whose turn was taken finds out at its
 * end, and queues.
 *
 * The queue is a ring of thread numbers, each at most once in it. One of those
 * in it is the watcher, which alone waits with a time limit: a timer costs as
 * much as the rest of a turn. Who becomes the watcher while it waits is told so
 * by another value of the word that it waits on, so that it cannot be missed.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "scheduler.h"
#include "state.h"

enum {
	NOBODY = -1,
	STEAL_NS = 1000 * 1000,
	CROWDED_ON = 20, /* looks */
};

enum wait {
	RUNNING,
	QUEUED,
	WATCHING /* and queued */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned short queue[EMU_VCPUS_MAX];
static unsigned int first, queued;
static int holder = NOBODY;
static int robbed = NOBODY;  /* whose turn was taken first, and is due again */
static int watcher = NOBODY; /* if the queue is empty */
static unsigned int turns;   /* that have begun */

/* To decide by itself: how crowded it has been, CROWDED_ON and more is on. */
static _Atomic int runnable; /* threads that are not in a system call */
static _Atomic int crowded;  /* 0 to 2 * CROWDED_ON */

static bool taking_turns(void)
{
	if (emu.config.slice != EMU_SLICE_AUTO)
		return emu.config.slice != 0;
	return atomic_load_explicit(&crowded, memory_order_relaxed) >=
	       CROWDED_ON;
}

/*
 * A thread or two more than there are cores, for a moment, are no crowd. Looks
 * of several threads at once may be lost: there will be others.
 */
static void look(void)
{
	int running = atomic_load_explicit(&runnable, memory_order_relaxed);
	int n = atomic_load_explicit(&crowded, memory_order_relaxed);

	if (running > (int)emu.host_cores && n < 2 * CROWDED_ON)
		atomic_store_explicit(&crowded, n + 1, memory_order_relaxed);
	else if (running <= (int)emu.host_cores && n > 0)
		atomic_store_explicit(&crowded, n - 1, memory_order_relaxed);
}

static void load_turn(struct vcpu *v)
{
	uint64_t n = emu.config.slice == EMU_SLICE_AUTO ? EMU_SLICE_DEFAULT
							: emu.config.slice;

	/* Off: look again later whether there are more threads. */
	v->turn = taking_turns()
			  ? (n + 1) / 2 + rng_below(&v->rng, n / 2 * 2 + 1)
			  : EMU_TURN_LOOK;
	v->turn_start = v->turn;
}

uint64_t emu_scheduler_ticks(const struct vcpu *v)
{
	return atomic_load_explicit(&emu.ticks, memory_order_relaxed) +
	       (v->turn_start - v->turn);
}

uint64_t emu_scheduler_domain_ticks(const struct vcpu *v)
{
	return emu_scheduler_ticks_of_domain(v->domain) +
	       (v->turn_start - v->turn);
}

uint64_t emu_scheduler_ticks_of_domain(uint32_t domain)
{
	return atomic_load_explicit(emu.domains > 1 ? &emu.domain_ticks[domain]
						    : &emu.ticks,
				    memory_order_relaxed);
}

/* Add what the thread has accessed since to the time that all see. */
static void tell_time(struct vcpu *v)
{
	atomic_fetch_add_explicit(&emu.ticks, v->turn_start - v->turn,
				  memory_order_relaxed);
	if (emu.domains > 1)
		atomic_fetch_add_explicit(&emu.domain_ticks[v->domain],
					  v->turn_start - v->turn,
					  memory_order_relaxed);
	v->turn_start = v->turn;
}

static void nudge(struct vcpu *v)
{
	syscall(SYS_futex, &v->wait, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wake(struct vcpu *v)
{
	/* (T) pairs with (U). */
	atomic_store_explicit(&v->wait, RUNNING, memory_order_release);
	nudge(v);
}

/* With the lock held. */
static void append(unsigned int index)
{
	queue[(first + queued++) % EMU_VCPUS_MAX] = index;
	if (watcher == NOBODY)
		watcher = index;
	atomic_store_explicit(&emu.vcpu[index].wait,
			      watcher == (int)index ? WATCHING : QUEUED,
			      memory_order_relaxed);
}

static void drop(unsigned int index)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < queued; i++) {
		unsigned int x = queue[(first + i) % EMU_VCPUS_MAX];

		if (x != index)
			queue[(first + kept++) % EMU_VCPUS_MAX] = x;
	}
	queued = kept;
}

/*
 * The holder waits no more: if it was the watcher, the last in the queue is
 * now. Nudge what is returned, or NULL; with the lock held.
 */
static struct vcpu *watch_on(void)
{
	struct vcpu *v;

	if (watcher != holder)
		return NULL;
	watcher = NOBODY;
	if (!queued)
		return NULL;
	watcher = queue[(first + queued - 1) % EMU_VCPUS_MAX];
	v = &emu.vcpu[watcher];
	atomic_store_explicit(&v->wait, WATCHING, memory_order_relaxed);
	return v;
}

/*
 * The next thread to run; with the lock held. Wake it after that, and nudge
 * *@watch unless it is NULL.
 */
static struct vcpu *next(struct vcpu **watch)
{
	*watch = NULL;
	if (!queued) {
		holder = NOBODY;
		return NULL;
	}
	holder = queue[first];
	first = (first + 1) % EMU_VCPUS_MAX;
	queued--;
	turns++;
	*watch = watch_on();
	return &emu.vcpu[holder];
}

/* Nobody's turn has ended for long. Returns whom to nudge; with the lock. */
static struct vcpu *steal(struct vcpu *v, unsigned int index)
{
	drop(index);
	if (robbed == NOBODY)
		robbed = holder;
	holder = index;
	atomic_store_explicit(&v->wait, RUNNING, memory_order_relaxed);
	turns++;
	return watch_on();
}

/* @seen: how many turns had begun when it queued. */
static void wait_for_turn(struct vcpu *v, unsigned int index, unsigned int seen)
{
	struct timespec patience = { 0, STEAL_NS };
	struct vcpu *watch = NULL;
	int as;

	/* (U) pairs with (T): what the others did in their turns is seen. */
	while ((as = atomic_load_explicit(&v->wait, memory_order_acquire)) !=
	       RUNNING) {
		if (!syscall(SYS_futex, &v->wait, FUTEX_WAIT_PRIVATE, as,
			     as == WATCHING ? &patience : NULL, NULL, 0) ||
		    errno != ETIMEDOUT)
			continue;
		pthread_mutex_lock(&lock);
		if (atomic_load_explicit(&v->wait, memory_order_relaxed) !=
			    RUNNING &&
		    turns == seen)
			watch = steal(v, index);
		seen = turns;
		pthread_mutex_unlock(&lock);
		if (watch)
			nudge(watch);
	}
}

static unsigned int index_of(const struct vcpu *v)
{
	return v - emu.vcpu;
}

/* Queue up and let the next one run, if there is another. */
static void take_turn(struct vcpu *v)
{
	unsigned int index = index_of(v);
	struct vcpu *other = NULL, *watch = NULL;
	unsigned int seen;

	pthread_mutex_lock(&lock);
	v->in_turns = true;
	if (robbed == (int)index)
		robbed = NOBODY;
	if (holder == (int)index && robbed != NOBODY) {
		append(index);
		holder = robbed; /* which runs already, if it can */
		robbed = NOBODY;
		turns++;
	} else if (holder == (int)index || holder == NOBODY) {
		if (!queued) {
			holder = index;
			pthread_mutex_unlock(&lock);
			return;
		}
		append(index);
		other = next(&watch);
	} else {
		append(index);
	}
	seen = turns;
	pthread_mutex_unlock(&lock);
	if (other)
		wake(other);
	if (watch && watch != v)
		nudge(watch);
	wait_for_turn(v, index, seen);
}

/* Turns are over: everybody goes on, so nobody need watch. */
static void release_all(void)
{
	struct vcpu *other, *watch;

	do {
		pthread_mutex_lock(&lock);
		other = next(&watch);
		pthread_mutex_unlock(&lock);
		if (other)
			wake(other);
	} while (other);
}

void emu_scheduler_end(struct vcpu *v)
{
	tell_time(v);
	look();
	if (taking_turns()) {
		take_turn(v);
	} else if (v->in_turns) {
		v->in_turns = false;
		release_all();
	}
	load_turn(v);
}

void emu_scheduler_leave(struct vcpu *v)
{
	struct vcpu *other = NULL, *watch = NULL;

	if (!v->runnable)
		return;
	v->runnable = false;
	tell_time(v);
	atomic_fetch_sub_explicit(&runnable, 1, memory_order_relaxed);
	if (!v->in_turns)
		return;
	pthread_mutex_lock(&lock);
	v->in_turns = false;
	if (robbed == (int)index_of(v))
		robbed = NOBODY;
	if (holder == (int)index_of(v))
		other = next(&watch);
	pthread_mutex_unlock(&lock);
	if (other)
		wake(other);
	if (watch)
		nudge(watch);
}

void emu_scheduler_enter(struct vcpu *v)
{
	if (v->runnable)
		return;
	v->runnable = true;
	atomic_fetch_add_explicit(&runnable, 1, memory_order_relaxed);
	if (taking_turns())
		take_turn(v);
}

void emu_scheduler_init(void)
{
	pthread_mutex_init(&lock, NULL);
	first = queued = 0;
	runnable = crowded = 0;
	holder = robbed = watcher = NOBODY;
}
