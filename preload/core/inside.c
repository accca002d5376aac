/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "inside.h"
#include "runtime.h"
#include "sys.h"
#include "timing.h"

enum {
	PAUSE_NS = 100 * 1000,
};

#define PATIENCE_NS (10ull * 1000 * 1000 * 1000)

static _Atomic int inside;

bool inside_enter(void)
{
	/* (G) Count first, then look at the flag: see inside_drain. */
	atomic_fetch_add(&inside, 1);
	atomic_thread_fence(memory_order_seq_cst);
	return runtime_active();
}

void inside_leave(void)
{
	atomic_fetch_sub(&inside, 1);
}

/*
 * (H) pairs with (G): the flag is cleared before the count is read, so a thread
 * that the count misses sees the flag cleared.
 */
void inside_drain(void)
{
	inside_wait(&inside);
}

void inside_wait(const _Atomic int *count)
{
	const struct timespec moment = { 0, PAUSE_NS };
	uint64_t end = now_ns() + PATIENCE_NS;

	while (atomic_load(count) && now_ns() < end)
		sys_call2(SYS_nanosleep, &moment, NULL);
}

void inside_reset(void)
{
	if (atomic_load(&inside)) /* a store would copy the page */
		atomic_store(&inside, 0);
}
