/* SPDX-License-Identifier: MIT */
/*
 * scheduler - threads take turns, so that many share few cores finely
 *
 * With more threads than cores, the kernel runs some threads for milliseconds
 * while the others wait: millions of accesses, in which threads on cores of
 * their own would have interacted thousands of times. So here one thread runs
 * at a time, and passes its turn on after a number of accesses. The number is
 * drawn anew each time from half to one and a half of the setting, so that it
 * does not resonate with a loop.
 *
 * A thread gives up its turn before a system call, which may block, and asks
 * for another one after it. Nothing else depends on turns: if no turn ends for
 * STEAL_NS, a waiting thread takes the turn. QEMU sometimes stops all threads
 * (for a fork, or a full code cache), and then the holder of the turn may be
 * the thread that waits for the others to stop; or the kernel has preempted the
 * holder. The thief has one turn, then the turn goes back to its holder for
 * another STEAL_NS: on a busy machine turns become slow but stay short. A
 * thread whose turn was taken finds that out at the end of its turn, and
 * queues.
 *
 * The queue is a ring of thread numbers, each in it at most once. One waiting
 * thread is the watcher: it alone waits with a time limit, because a timer
 * costs as much as the rest of a turn. A waiter promoted to watcher is notified
 * by a new value of its futex, so the wakeup cannot be lost.
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
	CROWDED_ON = 20, /* looks with too many threads, minus others */
};

enum wait {
	RUNNING,
	QUEUED,
	WATCHING /* in the queue, as the watcher */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned short queue[EMU_VCPUS_MAX];
static unsigned int first, queued;
static int holder = NOBODY;
static int robbed = NOBODY;  /* whose turn was stolen; it is next */
static int watcher = NOBODY; /* NOBODY if the queue is empty */
static unsigned int turns;   /* how many have begun */

/* With EMU_SLICE_AUTO turns are on while crowded is at least CROWDED_ON. */
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
 * One or two more threads than cores, for a moment, do not count as crowded. If
 * several threads look at once, some looks may be lost.
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

	/* If turns are off, look again later. */
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

/* Add the accesses since the last call to the time that all threads see. */
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
 * The holder waits no more. If it was the watcher, promote the last in the
 * queue. Returns the thread to nudge, or NULL. With the lock held.
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
 * Choose the next thread to run, with the lock held. Call wake() on it after
 * unlocking, and nudge() on *@watch unless it is NULL.
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

/*
 * Take the turn from a thread that has not ended it for a long time. Returns
 * the thread to nudge. With the lock held.
 */
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

/* @seen is the number of turns that had begun when the thread queued. */
static void wait_for_turn(struct vcpu *v, unsigned int index, unsigned int seen)
{
	struct timespec patience = { 0, STEAL_NS };
	struct vcpu *watch = NULL;
	int as;

	/* (U) pairs with (T): see what the others did in their turns. */
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

/* Queue, and let the next thread run if there is one. */
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
		holder = robbed; /* that thread runs already, if it can run */
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

/* Turns are switched off: wake everybody. */
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
