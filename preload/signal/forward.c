/* SPDX-License-Identifier: MIT */
/*
 * forward - treat a signal as the application would without us
 *
 * This runs in our handler, while the kernel has the claimed signal blocked. A
 * signal that the application has blocked goes back to the kernel: we queue it
 * again, and block it in this thread's kernel mask, where it would be blocked
 * without us. If it was sent to the process, the kernel gives it to the next
 * thread that does not block it, which may do the same, until a thread wants it
 * or all block it. A thread is not sampled while its bit is set; that ends when
 * the application unblocks the signal or waits for it.
 *
 * A deadly signal is queued for this thread with the default action in place,
 * and the handler returns: the kernel ends the process at the very instruction
 * it interrupted, with the status and the core of the signal itself.
 */
#include <stdatomic.h>
#include <ucontext.h>

#include "app_sigaction.h"
#include "claim.h"
#include "claimed.h"
#include "forward.h"
#include "interrupted_stack.h"
#include "pending.h"
#include "quiet.h"
#include "sent.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

enum {
	TRAP_PERF_CODE = 6, /* TRAP_PERF, newer than our libc */
	ROOM_BYTES =
		96 * 1024, /* 64 KiB for a handler, the rest for our frames */
};

static void (*_Atomic when_held)(void);

void signal_when_held(void (*fn)(void))
{
	atomic_store(&when_held, fn);
}

static void tell_held(void)
{
	void (*fn)(void) = atomic_load(&when_held);

	if (fn)
		fn();
}

/* True if the kernel raised it for an instruction: int3, a single step. */
static bool is_forced(int sig, const siginfo_t *info)
{
	return sig == SIGTRAP && info->si_code > 0 &&
	       info->si_code != TRAP_PERF_CODE;
}

static void die(int sig, siginfo_t *info, ucontext_t *uc)
{
	signal_default_for_good();
	set_kernel_mask(&uc->uc_sigmask,
			kernel_mask(&uc->uc_sigmask) & ~signal_bit(sig));
	sys_call4(SYS_rt_tgsigqueueinfo, sys_call0(SYS_getpid),
		  sys_call0(SYS_gettid), sig, info);
}

static void hold(int sig, const siginfo_t *info, ucontext_t *uc)
{
	if (signal_claim_is_ours()) {
		signal_self()->held = true;
		tell_held();
		signal_quiet_begin();
	}
	signal_requeue(info);
	set_kernel_mask(&uc->uc_sigmask,
			kernel_mask(&uc->uc_sigmask) | signal_bit(sig));
}

/*
 * True if the stack that holds @uc has room for the program's handler and for a
 * sample in it. We cannot know how much of an alternate stack the handler will
 * use. A small one has no room: its size was chosen for the handler alone.
 */
static bool has_room(const ucontext_t *uc)
{
	uintptr_t at = (uintptr_t)uc, low = (uintptr_t)uc->uc_stack.ss_sp;

	return uc->uc_stack.ss_flags & SS_DISABLE || at < low ||
	       at - low >= uc->uc_stack.ss_size || at - low >= ROOM_BYTES;
}

/*
 * True if @uc is of a handler that interrupted a waiting call, whose mask lets
 * the signal through: the kernel then has neither the signal blocked, which was
 * held before, nor what libc had blocked beside it.
 */
static bool is_let_through(const ucontext_t *uc)
{
	const struct signal_thread *t = signal_self();
	uint64_t mask = kernel_mask(&uc->uc_sigmask);

	return t->waits && signal_claim_is_ours() &&
	       ((t->held && !(mask & signal_bit(signal_claimed()))) ||
		t->beside & ~mask);
}

/*
 * If there is room, our flag (@blocks) blocks the signal while the
 * application's handler runs, and the kernel does not. If the kernel blocked
 * it, samples would wait for the handler's end, and a waiting sample would
 * swallow a signal that is sent to the thread meanwhile. Either way, a call in
 * which the thread waited is over.
 */
