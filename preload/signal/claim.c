/* SPDX-License-Identifier: MIT */
/*
 * claim - one signal for two: the application's wish and our handler
 *
 * From signal_claim() on the kernel's action for the claimed signal is ours.
 * The application's is a wish (app_sigaction.c), carried out by
 * signal_forward(). Everything else stays the kernel's: a signal of the
 * application's that must wait is blocked and queued in the kernel, so that
 * sigpending, sigwait, signalfd and exec see what they would see without us.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "preload/hooks/hooks.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

enum {
	RESTORER = 0x04000000, /* SA_RESTORER: set by libc, seen in sa_flags */
	TAGBITS = 0x00000800,  /* SA_EXPOSE_TAGBITS */
	/* The kernel drops all others. */
	KNOWN_FLAGS = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK |
		      SA_RESTART | SA_NODEFER | RESTORER | TAGBITS,
};

__thread struct signal_thread signal_thread
	__attribute__((tls_model("initial-exec")));

static _Atomic int claimed;
static _Atomic pid_t claimer;
static _Atomic bool dying;
static _Atomic int kernel_flags;
static _Atomic bool small_stack;  /* an alternate one, too small for us */
static _Atomic unsigned ignoring; /* spawns under way that need SIG_IGN */
static void *libc_restorer;

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

static bool same_handler(const void *handler, __sighandler_t which)
{
	return handler == (void *)(uintptr_t)which;
}

static bool is_handler(const struct wish *w)
{
	return !same_handler(w->handler, SIG_DFL) &&
	       !same_handler(w->handler, SIG_IGN);
}

/*
 * Our signals interrupt no system call: perf_events raise them in user mode
 * only. So SA_RESTART is the application's choice, except with the timers of a
 * real-time signal, which come at any time.
 */
static int wanted_flags(const struct wish *w)
{
	int flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;

	if (atomic_load_explicit(&small_stack, memory_order_relaxed) &&
	    !(is_handler(w) && w->flags & SA_ONSTACK))
		flags &= ~SA_ONSTACK;
	if (signal_claimed() == SIGTRAP && is_handler(w) &&
	    !(w->flags & SA_RESTART))
		flags &= ~SA_RESTART;
	return flags;
}

static int install(int flags)
{
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = runtime_on_signal;
	act.sa_flags = flags;
	set_kernel_mask(&act.sa_mask, FAULT_SIGNALS);
	atomic_store_explicit(&kernel_flags, flags, memory_order_relaxed);
	return REAL(sigaction)(signal_claimed(), &act, NULL) ? -errno : 0;
}

static int install_plain(__sighandler_t handler)
{
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	return REAL(sigaction)(signal_claimed(), &act, NULL);
}

static int install_current(void)
{
	struct wish w;

	wish_read(&w);
	return install(wanted_flags(&w));
}

void signal_small_stack(void)
{
	if (!signal_claim_is_ours() || atomic_exchange(&small_stack, true))
		return;
	install_current();
}

static bool is_ours(const struct sigaction *act)
{
	return act->sa_flags & SA_SIGINFO &&
	       act->sa_sigaction == runtime_on_signal;
}

static void wish_from(struct wish *w, const struct sigaction *act)
{
	w->handler = (void *)(uintptr_t)act->sa_handler;
	w->restorer = (void *)(uintptr_t)act->sa_restorer;
	w->mask = kernel_mask(&act->sa_mask) &
		  ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
	w->flags = act->sa_flags;
}

static void wish_to(struct sigaction *act, const struct wish *w)
{
	memset(act, 0, sizeof(*act));
	act->sa_handler = (__sighandler_t)(uintptr_t)w->handler;
	act->sa_restorer = (void (*)(void))(uintptr_t)w->restorer;
	set_kernel_mask(&act->sa_mask, w->mask);
	act->sa_flags = w->flags;
}

/* The mask and action of a vfork child are its own: no wish, no claim. */
static int child_wish(const struct sigaction *act, struct sigaction *old)
{
	struct sigaction kernel;
	struct wish w;

	if (REAL(sigaction)(signal_claimed(), act, &kernel))
		return -1;
	if (!old)
		return 0;
	*old = kernel;
	if (is_ours(&kernel)) {
		wish_read(&w);
		wish_to(old, &w);
	}
	return 0;
}

/* SIG_IGN discards what is pending. */
static void discard_pending(void)
{
	siginfo_t info;

	while (signal_take_pending(&info))
		;
}

int signal_wish(const struct sigaction *act, struct sigaction *old)
{
	struct wish w, before;
	int flags;

	if (!signal_claim_is_ours())
		return child_wish(act, old);
	if (!act) {
		wish_read(&w);
		wish_to(old, &w);
		return 0;
	}
	wish_from(&w, act);
	w.flags = (w.flags & (KNOWN_FLAGS | (int)SA_RESETHAND)) | RESTORER;
	w.restorer = libc_restorer;
	if (!wish_publish(&w, &before)) {
		errno = ENOMEM;
		return -1;
	}
	flags = wanted_flags(&w);
	if (flags != atomic_load_explicit(&kernel_flags, memory_order_relaxed))
		install(flags);
	if (same_handler(w.handler, SIG_IGN))
		discard_pending();
	if (old)
		wish_to(old, &before);
	return 0;
}

bool signal_wish_ignores(void)
{
	struct wish w;

	wish_read(&w);
	return same_handler(w.handler, SIG_IGN);
}

