/* SPDX-License-Identifier: MIT */
/*
 * claim - one signal for two: our handler, and the application's action
 *
 * From signal_claim() on the kernel runs our handler for the claimed signal. We
 * keep the application's action (app_sigaction.h), and signal_forward() carries
 * it out. Everything else stays in the kernel: a signal of the application's
 * that must wait is blocked and queued there, so that sigpending, sigwait,
 * signalfd and exec see what they would see without us.
 */
#include <errno.h>
#include <stdatomic.h>

#include "app_sigaction.h"
#include "claim.h"
#include "claimed.h"
#include "pending.h"
#include "quiet.h"
#include "real.h"
#include "sent.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

enum {
	RESTORER = 0x04000000, /* SA_RESTORER: set by libc, seen in sa_flags */
	TAGBITS = 0x00000800,  /* SA_EXPOSE_TAGBITS */
	/* The kernel drops all others. */
	KNOWN_FLAGS = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK |
		      SA_RESTART | SA_NODEFER | RESTORER | TAGBITS,
};

/* As rt_sigaction takes it. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static _Atomic bool dying;
static _Atomic int kernel_flags;
static _Atomic bool small_stack;  /* an alternate stack is too small for us */
static _Atomic unsigned ignoring; /* spawns under way that need SIG_IGN */
static void *libc_restorer;
static void (*our_handler)(int, siginfo_t *, void *);

static bool same_handler(const void *handler, __sighandler_t which)
{
	return handler == (void *)(uintptr_t)which;
}

static bool is_handler(const struct app_sigaction *w)
{
	return !same_handler(w->handler, SIG_DFL) &&
	       !same_handler(w->handler, SIG_IGN);
}

/*
 * Our signals interrupt no system call: perf_events raise them in user mode
 * only. So the application chooses SA_RESTART, except if timers deliver our
 * signals, which come at any time.
 */
static int wanted_flags(const struct app_sigaction *w)
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
	act.sa_sigaction = our_handler;
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
	struct app_sigaction w;

	app_sigaction_read(&w);
	return install(wanted_flags(&w));
}

void signal_install(void)
{
	install_current();
}

void signal_install_ignore(void)
{
	install_plain(SIG_IGN);
}

void signal_small_stack(void)
{
	if (!signal_claim_is_ours() || atomic_exchange(&small_stack, true))
		return;
	install_current();
}

static bool is_ours(const struct sigaction *act)
{
	return act->sa_flags & SA_SIGINFO && act->sa_sigaction == our_handler;
}

static void action_from(struct app_sigaction *w, const struct sigaction *act)
{
	w->handler = (void *)(uintptr_t)act->sa_handler;
	w->restorer = (void *)(uintptr_t)act->sa_restorer;
	w->mask = kernel_mask(&act->sa_mask) &
		  ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
	w->flags = act->sa_flags;
}

static void action_to(struct sigaction *act, const struct app_sigaction *w)
{
	memset(act, 0, sizeof(*act));
	act->sa_handler = (__sighandler_t)(uintptr_t)w->handler;
	act->sa_restorer = (void (*)(void))(uintptr_t)w->restorer;
	set_kernel_mask(&act->sa_mask, w->mask);
	act->sa_flags = w->flags;
}

/* A vfork child has its own mask and action in the kernel: change those. */
static int child_action(const struct sigaction *act, struct sigaction *old)
{
	struct sigaction kernel;
	struct app_sigaction w;

	if (REAL(sigaction)(signal_claimed(), act, &kernel))
		return -1;
	if (!old)
		return 0;
	*old = kernel;
	if (is_ours(&kernel)) {
		app_sigaction_read(&w);
		action_to(old, &w);
	}
	return 0;
}

/* Setting SIG_IGN discards pending signals. */
static void discard_pending(void)
{
	siginfo_t info;

	while (signal_take_pending(&info))
		;
}

int signal_app_action(const struct sigaction *act, struct sigaction *old)
{
	struct app_sigaction w, before;
	int flags;

	if (!signal_claim_is_ours())
		return child_action(act, old);
	if (!act) {
		app_sigaction_read(&w);
		action_to(old, &w);
		return 0;
	}
	action_from(&w, act);
	w.flags = (w.flags & (KNOWN_FLAGS | (int)SA_RESETHAND)) | RESTORER;
	w.restorer = libc_restorer;
	if (!app_sigaction_publish(&w, &before)) {
		errno = ENOMEM;
		return -1;
	}
	flags = wanted_flags(&w);
	if (flags != atomic_load_explicit(&kernel_flags, memory_order_relaxed))
		install(flags);
	if (same_handler(w.handler, SIG_IGN))
		discard_pending();
	if (old)
		action_to(old, &before);
	return 0;
}

