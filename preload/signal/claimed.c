/* SPDX-License-Identifier: MIT */
/*
 * claimed - which signal is claimed, and who has it blocked
 */
#include <stdatomic.h>

#include "claimed.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

_Atomic bool signal_handlers;

static _Atomic int claimed;
static _Atomic pid_t claimer;

uint64_t kernel_mask_change(int how, uint64_t mask)
{
	uint64_t old = 0;

	sys_call4(SYS_rt_sigprocmask, how, &mask, &old, KERNEL_MASK_BYTES);
	return old;
}

int signal_claimed(void)
{
	return atomic_load_explicit(&claimed, memory_order_relaxed);
}

bool signal_claim_is_ours(void)
{
	return signal_claimed() &&
	       sys_call0(SYS_getpid) ==
		       atomic_load_explicit(&claimer, memory_order_relaxed);
}

bool signal_is_in(const sigset_t *set)
{
	int sig = signal_claimed();

	return sig && set && kernel_mask(set) & signal_bit(sig);
}

void signal_set_claimed(int sig)
{
	if (sig)
		atomic_store(&claimer, (pid_t)sys_call0(SYS_getpid));
	atomic_store(&claimed, sig);
}

bool signal_blocks_get(void)
{
	struct signal_thread *t = signal_self();

	if (!t->blocks && !t->child)
		return false;
	if (signal_claim_is_ours())
		return t->blocks;
	return t->child == sys_call0(SYS_getpid) ? t->child_blocks : t->blocks;
}

/* Libc keeps two signals of its own out of every mask. */
static uint64_t told_apart(uint64_t mask)
{
	return mask &
	       ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP) | signal_bit(32) |
		 signal_bit(33) | signal_bit(signal_claimed()));
}

void signal_mask_is(uint64_t mask)
{
	struct signal_thread *t = signal_self();

	if (t->blocks && !t->suspends && t->beside & ~mask)
		t->blocks = t->handles = false;
}

bool signal_blocks_now(void)
{
	if (signal_self()->blocks && signal_claim_is_ours())
		signal_mask_is(kernel_mask_change(SIG_BLOCK, 0));
	return signal_blocks_get();
}

void signal_blocks_beside(uint64_t mask)
{
	if (signal_claim_is_ours())
		signal_self()->beside = told_apart(mask);
}

void signal_blocks_set(bool blocks, uint64_t mask)
{
	struct signal_thread *t = signal_self();

	if (signal_claim_is_ours()) {
		t->blocks = blocks;
		t->beside = told_apart(mask);
		t->handles = t->held = false;
		return;
	}
	t->child_blocks = blocks;
	t->child = sys_call0(SYS_getpid);
}

void signal_set_app_blocks(bool blocked, uint64_t mask)
{
	signal_self()->blocks = blocked;
	signal_self()->beside = told_apart(mask);
}
