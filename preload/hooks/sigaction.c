/* SPDX-License-Identifier: MIT */
/*
 * sigaction - the functions that set an action, for the claimed signal
 *
 * We keep the application's action for the claimed signal: each function
 * changes it as the C library would change the kernel's. For every other signal
 * we call the library's function. The mask of such an action may hold the
 * claimed signal; the kernel then blocks it while that handler runs.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "mask.h"
#include "preload/signal/claim.h"
#include "preload/signal/claimed.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

/* After siginterrupt(sig, 1) signal() sets no SA_RESTART. */
static _Atomic bool interrupts;

static bool is_claimed(int sig)
{
	atomic_store_explicit(&signal_handlers, true, memory_order_relaxed);
	return sig > 0 && sig == signal_claimed();
}

/* Set a plain handler; returns the old one or SIG_ERR. */
static __sighandler_t set_handler(__sighandler_t handler, int flags,
				  uint64_t mask)
{
	struct sigaction act, old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	act.sa_flags = flags;
	set_kernel_mask(&act.sa_mask, mask);
	if (signal_app_action(&act, &old))
		return SIG_ERR;
	return old.sa_handler;
}

EXPORT int sigaction(int sig, const struct sigaction *act,
		     struct sigaction *old)
{
	if (!is_claimed(sig))
		return REAL(sigaction)(sig, act, old);
	return signal_app_action(act, old);
}

int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);
EXPORT int __sigaction(int sig, const struct sigaction *act,
		       struct sigaction *old)
{
	return sigaction(sig, act, old);
}

static __sighandler_t bsd(int sig, __sighandler_t handler)
{
	if (!is_claimed(sig))
		return REAL(signal)(sig, handler);
	return set_handler(
		handler,
		atomic_load_explicit(&interrupts, memory_order_relaxed)
			? 0
			: SA_RESTART,
		signal_bit(sig));
}

EXPORT __sighandler_t signal(int sig, __sighandler_t handler)
{
	return bsd(sig, handler);
}

__sighandler_t bsd_signal(int sig, __sighandler_t handler);
EXPORT __sighandler_t bsd_signal(int sig, __sighandler_t handler)
{
	return bsd(sig, handler);
}

EXPORT __sighandler_t ssignal(int sig, __sighandler_t handler)
{
	return bsd(sig, handler);
}

static __sighandler_t sysv(int sig, __sighandler_t handler)
{
	if (!is_claimed(sig))
		return REAL(sysv_signal)(sig, handler);
	return set_handler(handler, (int)SA_RESETHAND | SA_NODEFER, 0);
}

EXPORT __sighandler_t sysv_signal(int sig, __sighandler_t handler)
{
	return sysv(sig, handler);
}

EXPORT __sighandler_t __sysv_signal(int sig, __sighandler_t handler)
{
	return sysv(sig, handler);
}

EXPORT __sighandler_t sigset(int sig, __sighandler_t handler)
{
	__sighandler_t old;
	struct sigaction act;
	uint64_t bit;
	bool blocked;

	if (!is_claimed(sig))
		return REAL(sigset)(sig, handler);
	bit = signal_bit(sig);
	blocked = signal_mask_view(kernel_mask_change(SIG_BLOCK, 0)) & bit;
	if (handler == SIG_HOLD) {
		signal_mask_change(SIG_BLOCK, bit);
		if (!blocked && !signal_app_action(NULL, &act))
			return act.sa_handler;
		return SIG_HOLD;
	}
	old = set_handler(handler, 0, 0);
	if (old == SIG_ERR)
		return SIG_ERR;
	signal_mask_change(SIG_UNBLOCK, bit);
	return blocked ? SIG_HOLD : old;
}

EXPORT int sigignore(int sig)
{
	if (!is_claimed(sig))
		return REAL(sigignore)(sig);
	return set_handler(SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0;
}

EXPORT int siginterrupt(int sig, int on)
{
	struct sigaction act;

	if (!is_claimed(sig))
		return REAL(siginterrupt)(sig, on);
	atomic_store_explicit(&interrupts, on, memory_order_relaxed);
	if (signal_app_action(NULL, &act))
		return -1;
	if (on)
		act.sa_flags &= ~SA_RESTART;
	else
		act.sa_flags |= SA_RESTART;
	return signal_app_action(&act, NULL);
}
