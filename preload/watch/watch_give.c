/* SPDX-License-Identifier: MIT */
/*
 * watch_give - debug registers that the program takes for itself
 *
 * A perf event holds its register from its opening to its closing, whether it
 * is enabled or not.
 */
#include <stdatomic.h>

#include "watch.h"
#include "preload/core/thread.h"
#include "src/base/signal_safe.h"

static _Atomic bool program_watches;

void watch_of_program(void)
{
	atomic_store(&program_watches, true);
}

bool watch_is_the_programs(void)
{
	return atomic_load_explicit(&program_watches, memory_order_relaxed);
}

bool watch_give_one(void)
{
	uint32_t now = __atomic_load_n(&runtime.registers, __ATOMIC_RELAXED);

	do {
		if (!now)
			return false;
	} while (!__atomic_compare_exchange_n(&runtime.registers, &now, now - 1,
					      false, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	count_loss(NULL, LOSS_REGISTER_GIVEN);
	watch_close_all(false);
	return true;
}
