/* SPDX-License-Identifier: MIT */
/*
 * scheduler_ticks - the time that the engines see
 */
#include "scheduler.h"
#include "state.h"

uint64_t emu_scheduler_ticks(const struct vcpu *v)
{
	return atomic_load_explicit(&emu.ticks, memory_order_relaxed) +
	       (uint64_t)emu_scheduler_spent(v);
}

uint64_t emu_scheduler_domain_ticks(const struct vcpu *v)
{
	return emu_scheduler_ticks_of_domain(v->domain) +
	       (uint64_t)emu_scheduler_spent(v);
}

uint64_t emu_scheduler_ticks_of_domain(uint32_t domain)
{
	return atomic_load_explicit(emu.domains > 1 ? &emu.domain_ticks[domain]
						    : &emu.ticks,
				    memory_order_relaxed);
}

void emu_scheduler_tell_time(struct vcpu *v)
{
	int64_t spent;

	emu_quick_settle(v);
	spent = emu_scheduler_spent(v);
	atomic_fetch_add_explicit(&emu.ticks, (uint64_t)spent,
				  memory_order_relaxed);
	if (emu.domains > 1)
		atomic_fetch_add_explicit(&emu.domain_ticks[v->domain],
					  (uint64_t)spent,
					  memory_order_relaxed);
	v->turn_start -= spent * EMU_TURN_ACCESS;
}
