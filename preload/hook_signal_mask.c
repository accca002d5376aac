/* SPDX-License-Identifier: MIT */
/*
 * hook_signal_mask - the functions that set a thread's mask
 *
 * The claimed signal is taken out of what goes to the kernel and kept in
 * signal_thread.blocks, and put into what comes back. The application's view
 * is the kernel's bit or ours; a mask that reached the kernel on a way that is
 * not hooked is therefore still right, only the thread is not sampled.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "hooks.h"
#include "sys.h"
#include "signal_safe.h"

typedef __typeof__(&pthread_sigmask) mask_fn;

uint64_t signal_mask_view(uint64_t mask)
{
	if (signal_claimed() && signal_blocks_get())
		mask |= signal_bit(signal_claimed());
	return mask;
}

/*
 * The kernel has it blocked and not for our sake: a handler runs whose mask
 * has it. It stays the kernel's, which restores the mask when the handler
 * returns and would not restore our flag.
 */
static bool is_real(const struct signal_thread *t, uint64_t bit)
{
	return !t->held && kernel_mask_change(SIG_BLOCK, 0) & bit;
}

/*
 * What the kernel is to be told, for the application's @set. Ours changes
 * first where it takes a signal away, so that one that comes in between is
 * held; where it gives one back the kernel's change releases it.
 */
static uint64_t translate(int how, uint64_t set)
{
	struct signal_thread *t = &signal_thread;
	uint64_t bit = signal_bit(signal_claimed());

	if (how != SIG_UNBLOCK && set & bit && is_real(t, bit))
		return set;
	switch (how) {
	case SIG_BLOCK:
		t->blocks = true;
		return set & ~bit;
	case SIG_UNBLOCK:
		t->blocks = t->held = false;
		return set;
	case SIG_SETMASK:
		t->blocks = set & bit;
		t->held = false;
		return set & ~bit;
	default:
		return set;
	}
}

/* Does it say anything of the claimed signal that is not so already? */
static bool concerns_us(int how, const sigset_t *set, bool blocked)
{
	return set && (signal_is_in(set) || (how == SIG_SETMASK && blocked));
}

/* Change by @fn, which reports errors in its own way. */
static int change(mask_fn fn, int how, const sigset_t *set, sigset_t *old)
{
	bool blocked;
	sigset_t copy;
	int r;

	if (!signal_claimed() || (!set && !old))
		return fn(how, set, old);
	blocked = signal_blocks_get();
	if (concerns_us(how, set, blocked)) {
		if (signal_claim_is_ours()) {
			copy = *set;
			set_kernel_mask(&copy,
					translate(how, kernel_mask(set)));
			set = &copy;
		} else if (how != SIG_BLOCK) {
			/* A vfork child's mask is the kernel's alone now. */
			signal_blocks_set(false);
		}
	}
	r = fn(how, set, old);
	if (!r && old && blocked)
		set_kernel_mask(old, kernel_mask(old) |
					     signal_bit(signal_claimed()));
	return r;
}

uint64_t signal_mask_change(int how, uint64_t mask)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigemptyset(&old);
	set_kernel_mask(&set, mask);
	change(REAL(pthread_sigmask), how, &set, &old);
	return kernel_mask(&old);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(REAL(sigprocmask), how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(REAL(pthread_sigmask), how, set, old);
}

/* BSD: the first 32 signals in an int. */
EXPORT int sigblock(int mask)
{
	if (!signal_claimed())
		return REAL(sigblock)(mask);
	return (int)signal_mask_change(SIG_BLOCK, (uint32_t)mask);
}

EXPORT int sigsetmask(int mask)
{
	if (!signal_claimed())
		return REAL(sigsetmask)(mask);
	return (int)signal_mask_change(SIG_SETMASK, (uint32_t)mask);
}

EXPORT int siggetmask(void)
{
	return (int)signal_mask_view(kernel_mask_change(SIG_BLOCK, 0));
}

EXPORT int sighold(int sig)
{
	if (sig <= 0 || sig != signal_claimed())
		return REAL(sighold)(sig);
	signal_mask_change(SIG_BLOCK, signal_bit(sig));
	return 0;
}

EXPORT int sigrelse(int sig)
{
	if (sig <= 0 || sig != signal_claimed())
		return REAL(sigrelse)(sig);
	signal_mask_change(SIG_UNBLOCK, signal_bit(sig));
	return 0;
}

/* What the kernel has pending may be one of ours. */
EXPORT int sigpending(sigset_t *set)
{
	int r = REAL(sigpending)(set);
	uint64_t bit;
	siginfo_t info;

	if (r || !signal_is_in(set))
		return r;
	bit = signal_bit(signal_claimed());
	if (signal_take_pending(&info))
		signal_requeue(&info);
	else
		set_kernel_mask(set, kernel_mask(set) & ~bit);
	return 0;
}
