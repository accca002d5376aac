/* SPDX-License-Identifier: MIT */
/*
 * futexes - which futex call of a thread let which other one go on
 */
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#include "futexes.h"
#include "marks.h"
#include "trace.h"
#include "src/trace/trace_format.h"

struct waiter {
	unsigned int index;
	uint64_t futex;
	uint32_t bits;
	uint64_t number; /* of the event that woke it; 0: none has */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter waiter[EMU_VCPUS_MAX]; /* in the order of coming */
static unsigned int waiters;
static uint64_t call[EMU_VCPUS_MAX][6]; /* arguments; [1] is -1 outside */

static bool waits(int operation)
{
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

void emu_futexes_begin(struct vcpu *v, int64_t number, const uint64_t arg[6])
{
	unsigned int index = (unsigned int)(v - emu.vcpu);
	bool bits = (arg[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;

	if (number != SYS_futex || !v->trace)
		return;
	memcpy(call[index], arg, sizeof(call[index]));
	if (!waits((int)arg[1]))
		return;
	emu_trace_waits(v);
	if (emu_trace_is_silent(v))
		return;
	pthread_mutex_lock(&lock);
	if (waiters < EMU_VCPUS_MAX)
		waiter[waiters++] = (struct waiter){
			index, arg[0],
			bits ? (uint32_t)arg[5] : FUTEX_BITSET_MATCH_ANY, 0
		};
	pthread_mutex_unlock(&lock);
}

/* Wake up to @n of those that wait at @futex; returns how many. */
static uint64_t wake(struct vcpu *v, uint64_t futex, uint32_t bits, uint64_t n)
{
	uint64_t number = 0, woken = 0;

	for (unsigned int i = 0; i < waiters && woken < n; i++) {
		struct waiter *w = &waiter[i];

		if (w->futex != futex || !(w->bits & bits) || w->number)
			continue;
		if (!number)
			number = emu_marks_number();
		w->number = number;
		woken++;
	}
	if (number)
		emu_trace_event(v, TRACE_SET, futex, number);
	return woken;
}

static void requeue(uint64_t from, uint64_t to, uint64_t n)
{
	for (unsigned int i = 0; i < waiters && n; i++)
		if (waiter[i].futex == from && !waiter[i].number) {
			waiter[i].futex = to;
			n--;
		}
}

static void end_wake(struct vcpu *v, const uint64_t *arg, uint64_t n)
{
	uint64_t woken;

	switch (arg[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
		wake(v, arg[0], FUTEX_BITSET_MATCH_ANY, n);
		break;
	case FUTEX_WAKE_BITSET:
		wake(v, arg[0], (uint32_t)arg[5], n);
		break;
	case FUTEX_WAKE_OP:
		woken = wake(v, arg[0], FUTEX_BITSET_MATCH_ANY,
			     n < arg[2] ? n : arg[2]);
		wake(v, arg[4], FUTEX_BITSET_MATCH_ANY, n - woken);
		break;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		woken = wake(v, arg[0], FUTEX_BITSET_MATCH_ANY,
			     n < arg[2] ? n : arg[2]);
		requeue(arg[0], arg[4], n - woken);
		break;
	default:
		break;
	}
}

static void end_wait(struct vcpu *v)
{
	unsigned int i = 0, index = (unsigned int)(v - emu.vcpu);
	struct waiter w;

	while (i < waiters && waiter[i].index != index)
		i++;
	if (i == waiters)
		return;
	w = waiter[i];
	waiters--;
	memmove(&waiter[i], &waiter[i + 1], (waiters - i) * sizeof(w));
	if (w.number)
		emu_trace_event(v, TRACE_AWAIT, w.futex, w.number);
}

void emu_futexes_return(struct vcpu *v, int64_t number, int64_t result)
{
	const uint64_t *arg = call[v - emu.vcpu];

	if (number != SYS_futex || !v->trace)
		return;
	pthread_mutex_lock(&lock);
	if (waits((int)arg[1]))
		end_wait(v);
	else if (result > 0)
		end_wake(v, arg, (uint64_t)result);
	pthread_mutex_unlock(&lock);
}

void emu_futexes_end(struct vcpu *v)
{
	pthread_mutex_lock(&lock);
	end_wait(v);
	if (v->clear_tid)
		wake(v, v->clear_tid, FUTEX_BITSET_MATCH_ANY, UINT64_MAX);
	pthread_mutex_unlock(&lock);
}

void emu_futexes_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	waiters = 0;
}