static void enter_handler(struct handler_flags *before, bool blocks,
			  uint64_t mask, const ucontext_t *uc)
{
	struct signal_thread *t = signal_self();

	before->in_wait = is_let_through(uc);
	before->blocks = t->blocks;
	before->handles = t->handles;
	before->held = t->held;
	before->quiet = t->quiet;
	before->beside = t->beside;
	signal_set_app_blocks(blocks, mask);
	t->handles = blocks;
	t->held = t->waits = t->suspends = false;
	signal_quiet_end();
	if (!t->directed)
		signal_quiet_end_all();
}

/*
 * A waiting signal comes when the kernel restores the frame. The mask in the
 * frame, which the handler may have changed, says whether the application
 * blocks it then. Not inlined: the handler may return in another thread than it
 * was called in.
 */
static __attribute__((noinline)) void leave_handler(
	int sig, const struct handler_flags *before, const ucontext_t *uc)
{
	struct signal_thread *t = signal_self();
	bool blocks = before->in_wait ||
		      kernel_mask(&uc->uc_sigmask) & signal_bit(sig);

	kernel_mask_change(SIG_BLOCK, signal_bit(sig));
	signal_set_app_blocks(before->blocks && blocks, before->beside);
	if (!before->in_wait)
		t->beside &= kernel_mask(&uc->uc_sigmask);
	t->held = before->held && blocks;
	if (t->held && before->quiet)
		signal_quiet_begin();
	t->handles = before->handles;
	t->waits = t->suspends = false;
}

/*
 * Call the handler on the stack that @uc interrupted, and put the thread's
 * flags in order after it.
 */
static void run_there(int sig, siginfo_t *info, void *uc,
		      const struct handler_call *call)
{
	/* A handler of one argument ignores the other registers. */
	call->handler(sig, info, uc);
	if (call->ours)
		leave_handler(sig, &call->before, uc);
}

/*
 * The kernel's mask is now the one at the interrupted instruction, or the one
 * that a waiting call has set, plus @sig and the faults. Restore the faults to
 * what they were at the instruction.
 */
static void call_handler(int sig, siginfo_t *info, ucontext_t *uc,
			 const struct app_sigaction *w)
{
	struct handler_call call = {
		.handler = (void (*)(int, siginfo_t *, void *))(
				   uintptr_t)w->handler,
		.ours = signal_claim_is_ours(),
	};
	bool blocks = !(w->flags & SA_NODEFER) || w->mask & signal_bit(sig);
	bool moves = !(w->flags & SA_ONSTACK) && interrupted_another_stack(uc);
	bool opens = call.ours && sig < FIRST_QUEUED && (moves || has_room(uc));
	uint64_t mask,
		open = FAULT_SIGNALS & ~kernel_mask(&uc->uc_sigmask) & ~w->mask;

	if (opens || !blocks)
		open |= signal_bit(sig);
	mask = (kernel_mask_change(SIG_BLOCK, 0) | w->mask) & ~open;
	if (call.ours)
		enter_handler(&call.before, opens && blocks, mask, uc);
	if (moves) {
		interrupted_stack_call(sig, info, uc, mask, &call, run_there);
		return;
	}
	kernel_mask_change(SIG_SETMASK, mask);
	run_there(sig, info, uc, &call);
}

void signal_forward(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct app_sigaction w;
	uint64_t ticket;

	if (!signal_received(info))
		return;
	signal_self()->keeps = false;
	if (signal_claim_is_ours())
		signal_mask_is(kernel_mask(&uc->uc_sigmask));
	/*
	 * If the mask to return to has the bit, the signal came through the
	 * temporary mask of sigsuspend or a call like it.
	 */
	if (signal_blocks_get() && !is_let_through(uc) &&
	    !(kernel_mask(&uc->uc_sigmask) & signal_bit(sig))) {
		if (is_forced(sig, info))
			die(sig, info, uc);
		else
			hold(sig, info, uc);
		return;
	}
	ticket = app_sigaction_read(&w);
	if (w.handler == (void *)(uintptr_t)SIG_IGN) {
		if (is_forced(sig, info))
			die(sig, info, uc);
		return;
	}
	if (w.handler == (void *)(uintptr_t)SIG_DFL) {
		die(sig, info, uc);
		return;
	}
	if (w.flags & (int)SA_RESETHAND) {
		if (signal_claim_is_ours())
			app_sigaction_reset(ticket);
		else
			signal_default_for_good();
	}
	call_handler(sig, info, uc, &w);
}
