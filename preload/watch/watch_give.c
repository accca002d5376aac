/* SPDX-License-Identifier: MIT */
/*
 * watch_give - debug registers that the program takes for itself
 *
 * A perf event holds its register from its opening to its closing, whether it
 * is enabled or not.
 */
#include "watch.h"
#include "preload/core/thread.h"

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
