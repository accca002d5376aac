/* SPDX-License-Identifier: MIT */
/*
 * queue - the threads that wait for a turn, in their order
 */
#include "queue.h"
#include "state.h"

static unsigned short ring[EMU_VCPUS_MAX];
static unsigned int first, length;

void emu_queue_init(void)
{
	first = length = 0;
}

unsigned int emu_queue_length(void)
{
	return length;
}

unsigned int emu_queue_at(unsigned int i)
{
	return ring[(first + i) % EMU_VCPUS_MAX];
}

void emu_queue_append(unsigned int index)
{
	ring[(first + length++) % EMU_VCPUS_MAX] = index;
}

unsigned int emu_queue_take(void)
{
	unsigned int index = ring[first];

	first = (first + 1) % EMU_VCPUS_MAX;
	length--;
	return index;
}

void emu_queue_remove(unsigned int index)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < length; i++) {
		unsigned int x = emu_queue_at(i);

		if (x != index)
			ring[(first + kept++) % EMU_VCPUS_MAX] = x;
	}
	length = kept;
}
