/* SPDX-License-Identifier: MIT */
/*
 * mask - the functions that set a thread's mask
 *
 * On the way to the kernel we take the claimed signal out of the mask and keep
 * it in signal_self()->blocks; on the way back we put it in. The application
 * has the signal blocked if the kernel's bit or ours is set. So a mask that
 * reaches the kernel without a hook is right too; only the thread is not
 * sampled then.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "mask.h"
#include "preload/core/sys.h"
#include "preload/signal/claimed.h"
#include "preload/signal/pending.h"
#include "preload/signal/quiet.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

typedef __typeof__(&pthread_sigmask) mask_fn;

/*
 * What runs while the thread is in a call whose mask unblocks the signal, a
 * handler or a cancellation, finds it unblocked.
 */
static bool app_blocks(void)
{
	return signal_self()->blocks && !signal_self()->waits;
}

uint64_t signal_mask_view(uint64_t mask)
{
	if (signal_claimed() && signal_claim_is_ours())
		signal_mask_is(mask);
	if (signal_claimed() && signal_blocks_get() && !signal_self()->waits)
		mask |= signal_bit(signal_claimed());
	return mask;
}

/*
 * The kernel's @mask blocks the signal because a handler runs whose mask has
 * it. Leave that to the kernel, which restores the mask when the handler
 * returns and would not restore our flag.
 */
static bool is_real(uint64_t mask)
{
	return mask & signal_bit(signal_claimed()) && !signal_self()->held;
}

/* Copy only the words the kernel uses: the application may have no more. */
static sigset_t set_without(const sigset_t *set)
{
	sigset_t without;

	sigemptyset(&without);
	set_kernel_mask(&without,
			kernel_mask(set) & ~signal_bit(signal_claimed()));
	return without;
}

/* Block @set, which holds the claimed signal. */
static int block(mask_fn fn, const sigset_t *set, sigset_t *old, bool *blocked)
{
	sigset_t without = *set, before;
	int r;

	set_kernel_mask(&without,
			kernel_mask(set) & ~signal_bit(signal_claimed()));
	sigemptyset(&before);
	r = fn(SIG_BLOCK, &without, &before);
	if (r)
		return r;
	if (signal_self()->blocks)
		signal_mask_is(kernel_mask(&before));
	*blocked = app_blocks();
	if (!is_real(kernel_mask(&before)))
		signal_set_app_blocks(true,
				      kernel_mask(&before) | kernel_mask(set));
	if (old)
		set_kernel_mask(old, kernel_mask(&before));
	return 0;
}

/*
 * Unblock, or set a mask. The flag changes first, so that a signal which the
 * kernel then releases sees the new value.
 */
static int replace(mask_fn fn, int how, const sigset_t *set, sigset_t *old,
		   bool *blocked)
{
	struct signal_thread *t = signal_self();
	bool blocks = how == SIG_SETMASK && signal_is_in(set);
	sigset_t without;
	int r;

	signal_blocks_now();
	*blocked = app_blocks();
	if (blocks && is_real(kernel_mask_change(SIG_BLOCK, 0)))
		return fn(how, set, old);
	signal_set_app_blocks(blocks, kernel_mask(set));
	t->handles = t->handles && blocks;
	t->held = false;
	without = set_without(set);
	r = fn(how, blocks ? &without : set, old);
	signal_quiet_end();
	return r;
}

/*
 * The flag is set, and @set has not the claimed signal; or there is no set. Any
 * mask that libc sets is no raw system call's.
 */
static int change_others(mask_fn fn, int how, const sigset_t *set,
			 sigset_t *old, bool *blocked)
{
	struct signal_thread *t = signal_self();
	sigset_t before;
	int r;

	sigemptyset(&before);
	r = fn(how, set, &before);
	if (r)
		return r;
	signal_mask_is(kernel_mask(&before));
	*blocked = app_blocks();
	if (set && t->blocks)
		signal_blocks_beside(
			how == SIG_BLOCK
				? kernel_mask(&before) | kernel_mask(set)
				: kernel_mask(&before) & ~kernel_mask(set));
	if (old)
		set_kernel_mask(old, kernel_mask(&before));
	return 0;
}

/* Once a vfork child sets its mask, the kernel alone keeps it. */
static int change_in_child(mask_fn fn, int how, const sigset_t *set,
			   sigset_t *old)
{
	if (how == SIG_SETMASK || (how == SIG_UNBLOCK && signal_is_in(set)))
		signal_blocks_set(false, 0);
	return fn(how, set, old);
}

static bool is_how(int how)
{
	return how == SIG_BLOCK || how == SIG_UNBLOCK || how == SIG_SETMASK;
}

/* Change the mask by @fn, which reports errors in its own way. */
static int change(mask_fn fn, int how, const sigset_t *set, sigset_t *old)
{
	struct signal_thread *t = signal_self();
	bool flagged = t->blocks || t->child, ours, blocked;
	int r;

	if (!signal_claimed() || !(flagged || signal_is_in(set)))
		return fn(how, set, old);
	ours = signal_claim_is_ours();
	blocked = ours ? app_blocks() : signal_blocks_get();
	if (!set ? !ours : !is_how(how))
		r = fn(how, set, old);
	else if (!ours)
		r = change_in_child(fn, how, set, old);
	else if (!set)
		r = change_others(fn, how, set, old, &blocked);
	else if (how == SIG_BLOCK && signal_is_in(set))
		r = block(fn, set, old, &blocked);
	else if (how == SIG_SETMASK || signal_is_in(set))
		r = replace(fn, how, set, old, &blocked);
	else
		r = change_others(fn, how, set, old, &blocked);
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

static int raw_mask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)sys_call4(SYS_rt_sigprocmask, how, set, old,
			      KERNEL_MASK_BYTES);
}

static bool is_readable(const void *from, uint64_t *word)
{
	struct iovec here = { word, sizeof(*word) };
	struct iovec there = { (void *)(uintptr_t)from, sizeof(*word) };

	return sys_call6(SYS_process_vm_readv, sys_call0(SYS_getpid),
			 (long)&here, 1, (long)&there, 1, 0) == sizeof(*word);
}

/* The kernel answers what is wrong, and whether @old can be written. */
long signal_mask_syscall(int how, const void *set, void *old, size_t bytes)
{
	sigset_t words;
	uint64_t word;
	long r = 0;

	if (!signal_claimed() || bytes != KERNEL_MASK_BYTES ||
	    (set && !is_readable(set, &word)))
		return sys_call4(SYS_rt_sigprocmask, how, set, old, bytes);
	if (old)
		r = sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, old, bytes);
	if (r)
		return r;
	sigemptyset(&words);
	if (set)
		set_kernel_mask(&words, word);
	return change(raw_mask, how, set ? &words : NULL, old);
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

/* The pending signal in the kernel may be one of ours. */
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
