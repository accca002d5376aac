/* SPDX-License-Identifier: MIT */
/*
 * settle - wait until the thread that had the turn before sleeps
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "settle.h"
#include "asleep.h"

enum {
	NOBODY = -1,
	YIELDS = 20, /* looks before the first pause */
	PAUSE_NS = 50 * 1000,
	ELSEWHERE = 2000, /* looks that find it asleep somewhere else, */
	BUSY = 20000,     /* and more while other threads run */
	BUSY_EVERY = 16,  /* looks; each reads a file for each thread */
};

static _Atomic int going = NOBODY;
static pid_t going_tid;
static uint64_t going_futex;

void emu_settle_init(void)
{
	atomic_store(&going, NOBODY);
}

void emu_settle_begin(unsigned int index, pid_t tid, uint64_t futex)
{
	going_tid = tid;
	going_futex = futex;
	atomic_store_explicit(&going, index, memory_order_relaxed);
}

void emu_settle_back(unsigned int index)
{
	int who = index;

	atomic_compare_exchange_strong(&going, &who, NOBODY);
}

bool emu_settle_wait(void)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int who = atomic_load_explicit(&going, memory_order_relaxed);
	int elsewhere = 0, busy = 0;

	if (who == NOBODY)
		return true;
	for (int i = 0;
	     atomic_load_explicit(&going, memory_order_relaxed) == who; i++) {
		enum asleep as =
			emu_asleep_in(going_tid, SYS_futex, going_futex);

		if (as == ASLEEP_GONE || (going_futex && as == ASLEEP_THERE) ||
		    (as == ASLEEP && ++elsewhere >= ELSEWHERE))
			break;
		/* It may wait for a thread that waits for a processor. */
		if (as == ASLEEP && elsewhere % BUSY_EVERY == 0 &&
		    busy < BUSY && emu_others_run()) {
			busy += BUSY_EVERY;
			elsewhere -= BUSY_EVERY;
		}
		if (i < YIELDS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
	emu_settle_back(who);
	return elsewhere < ELSEWHERE;
}
