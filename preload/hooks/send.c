/* SPDX-License-Identifier: MIT */
/*
 * send - the functions that send a signal to one thread
 *
 * The claimed signal is sent with a number (signal/sent.h) while samples come,
 * because one of them may be in its way. A signal to the process has a queue
 * that holds none of ours, so kill and sigqueue are not hooked.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/signal/claimed.h"
#include "preload/signal/real.h"
#include "preload/signal/sent.h"
#include "src/base/signal_safe.h"

static bool is_numbered(int sig)
{
	return sig > 0 && sig == signal_claimed() && sig < FIRST_QUEUED &&
	       (runtime_active() || runtime_is_waiting()) &&
	       signal_claim_is_ours();
}

/* A thread's id points to its control block, which has our part of it. */
static struct signal_numbers *numbers_of(pthread_t thread)
{
	char *block = (char *)(uintptr_t)thread;

	return &((struct signal_thread *)(block + LOCAL_OFFSET + LOCAL_SIGNAL))
			->numbers;
}

/*
 * A thread that a raw clone made has its maker's control block. It sends to
 * itself without a number.
 */
static int send_to(struct signal_numbers *to, bool queued, uint64_t value)
{
	if (to == &signal_self()->numbers &&
	    atomic_load(&to->tid) != sys_call0(SYS_gettid))
		return -ESRCH;
	return signal_send(to, queued, value);
}

EXPORT int raise(int sig)
{
	int saved_errno = errno;

	if (!is_numbered(sig) || send_to(&signal_self()->numbers, false, 0)) {
		errno = saved_errno;
		return REAL(raise)(sig);
	}
	return 0;
}

EXPORT int gsignal(int sig)
{
	return raise(sig);
}

EXPORT int pthread_kill(pthread_t thread, int sig)
{
	if (!is_numbered(sig) || send_to(numbers_of(thread), false, 0))
		return REAL(pthread_kill)(thread, sig);
	return 0;
}

EXPORT int pthread_sigqueue(pthread_t thread, int sig, const union sigval value)
{
	uint64_t word = (uint64_t)(uintptr_t)value.sival_ptr;

	if (!is_numbered(sig) || send_to(numbers_of(thread), true, word))
		return REAL(pthread_sigqueue)(thread, sig, value);
	return 0;
}

EXPORT int tgkill(pid_t process, pid_t thread, int sig)
{
	struct signal_numbers *own = &signal_self()->numbers;

	if (!is_numbered(sig) || thread != atomic_load(&own->tid) ||
	    process != sys_call0(SYS_getpid) || signal_send(own, false, 0))
		return REAL(tgkill)(process, thread, sig);
	return 0;
}
