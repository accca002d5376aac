/* SPDX-License-Identifier: MIT */
/*
 * sleepers - the threads that sleep for a time of the simulated machine
 */
#include "sleepers.h"
#include "state.h"

static struct {
	uint64_t due;
	unsigned int index;
} sleeper[EMU_VCPUS_MAX]; /* in the order in which they went to sleep */
static unsigned int sleepers;

void emu_sleepers_init(void)
{
	sleepers = 0;
}

void emu_sleepers_add(unsigned int index, uint64_t due)
{
	sleeper[sleepers].index = index;
	sleeper[sleepers++].due = due;
}

void emu_sleepers_remove(unsigned int index)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < sleepers; i++)
		if (sleeper[i].index != index)
			sleeper[kept++] = sleeper[i];
	sleepers = kept;
}

bool emu_sleepers_next(unsigned int *index, uint64_t *due)
{
	unsigned int best = 0;

	for (unsigned int i = 1; i < sleepers; i++)
		if (sleeper[i].due < sleeper[best].due)
			best = i;
	*index = sleeper[best].index;
	*due = sleeper[best].due;
	return sleepers > 0;
}
