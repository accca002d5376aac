/* SPDX-License-Identifier: MIT */
/*
 * marks_cond - which signal ended which wait for a condition variable
 */
#include <stdlib.h>
#include <string.h>

#include "marks_cond.h"
#include "state.h"

struct sent {
	uint64_t cond, number, time;
	bool broadcast;
};

struct wait {
	uint64_t cond, time;
	bool waits;
};

static struct wait wait[EMU_VCPUS_MAX];
static unsigned int waits;
static struct sent *sent; /* the oldest first */
static size_t n_sent, room;
static uint64_t now; /* waits that began and signals that were sent */

void marks_cond_begin(unsigned int vcpu, uint64_t cond)
{
	waits += !wait[vcpu].waits;
	wait[vcpu] = (struct wait){ cond, ++now, true };
}

static bool someone_waits(uint64_t cond)
{
	for (unsigned int i = 0, left = waits; left && i < EMU_VCPUS_MAX; i++) {
		if (!wait[i].waits)
			continue;
		if (wait[i].cond == cond)
			return true;
		left--;
	}
	return false;
}

bool marks_cond_send(uint64_t cond, uint64_t number, bool broadcast)
{
	if (!someone_waits(cond))
		return false;
	if (n_sent == room) {
		size_t more = room ? 2 * room : 64;
		struct sent *to = realloc(sent, more * sizeof(*sent));

		if (!to)
			return false;
		sent = to;
		room = more;
	}
	sent[n_sent++] = (struct sent){ cond, number, ++now, broadcast };
	return true;
}

static void take_out(size_t i)
{
	n_sent--;
	memmove(&sent[i], &sent[i + 1], (n_sent - i) * sizeof(*sent));
}

static void forget(uint64_t cond)
{
	for (size_t i = 0; i < n_sent;) {
		if (sent[i].cond == cond)
			take_out(i);
		else
			i++;
	}
}

uint64_t marks_cond_end(unsigned int vcpu)
{
	struct wait w = wait[vcpu];
	uint64_t number = 0;

	if (!w.waits)
		return 0;
	wait[vcpu].waits = false;
	waits--;
	for (size_t i = 0; i < n_sent && !number; i++) {
		if (sent[i].cond != w.cond || sent[i].time < w.time)
			continue;
		number = sent[i].number;
		if (!sent[i].broadcast)
			take_out(i);
	}
	if (!someone_waits(w.cond))
		forget(w.cond);
	return number;
}

void marks_cond_clear(void)
{
	memset(wait, 0, sizeof(wait));
	waits = 0;
	n_sent = 0;
}