int signal_claim(int sig)
{
	struct signal_thread *t = &signal_thread;
	struct sigaction old;
	struct wish w, before;
	uint64_t mask;
	int r;

	if (REAL(sigaction)(sig, NULL, &old))
		return -errno;
	if (!is_ours(&old)) {
		wish_from(&w, &old);
		if (!wish_publish(&w, &before))
			return -EAGAIN;
	}
	atomic_store(&claimer, (pid_t)sys_call0(SYS_getpid));
	atomic_store(&claimed, sig);
	r = install_current();
	if (r) {
		atomic_store(&claimed, 0);
		return r;
	}
	if (!REAL(sigaction)(sig, NULL, &old))
		libc_restorer = (void *)(uintptr_t)old.sa_restorer;
	mask = kernel_mask_change(SIG_BLOCK, 0);
	if (mask & signal_bit(sig)) {
		t->blocks = true;
		kernel_mask_change(SIG_UNBLOCK, signal_bit(sig));
	}
	return 0;
}

int signal_reclaim(void)
{
	struct sigaction now;
	struct wish w, before;

	if (!signal_claim_is_ours() || atomic_load(&dying) ||
	    atomic_load(&ignoring))
		return 0;
	if (REAL(sigaction)(signal_claimed(), NULL, &now) || is_ours(&now))
		return 0;
	wish_from(&w, &now);
	if (!wish_publish(&w, &before))
		return 0;
	install(wanted_flags(&w));
	return 1;
}

bool signal_release_in_child(void)
{
	int sig = signal_claimed();
	struct sigaction act;
	struct wish w;
	bool blocks;

	if (!sig)
		return false;
	if (!REAL(sigaction)(sig, NULL, &act) && is_ours(&act)) {
		wish_read(&w);
		wish_to(&act, &w);
		REAL(sigaction)(sig, &act, NULL);
	}
	blocks = signal_blocks_get();
	if (blocks)
		kernel_mask_change(SIG_BLOCK, signal_bit(sig));
	memset(&signal_thread, 0, sizeof(signal_thread));
	atomic_store(&ignoring, 0);
	atomic_store(&claimed, 0);
	return blocks;
}

void signal_default_for_good(void)
{
	if (signal_claim_is_ours())
		atomic_store(&dying, true);
	install_plain(SIG_DFL);
}

bool signal_blocks_get(void)
{
	struct signal_thread *t = &signal_thread;

	if (!t->blocks && !t->child)
		return false;
	if (signal_claim_is_ours())
		return t->blocks;
	return t->child == sys_call0(SYS_getpid) ? t->child_blocks : t->blocks;
}

void signal_blocks_set(bool blocks)
{
	struct signal_thread *t = &signal_thread;

	if (signal_claim_is_ours()) {
		t->blocks = blocks;
		t->handles = t->held = false;
		return;
	}
	t->child_blocks = blocks;
	t->child = sys_call0(SYS_getpid);
}

bool signal_app_blocks(void)
{
	return signal_thread.blocks;
}

void signal_set_app_blocks(bool blocked)
{
	signal_thread.blocks = blocked;
}

void signal_thread_begin(bool blocks)
{
	int sig = signal_claimed();
	uint64_t old;

	if (!sig)
		return;
	old = kernel_mask_change(SIG_BLOCK, 0);
	signal_thread.blocks = blocks || old & signal_bit(sig);
	if (old & signal_bit(sig))
		kernel_mask_change(SIG_UNBLOCK, signal_bit(sig));
}

/*
 * A blocked signal that is pending survives exec, so none of ours may be: the
 * clock has been stopped by runtime_before_exec, what came before is taken out.
 */
static void block_for_program(struct signal_exec *undo)
{
	uint64_t bit = signal_bit(signal_claimed());
	siginfo_t info;

	undo->blocked = false;
	if (!signal_blocks_get())
		return;
	undo->blocked = !(kernel_mask_change(SIG_BLOCK, bit) & bit);
	if (signal_take_pending(&info))
		signal_requeue(&info);
}

static void unblock_after_program(const struct signal_exec *undo)
{
	if (undo->blocked)
		kernel_mask_change(SIG_UNBLOCK, signal_bit(signal_claimed()));
}

static bool must_ignore(void)
{
	struct sigaction now;

	return signal_wish_ignores() &&
	       !REAL(sigaction)(signal_claimed(), NULL, &now) && is_ours(&now);
}

void signal_before_exec(struct signal_exec *undo)
{
	undo->blocked = undo->ignored = false;
	if (!signal_claimed())
		return;
	block_for_program(undo);
	undo->ignored = must_ignore();
	if (undo->ignored)
		install_plain(SIG_IGN);
}

void signal_exec_failed(const struct signal_exec *undo)
{
	if (undo->ignored)
		install_current();
	unblock_after_program(undo);
}

/*
 * Several threads may be starting programs: the first to come sets SIG_IGN,
 * the last to leave our handler. In a race a program may get SIG_DFL, but our
 * handler is there again after the last.
 */
void signal_before_spawn(struct signal_exec *undo)
{
	undo->blocked = undo->ignored = false;
	if (!signal_claimed())
		return;
	block_for_program(undo);
	undo->ignored = signal_wish_ignores() && signal_claim_is_ours();
	if (undo->ignored && atomic_fetch_add(&ignoring, 1) == 0)
		install_plain(SIG_IGN);
}

void signal_after_spawn(const struct signal_exec *undo)
{
	if (undo->ignored && atomic_fetch_sub(&ignoring, 1) == 1)
		install_current();
	unblock_after_program(undo);
}

/* A thread that blocks the signal has it blocked from its first instruction. */
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
