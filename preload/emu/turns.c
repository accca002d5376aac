/* SPDX-License-Identifier: MIT */
/*
 * turns - who has the turn, and who has the next
 */
#include "turns.h"
#include "queue.h"
#include "sleepers.h"

struct emu_turns emu_turns = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t emu_turns_time(void)
{
	return atomic_load_explicit(&emu.ticks, memory_order_relaxed) +
	       emu_turns.idle;
}

void emu_turns_append(unsigned int index)
{
	struct vcpu *v = &emu.vcpu[index];

	emu_queue_append(index);
	v->place = EMU_PLACE_QUEUED;
	emu_turns_set(v, EMU_WAITING);
}

static void end_sleep(unsigned int index)
{
	emu_sleepers_remove(index);
	emu_turns_append(index);
}

void emu_turns_end_sleeps(void)
{
	unsigned int index;
	uint64_t due;

	while (emu_sleepers_next(&index, &due) && due <= emu_turns_time())
		end_sleep(index);
}

void emu_turns_watch_on(int self)
{
	if (emu_turns.watcher != EMU_NOBODY &&
	    emu_turns.watcher != emu_turns.holder)
		return;
	emu_turns.watcher = EMU_NOBODY;
	for (unsigned int i = emu_queue_length(); i-- > 0;) {
		unsigned int x = emu_queue_at(i);

		if (!emu.vcpu[x].present || emu.vcpu[x].drains)
			continue;
		emu_turns.watcher = x;
		emu_turns_set(&emu.vcpu[x], EMU_WATCHING);
		if ((int)x != self)
			emu_turns_nudge(&emu.vcpu[x]);
		return;
	}
}

struct vcpu *emu_turns_next(int self)
{
	unsigned int index;
	struct vcpu *v;
	uint64_t due;

	emu_turns_end_sleeps();
	if (!emu_queue_length() && emu_sleepers_next(&index, &due) &&
	    emu.vcpu[index].present) {
		emu_turns.idle += due - emu_turns_time();
		end_sleep(index);
	}
	if (!emu_queue_length()) {
		emu_turns.holder = EMU_NOBODY;
		return NULL;
	}
	emu_turns.holder = emu_queue_take();
	emu_turns.turns++;
	v = &emu.vcpu[emu_turns.holder];
	v->place = EMU_PLACE_RUNS;
	atomic_store_explicit(&v->woken, false, memory_order_relaxed);
	emu_turns_set(v, EMU_RUNNING);
	emu_turns_watch_on(self);
	return v;
}

void emu_turns_wake(struct vcpu *v)
{
	if (!v)
		return;
	emu_turns_nudge(v);
	atomic_store_explicit(&v->woken, true, memory_order_relaxed);
}
