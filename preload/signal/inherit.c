/* SPDX-License-Identifier: MIT */
/*
 * inherit - what new programs and threads inherit: the mask, ignored signals
 */
#include <signal.h>
#include <sys/single_threaded.h>

#include "claim.h"
#include "claimed.h"
#include "inherit.h"
#include "pending.h"
#include "src/base/signal_safe.h"

/*
 * A signal that is blocked and pending survives exec, so none of ours may be
 * pending. runtime_before_exec has stopped the clock, so no new one comes; here
 * we remove one that came earlier.
 */
static void block_for_program(struct signal_exec *undo)
{
	uint64_t bit = signal_bit(signal_claimed());
	siginfo_t info;

	undo->blocked = false;
	if (!signal_blocks_now())
		return;
	undo->blocked = !(kernel_mask_change(SIG_BLOCK, bit) & bit);
	if (!signal_take_pending(&info))
		return;
	/*
	 * A single thread has no other that could take it from the process, and
	 * a copy that we keep does not survive exec.
	 */
	if (__libc_single_threaded)
		signal_self()->directed = false;
	signal_requeue(&info);
}

static void unblock_after_program(const struct signal_exec *undo)
{
	if (undo->blocked)
		kernel_mask_change(SIG_UNBLOCK, signal_bit(signal_claimed()));
}

void signal_before_exec(struct signal_exec *undo)
{
	undo->blocked = undo->ignored = false;
	if (!signal_claimed())
		return;
	block_for_program(undo);
	undo->ignored = signal_app_ignores() && signal_is_installed();
	if (undo->ignored)
		signal_install_ignore();
}

void signal_exec_failed(const struct signal_exec *undo)
{
	if (undo->ignored)
		signal_install();
	unblock_after_program(undo);
}

/*
 * Several threads may start programs at once: the first one sets SIG_IGN, and
 * the last one installs our handler again. In a race a program may get SIG_DFL,
 * but after the last one our handler is back.
 */
void signal_before_spawn(struct signal_exec *undo)
{
	undo->blocked = undo->ignored = false;
	if (!signal_claimed())
		return;
	block_for_program(undo);
	undo->ignored = signal_app_ignores() && signal_claim_is_ours();
	if (undo->ignored && signal_ignore_begin() == 0)
		signal_install_ignore();
}

void signal_after_spawn(const struct signal_exec *undo)
{
	if (undo->ignored && signal_ignore_end() == 0)
		signal_install();
	unblock_after_program(undo);
}

/* A new thread that blocks the signal does so from its first instruction. */
void signal_before_thread(struct signal_exec *undo)
{
	undo->blocked = undo->ignored = false;
	if (signal_claimed())
		block_for_program(undo);
}

void signal_after_thread(const struct signal_exec *undo)
{
	unblock_after_program(undo);
}
