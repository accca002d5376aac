/* SPDX-License-Identifier: MIT */
/*
 * pending - the application's signals that wait while it has them blocked
 */
#include <errno.h>
#include <time.h>

#include "claimed.h"
#include "pending.h"
#include "quiet.h"
#include "sent.h"
#include "preload/core/sys.h"
#include "preload/watch/watch.h"
#include "src/base/signal_safe.h"

enum {
	TAKE_TRIES = 64,
};

bool signal_is_our_own(const siginfo_t *info)
{
	return watch_classify(signal_claimed(), info).event != WATCH_NOTHING;
}

bool signal_took_a_place(bool late, siginfo_t *info)
{
	struct signal_thread *t = signal_self();
	bool took = t->keeps && late;

	/*
	 * If our signal did not wait, the signal that we kept is not queued any
	 * more.
	 */
	t->keeps = false;
	if (!took)
		return signal_was_dropped(info);
	memcpy(info, t->kept, SIGINFO_BYTES);
	return true;
}

bool signal_is_theirs(siginfo_t *info)
{
	if (signal_is_our_own(info))
		return signal_took_a_place(true, info);
	signal_self()->keeps = false;
	return signal_received(info);
}

static int take_one(siginfo_t *info)
{
	struct timespec now = { 0, 0 };
	uint64_t set = signal_bit(signal_claimed());

	return sys_call4(SYS_rt_sigtimedwait, &set, info, &now,
			 KERNEL_MASK_BYTES);
}

bool signal_take_pending(siginfo_t *info)
{
	for (int i = 0; i < TAKE_TRIES; i++) {
		if (take_one(info) != signal_claimed()) {
			signal_self()->keeps = false;
			return false;
		}
		if (signal_is_theirs(info))
			return true;
	}
	return false;
}

static void queue(const siginfo_t *info, bool for_this_thread)
{
	pid_t pid = sys_call0(SYS_getpid), tid = sys_call0(SYS_gettid);
	siginfo_t copy = *info;
	int sig = signal_claimed();
	long r;

	if (for_this_thread) {
		if (info->si_code == SI_QUEUE)
			copy.si_code = SIGNAL_TO_THREAD;
		r = sys_call4(SYS_rt_tgsigqueueinfo, pid, tid, sig, &copy);
		if (!r && sig < FIRST_QUEUED && signal_claim_is_ours()) {
			memcpy(signal_self()->kept, info, SIGINFO_BYTES);
			signal_self()->keeps = true;
		}
	} else {
		if (info->si_code == SI_USER && pid != tid)
			copy.si_code = SIGNAL_TO_PROCESS;
		r = sys_call3(SYS_rt_sigqueueinfo, pid, sig, &copy);
	}
	if (r == -EPERM)
		sys_call2(SYS_kill, pid, sig);
}

/*
 * The kernel queues a signal below 32 only once for a thread, so one of ours
 * that waits there swallows the application's. We take ours out first, but
 * another may come between the two calls below; so we keep a copy of the queued
 * signal, and signal_took_a_place finds it. The process's own queue holds none
 * of ours.
 *
 * A thread in a waiting call keeps the signal for itself. If it went to the
 * process's queue, another thread could take it, find it blocked and hold it
 * for a moment, just when the woken thread looks for it.
 */
void signal_requeue(const siginfo_t *info)
{
	bool directed = signal_self()->directed;
	siginfo_t other;
	bool more = signal_take_pending(&other);

	queue(info, directed || (signal_self()->waits && !more));
	if (more)
		queue(&other, signal_self()->directed);
}

static void end_wait(void)
{
	siginfo_t info;

	if (!signal_self()->waits)
		return;
	signal_self()->waits = false;
	if (signal_self()->held && signal_take_pending(&info))
		signal_requeue(&info);
}

void signal_thread_end(void)
{
	signal_numbers_end();
	signal_quiet_end();
	end_wait();
	if (signal_claimed() && signal_blocks_get())
		kernel_mask_change(SIG_BLOCK, signal_bit(signal_claimed()));
	memset(signal_self(), 0, sizeof(struct signal_thread));
}
