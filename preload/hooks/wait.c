/* SPDX-License-Identifier: MIT */
/*
 * wait - the calls that wait with a mask, or for a signal
 *
 * sigsuspend, ppoll, pselect and epoll_pwait set a mask while they wait. The
 * kernel gets that mask as it is: a waiting thread runs nothing that could be
 * sampled. One case needs care: the application has the claimed signal blocked,
 * the kernel has not, and the call's mask unblocks it. If a signal of the
 * application's arrives, our handler holds it back, and it interrupts the call;
 * so we call again. Now the signal is blocked and pending in the kernel, and
 * the mask lets it through. The application sees one call that a signal
 * interrupted.
 *
 * sigwait and its kin take a pending signal, so the kernel blocks the signal
 * while they wait. We drop our own signals when they return.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "mask.h"
#include "preload/core/runtime.h"
#include "preload/signal/claimed.h"
#include "preload/signal/pending.h"
#include "preload/signal/quiet.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

#define NS_PER_S  1000000000
#define NS_PER_MS 1000000
#define MS_PER_S  1000

/* True if @mask unblocks the signal, which only our flag blocks. */
static bool unblocks(const sigset_t *mask)
{
	return signal_claimed() && mask && signal_self()->blocks &&
	       !signal_is_in(mask) && signal_claim_is_ours() &&
	       signal_blocks_now();
}

/*
 * True if the call returned but the application's signal still waits: either it
 * was held back before the mask was set, or one of our signals ended the call.
 * If the application's handler was called, the wait is over.
 */
static bool again(int result)
{
	siginfo_t info;

	if (result != -1 || errno != EINTR || !signal_self()->waits ||
	    !signal_self()->held || !signal_take_pending(&info))
		return false;
	signal_requeue(&info);
	return true;
}

/*
 * Block the signal by our flag alone. Signals that wait now reach our handler,
 * which holds them back again.
 */
static void resume_sampling(void)
{
	if (!signal_self()->held)
		return;
	signal_self()->held = false;
	kernel_mask_change(SIG_UNBLOCK, signal_bit(signal_claimed()));
	signal_quiet_end();
}

#define WAIT(mask, call)                                                       \
	({                                                                     \
		bool before_ = signal_self()->suspends;                        \
		int result_;                                                   \
                                                                               \
		if (!unblocks(mask)) {                                         \
			signal_self()->suspends |= (mask) != NULL;             \
			result_ = (call);                                      \
		} else {                                                       \
			signal_self()->waits = signal_self()->suspends = true; \
			do                                                     \
				result_ = (call);                              \
			while (again(result_));                                \
			signal_self()->waits = false;                          \
			resume_sampling();                                     \
		}                                                              \
		signal_self()->suspends = before_;                             \
		result_;                                                       \
	})

static int suspend(const sigset_t *mask)
{
	return WAIT(mask, REAL(sigsuspend)(mask));
}

EXPORT int sigsuspend(const sigset_t *mask)
{
	return suspend(mask);
}

int __sigsuspend(const sigset_t *mask);
EXPORT int __sigsuspend(const sigset_t *mask)
{
	return suspend(mask);
}

static int suspend_with(uint64_t mask)
{
	sigset_t set;

	sigemptyset(&set);
	set_kernel_mask(&set, mask);
	return suspend(&set);
}

/* X/Open's sigpause: unblock @sig and wait; the rest of the mask stays. */
static int pause_for_signal(int sig)
{
	if (!signal_claimed() || sig <= 0 || sig > 64)
		return REAL(__xpg_sigpause)(sig);
	return suspend_with(signal_mask_view(kernel_mask_change(SIG_BLOCK, 0)) &
			    ~signal_bit(sig));
}

int __xpg_sigpause(int sig);
EXPORT int __xpg_sigpause(int sig)
{
	return pause_for_signal(sig);
}

/* The name that programs link for sigpause() is __xpg_sigpause. */
int bsd_sigpause(int mask) __asm__("sigpause");
EXPORT int bsd_sigpause(int mask)
{
	if (!signal_claimed())
		return REAL(sigpause)(mask);
	return suspend_with((uint32_t)mask);
}

int __sigpause(int mask_or_sig, int is_sig);
EXPORT int __sigpause(int mask_or_sig, int is_sig)
{
	if (!signal_claimed())
		return REAL(__sigpause)(mask_or_sig, is_sig);
	return is_sig ? pause_for_signal(mask_or_sig)
		      : suspend_with((uint32_t)mask_or_sig);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask)
{
	return WAIT(mask, REAL(ppoll)(fds, n, timeout, mask));
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t fds_bytes);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n,
		       const struct timespec *timeout, const sigset_t *mask,
		       size_t fds_bytes)
{
	return WAIT(mask, REAL(__ppoll_chk)(fds, n, timeout, mask, fds_bytes));
}

