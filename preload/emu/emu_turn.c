/* SPDX-License-Identifier: MIT */
/*
 * emu_turn - threads take turns, so that many share few cores finely
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
 * The queue is a ring of thread numbers, each at most once in it.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

enum {
	NOBODY = -1,
	STEAL_NS = 1000 * 1000,
	CROWDED_ON = 20, /* looks */
};

enum wait {
	RUNNING,
	QUEUED
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned short queue[EMU_VCPUS_MAX];
static unsigned int first, queued;
static int holder = NOBODY;
static int robbed = NOBODY; /* whose turn was taken first, and is due again */
static unsigned int turns;  /* that have begun */

/* To decide by itself: how crowded it has been, CROWDED_ON and more is on. */
static int runnable; /* threads that are not in a system call */
static int crowded;  /* 0 to 2 * CROWDED_ON */

static bool taking_turns(void)
{
	if (emu.config.slice != EMU_SLICE_AUTO)
		return emu.config.slice != 0;
	return __atomic_load_n(&crowded, __ATOMIC_RELAXED) >= CROWDED_ON;
}

/*
 * A thread or two more than there are cores, for a moment, are no crowd. Looks
 * of several threads at once may be lost: there will be others.
 */
static void look(void)
{
	int running = __atomic_load_n(&runnable, __ATOMIC_RELAXED);
	int n = __atomic_load_n(&crowded, __ATOMIC_RELAXED);

	if (running > (int)emu.host_cores && n < 2 * CROWDED_ON)
		__atomic_store_n(&crowded, n + 1, __ATOMIC_RELAXED);
	else if (running <= (int)emu.host_cores && n > 0)
		__atomic_store_n(&crowded, n - 1, __ATOMIC_RELAXED);
}

static void load_turn(struct vcpu *v)
{
	uint64_t n = emu.config.slice == EMU_SLICE_AUTO ? EMU_SLICE_DEFAULT
							: emu.config.slice;

	/* Off: look again later whether there are more threads. */
	v->turn = taking_turns() ? n / 2 + rng_below(&v->rng, n + 1)
				 : EMU_TURN_LOOK;
	v->turn_start = v->turn;
}

uint64_t emu_ticks(const struct vcpu *v)
{
	return atomic_load_explicit(&emu.ticks, memory_order_relaxed) +
	       (v->turn_start - v->turn);
}

uint64_t emu_domain_ticks(const struct vcpu *v)
{
	return emu_ticks_of_domain(v->domain) + (v->turn_start - v->turn);
}

uint64_t emu_ticks_of_domain(uint32_t domain)
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

static void wake(struct vcpu *v)
{
	__atomic_store_n(&v->wait, RUNNING, __ATOMIC_RELEASE); /* (T) */
	syscall(SYS_futex, &v->wait, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* With the lock held. */
static void append(unsigned int index)
{
	queue[(first + queued++) % EMU_VCPUS_MAX] = index;
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

/* The next thread to run; with the lock held. Wake it after that. */
static struct vcpu *next(void)
{
	if (!queued) {
		holder = NOBODY;
		return NULL;
	}
	holder = queue[first];
	first = (first + 1) % EMU_VCPUS_MAX;
	queued--;
	turns++;
	return &emu.vcpu[holder];
}

/* @seen: how many turns had begun when it queued. */
static void wait_for_turn(struct vcpu *v, unsigned int index, unsigned int seen)
{
	struct timespec patience = { 0, STEAL_NS };

	/* (U) pairs with (T): what the others did in their turns is seen. */
	while (__atomic_load_n(&v->wait, __ATOMIC_ACQUIRE) == QUEUED) {
		if (!syscall(SYS_futex, &v->wait, FUTEX_WAIT_PRIVATE, QUEUED,
			     &patience, NULL, 0) ||
		    errno != ETIMEDOUT)
			continue;
		pthread_mutex_lock(&lock);
		if (v->wait == QUEUED && turns == seen) {
			drop(index);
			if (robbed == NOBODY)
				robbed = holder;
			holder = index;
			v->wait = RUNNING;
			turns++;
		}
		seen = turns;
		pthread_mutex_unlock(&lock);
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
	struct vcpu *other;
	unsigned int seen;

	pthread_mutex_lock(&lock);
	v->in_turns = true;
	if (robbed == (int)index)
		robbed = NOBODY;
	if (holder == (int)index && robbed != NOBODY) {
		append(index);
		v->wait = QUEUED;
		holder = robbed; /* which runs already, if it can */
		robbed = NOBODY;
		turns++;
		other = NULL;
	} else if (holder == (int)index || holder == NOBODY) {
		if (!queued) {
			holder = index;
			pthread_mutex_unlock(&lock);
			return;
		}
		append(index);
		v->wait = QUEUED;
		other = next();
	} else {
		append(index);
		v->wait = QUEUED;
		other = NULL;
	}
	seen = turns;
	pthread_mutex_unlock(&lock);
	if (other)
		wake(other);
	wait_for_turn(v, index, seen);
}

/* Turns are over: everybody goes on. */
static void release_all(void)
{
	struct vcpu *other;

	do {
		pthread_mutex_lock(&lock);
		other = next();
		pthread_mutex_unlock(&lock);
		if (other)
			wake(other);
	} while (other);
}

void emu_turn_end(struct vcpu *v)
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

void emu_turn_leave(struct vcpu *v)
{
	struct vcpu *other = NULL;

	if (!v->runnable)
		return;
	v->runnable = false;
	tell_time(v);
	__atomic_fetch_sub(&runnable, 1, __ATOMIC_RELAXED);
	if (!v->in_turns)
		return;
	pthread_mutex_lock(&lock);
	v->in_turns = false;
	if (robbed == (int)index_of(v))
		robbed = NOBODY;
	if (holder == (int)index_of(v))
		other = next();
	pthread_mutex_unlock(&lock);
	if (other)
		wake(other);
}

void emu_turn_enter(struct vcpu *v)
{
	if (v->runnable)
		return;
	v->runnable = true;
	__atomic_fetch_add(&runnable, 1, __ATOMIC_RELAXED);
	if (taking_turns())
		take_turn(v);
}

void emu_turn_init(void)
{
	pthread_mutex_init(&lock, NULL);
	first = queued = 0;
	runnable = crowded = 0;
	holder = robbed = NOBODY;
}