bool signal_app_ignores(void)
{
	struct app_sigaction w;

	app_sigaction_read(&w);
	return same_handler(w.handler, SIG_IGN);
}

int signal_claim(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction old;
	struct app_sigaction w, before;
	uint64_t mask;
	int r;

	our_handler = handler;
	if (REAL(sigaction)(sig, NULL, &old))
		return -errno;
	if (!is_ours(&old)) {
		action_from(&w, &old);
		if (!app_sigaction_publish(&w, &before))
			return -EAGAIN;
	}
	signal_set_claimed(sig);
	r = install_current();
	if (r) {
		signal_set_claimed(0);
		return r;
	}
	if (!REAL(sigaction)(sig, NULL, &old))
		libc_restorer = (void *)(uintptr_t)old.sa_restorer;
	mask = kernel_mask_change(SIG_BLOCK, 0);
	if (mask & signal_bit(sig)) {
		signal_set_app_blocks(true, mask);
		kernel_mask_change(SIG_UNBLOCK, signal_bit(sig));
	}
	signal_numbers_begin();
	return 0;
}

bool signal_is_installed(void)
{
	struct sigaction now;

	return !REAL(sigaction)(signal_claimed(), NULL, &now) && is_ours(&now);
}

unsigned signal_ignore_begin(void)
{
	return atomic_fetch_add(&ignoring, 1);
}

unsigned signal_ignore_end(void)
{
	return atomic_fetch_sub(&ignoring, 1) - 1;
}

int signal_reclaim(void)
{
	struct sigaction now;
	struct app_sigaction w, before;

	if (!signal_claim_is_ours() || atomic_load(&dying) ||
	    atomic_load(&ignoring))
		return 0;
	if (REAL(sigaction)(signal_claimed(), NULL, &now) || is_ours(&now))
		return 0;
	action_from(&w, &now);
	if (!app_sigaction_publish(&w, &before))
		return 0;
	install(wanted_flags(&w));
	return 1;
}

/*
 * The application's action becomes the kernel's. libc's function would be a
 * page of code that the child does not have yet.
 */
static void give_action_back(int sig)
{
	struct kernel_action k;
	struct app_sigaction w;

	if (sys_call4(SYS_rt_sigaction, sig, NULL, &k, KERNEL_MASK_BYTES) ||
	    !(k.flags & SA_SIGINFO) || k.handler != (void *)our_handler)
		return;
	app_sigaction_read(&w);
	k.handler = w.handler;
	k.flags = (unsigned int)(w.flags | RESTORER);
	k.restorer = libc_restorer;
	k.mask = w.mask;
	sys_call4(SYS_rt_sigaction, sig, &k, NULL, KERNEL_MASK_BYTES);
}

bool signal_release_in_child(void)
{
	int sig = signal_claimed();
	bool blocks;

	if (!sig)
		return false;
	give_action_back(sig);
	blocks = signal_blocks_get();
	if (blocks)
		kernel_mask_change(SIG_BLOCK, signal_bit(sig));
	memset(signal_self(), 0, sizeof(struct signal_thread));
	signal_quiet_reset();
	atomic_store(&ignoring, 0);
	signal_set_claimed(0);
	return blocks;
}

/*
 * No signal that is pending is inherited. If another thread of the parent was
 * starting a program, the kernel ignored the signal meanwhile.
 */
void signal_keep_in_child(void)
{
	struct signal_thread *t = signal_self();

	signal_set_claimed(signal_claimed());
	if (t->held) /* the kernel blocks it for a signal that is not here */
		kernel_mask_change(SIG_UNBLOCK, signal_bit(signal_claimed()));
	t->held = t->keeps = false;
	t->quiet = 0;
	t->child = 0;
	memset(&t->numbers, 0, sizeof(t->numbers));
	signal_numbers_begin();
	signal_quiet_reset();
	if (atomic_load(&ignoring)) {
		atomic_store(&ignoring, 0);
		signal_install();
	}
}

void signal_default_for_good(void)
{
	if (signal_claim_is_ours())
		atomic_store(&dying, true);
	install_plain(SIG_DFL);
}

void signal_thread_begin(bool blocks, bool profiled)
{
	int sig = signal_claimed();
	uint64_t old;

	if (!sig)
		return;
	old = kernel_mask_change(SIG_BLOCK, 0);
	signal_set_app_blocks(blocks || old & signal_bit(sig), old);
	if (old & signal_bit(sig))
		kernel_mask_change(SIG_UNBLOCK, signal_bit(sig));
	if (profiled)
		signal_numbers_begin();
}