/* An interrupted select leaves its sets as they were. */
EXPORT int pselect(int n, fd_set *r, fd_set *w, fd_set *e,
		   const struct timespec *timeout, const sigset_t *mask)
{
	return WAIT(mask, REAL(pselect)(n, r, w, e, timeout, mask));
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

static void set_left(struct timespec *left, const struct timespec *timeout,
		     int64_t since)
{
	int64_t gone = now() - since;

	left->tv_sec = timeout->tv_sec - gone / NS_PER_S;
	left->tv_nsec = timeout->tv_nsec - gone % NS_PER_S;
	if (left->tv_nsec < 0) {
		left->tv_nsec += NS_PER_S;
		left->tv_sec--;
	}
	if (left->tv_sec < 0)
		left->tv_sec = left->tv_nsec = 0;
}

/* The kernel refuses anything else. */
static bool is_time(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS_PER_S;
}

/*
 * epoll_pwait returns EINTR if any signal wakes it, even if another thread
 * then takes that signal: one that blocks it by its flag alone, and gives it
 * back. The program would see a call that no signal interrupted. ppoll goes on
 * in this case. So it waits here, and epoll collects without waiting, which
 * nothing interrupts. @timeout may be NULL: for ever.
 */
static int epoll_by_ppoll(int epfd, struct epoll_event *events, int max,
			  const struct timespec *timeout, const sigset_t *mask)
{
	struct pollfd instance = { .fd = epfd, .events = POLLIN };
	int64_t since = now();
	struct timespec left;
	int r;

	for (;;) {
		r = REAL(epoll_pwait)(epfd, events, max, 0, NULL);
		if (r)
			return r;
		if (timeout) {
			set_left(&left, timeout, since);
			if (!left.tv_sec && !left.tv_nsec)
				return 0;
		}
		r = REAL(ppoll)(&instance, 1, timeout ? &left : NULL, mask);
		if (r < 0)
			return r;
	}
}

/* In WAIT: the mask unblocks the signal, which only our flag blocks. */
static bool may_be_woken_for_others(void)
{
	return signal_self()->waits && runtime_is_ours();
}

static int epoll_ms(int epfd, struct epoll_event *events, int max, int timeout,
		    const sigset_t *mask)
{
	struct timespec t = { timeout / MS_PER_S,
			      timeout % MS_PER_S * NS_PER_MS };

	if (!may_be_woken_for_others())
		return REAL(epoll_pwait)(epfd, events, max, timeout, mask);
	return epoll_by_ppoll(epfd, events, max, timeout < 0 ? NULL : &t, mask);
}

EXPORT int epoll_pwait(int epfd, struct epoll_event *events, int max,
		       int timeout, const sigset_t *mask)
{
	return WAIT(mask, epoll_ms(epfd, events, max, timeout, mask));
}

static int epoll_ns(int epfd, struct epoll_event *events, int max,
		    const struct timespec *timeout, const sigset_t *mask)
{
	if (!may_be_woken_for_others() || (timeout && !is_time(timeout)))
		return REAL(epoll_pwait2)(epfd, events, max, timeout, mask);
	return epoll_by_ppoll(epfd, events, max, timeout, mask);
}

EXPORT int epoll_pwait2(int epfd, struct epoll_event *events, int max,
			const struct timespec *timeout, const sigset_t *mask)
{
	if (!REAL(epoll_pwait2)) {
		errno = ENOSYS;
		return -1;
	}
	return WAIT(mask, epoll_ns(epfd, events, max, timeout, mask));
}

/* Wait until a signal comes that is not ours; fill in @got. */
static int wait_for_theirs(const sigset_t *set, siginfo_t *got,
			   const struct timespec *timeout)
{
	struct timespec left;
	int64_t since = timeout ? now() : 0;
	const struct timespec *wait = timeout;
	int sig;

	for (;;) {
		sig = REAL(sigtimedwait)(set, got, wait);
		if (sig != signal_claimed() || signal_is_theirs(got))
			break;
		if (timeout) {
			set_left(&left, timeout, since);
			wait = &left;
		}
	}
	return sig;
}

static int timed_wait(const sigset_t *set, siginfo_t *info,
		      const struct timespec *timeout)
{
	siginfo_t got;
	uint64_t bit;
	int sig;

	if (!signal_is_in(set) || !signal_claim_is_ours())
		return REAL(sigtimedwait)(set, info, timeout);
	bit = signal_bit(signal_claimed());
	if (!(kernel_mask_change(SIG_BLOCK, bit) & bit))
		signal_self()->held = true;
	/* What comes while this thread waits is dropped in its turn. */
	signal_quiet_end();
	sig = wait_for_theirs(set, &got, timeout);
	if (sig > 0 && got.si_code == SI_TKILL)
		got.si_code = SI_USER; /* as the C library does */
	resume_sampling();
	if (sig > 0 && info)
		*info = got;
	return sig;
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout)
{
	return timed_wait(set, info, timeout);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return timed_wait(set, info, NULL);
}

EXPORT int sigwait(const sigset_t *set, int *sig)
{
	int r;

	if (!signal_is_in(set))
		return REAL(sigwait)(set, sig);
	do
		r = timed_wait(set, NULL, NULL);
	while (r == -1 && errno == EINTR);
	if (r == -1)
		return errno;
	*sig = r;
	return 0;
}
