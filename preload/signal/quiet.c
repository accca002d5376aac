/* SPDX-License-Identifier: MIT */
/*
 * quiet - no samples while a signal of the application's is held
 *
 * The state counts the threads that have one, and the rounds: in a new round no
 * thread has.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "claimed.h"
#include "quiet.h"
#include "src/base/signal_safe.h"

#define ROUND 0x100000000ull

static void (*_Atomic when_quiet)(bool quiet);
static _Atomic uint64_t state = ROUND; /* the round, and how many threads */

void signal_when_quiet(void (*fn)(bool quiet))
{
	atomic_store(&when_quiet, fn);
}

static void tell(bool quiet)
{
	void (*fn)(bool) = atomic_load(&when_quiet);

	if (fn)
		fn(quiet);
}

/* Another thread may have begun meanwhile. */
static void tell_end(void)
{
	tell(false);
	if ((uint32_t)atomic_load(&state))
		tell(true);
}

void signal_quiet_begin(void)
{
	struct signal_thread *t = signal_self();
	uint64_t now = atomic_load(&state);

	if (t->quiet == now / ROUND)
		return;
	now = atomic_fetch_add(&state, 1);
	t->quiet = now / ROUND;
	tell(true);
}

void signal_quiet_end(void)
{
	struct signal_thread *t = signal_self();
	uint64_t now = atomic_load(&state);
	uint64_t round = t->quiet;

	if (!round)
		return;
	t->quiet = 0;
	while (now / ROUND == round)
		if (atomic_compare_exchange_weak(&state, &now, now - 1)) {
			if ((uint32_t)now == 1)
				tell_end();
			return;
		}
}

void signal_quiet_end_all(void)
{
	uint64_t now = atomic_load(&state);

	while ((uint32_t)now)
		if (atomic_compare_exchange_weak(&state, &now,
						 (now / ROUND + 1) * ROUND)) {
			tell_end();
			return;
		}
}

void signal_quiet_reset(void)
{
	if (atomic_load(&state) != ROUND) /* else the page would be copied */
		atomic_store(&state, ROUND);
}
