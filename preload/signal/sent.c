/* SPDX-License-Identifier: MIT */
/*
 * sent - signals that libc's functions send to one thread
 *
 * The sender takes a number, queues the signal with it, and notes that it did.
 * The kernel may also have dropped a signal because another one of the
 * application's was queued already, as it would without us. So the receipt of
 * any signal that was sent to the thread is that of all whose system calls had
 * returned by then. If several threads send at the same time, two signals may
 * become one, as they may without us if the receiver is slow.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "claimed.h"
#include "sent.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

void signal_numbers_begin(void)
{
	struct signal_numbers *n = &signal_self()->numbers;

	if (signal_claimed() < FIRST_QUEUED)
		atomic_store(&n->tid, (pid_t)sys_call0(SYS_gettid));
}

void signal_numbers_end(void)
{
	atomic_store(&signal_self()->numbers.tid, 0);
}

static void raise_to(_Atomic uint32_t *value, uint32_t number)
{
	uint32_t is = atomic_load(value);

	while (is < number && !atomic_compare_exchange_weak(value, &is, number))
		;
}

int signal_send(struct signal_numbers *to, bool queued, uint64_t value)
{
	pid_t pid = sys_call0(SYS_getpid), tid = atomic_load(&to->tid);
	siginfo_t info;
	uint32_t number;
	long r;

	if (!tid)
		return -ESRCH;
	memset(&info, 0, sizeof(info));
	atomic_store(&to->queued, queued);
	atomic_store(&to->value, value);
	number = atomic_fetch_add(&to->begun, 1) + 1;
	info.si_signo = signal_claimed();
	info.si_errno = (int)number;
	info.si_code = queued ? SIGNAL_TO_THREAD : SIGNAL_KILLED;
	info.si_pid = pid;
	info.si_uid = sys_call0(SYS_getuid);
	info.si_value.sival_ptr = (void *)(uintptr_t)value;
	r = sys_call4(SYS_rt_tgsigqueueinfo, pid, tid, info.si_signo, &info);
	if (r)
		atomic_compare_exchange_strong(&to->begun, &number, number - 1);
	else
		raise_to(&to->ended, number);
	return r;
}

bool signal_was_dropped(siginfo_t *info)
{
	struct signal_thread *t = signal_self();
	struct signal_numbers *n = &t->numbers;
	uint32_t number = atomic_load(&n->begun);

	if (number <= n->received || !signal_claim_is_ours())
		return false;
	n->received = n->ahead = number;
	t->directed = true;
	memset(info, 0, sizeof(*info));
	info->si_signo = signal_claimed();
	info->si_code = atomic_load(&n->queued) ? SI_QUEUE : SI_TKILL;
	info->si_pid = sys_call0(SYS_getpid);
	info->si_uid = sys_call0(SYS_getuid);
	info->si_value.sival_ptr = (void *)(uintptr_t)atomic_load(&n->value);
	return true;
}

/*
 * Beyond the limit of queued signals (ulimit -i) the kernel forgets all but the
 * number of the signal. What was sent to the thread last is received then.
 */
static bool is_forgotten(const siginfo_t *info)
{
	return info->si_code == SI_USER && !info->si_pid;
}

static bool received_forgotten(siginfo_t *info)
{
	struct signal_thread *t = signal_self();
	struct signal_numbers *n = &t->numbers;
	uint32_t begun = atomic_load(&n->begun);

	if (begun > n->received) {
		t->directed = true;
		n->received = begun;
		n->ahead = 0;
	} else if (n->ahead) {
		n->ahead = 0;
		return signal_was_dropped(info);
	}
	return true;
}

bool signal_received(siginfo_t *info)
{
	struct signal_thread *t = signal_self();
	struct signal_numbers *n = &t->numbers;
	uint32_t number = 0, ended = atomic_load(&n->ended);

	t->directed = info->si_code == SI_TKILL;
	if (is_forgotten(info))
		return received_forgotten(info);
	if (info->si_code == SIGNAL_TO_PROCESS) {
		info->si_code = SI_USER;
	} else if (info->si_code == SIGNAL_KILLED ||
		   info->si_code == SIGNAL_TO_THREAD) {
		t->directed = true;
		number = (uint32_t)info->si_errno;
		info->si_errno = 0;
		info->si_code =
			info->si_code == SIGNAL_KILLED ? SI_TKILL : SI_QUEUE;
		if (number && number == n->ahead) {
			n->ahead = 0;
			/* The kernel may have dropped a later one for it. */
			return signal_was_dropped(info);
		}
	}
	if (!t->directed)
		return true;
	if (number < ended)
		number = ended;
	if (number > n->received)
		n->received = number;
	return true;
}
