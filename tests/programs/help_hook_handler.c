/* SPDX-License-Identifier: MIT */
/*
 * help_hook_handler - signals that a handler of SIGTRAP raises, ways to leave
 * it
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

#include "tests/programs/hooks/inside.h"

enum {
	TIMES = 8,
};

static _Atomic bool go, sent;
static pthread_t inside;
static sigjmp_buf env;
static ucontext_t copied, empty;
static int saves_mask;

static void raises_its_signal(void)
{
	set(SIGTRAP, raise_once, 0);
	for (int i = 0; i < TIMES; i++) {
		raise(SIGTRAP);
		show("after");
	}
}

/* Each handler raises the next signal, until the last. */
static void raise_again(int sig, siginfo_t *info, void *context)
{
	enter();
	burn(SAMPLED_MS);
	if (handled < TIMES)
		raise(SIGTRAP);
	burn(1);
	depth--;
}

static void raises_in_a_row(void)
{
	set(SIGTRAP, raise_again, 0);
	raise(SIGTRAP);
	show("deferred");
	handled = deepest = 0;
	set(SIGTRAP, raise_again, SA_NODEFER);
	raise(SIGTRAP);
	show("nested");
}

static void *raise_in_thread(void *arg)
{
	raise(SIGTRAP);
	show("in a thread");
	return NULL;
}

static void raises_in_a_thread(void)
{
	pthread_t t;

	set(SIGTRAP, raise_once, 0);
	pthread_create(&t, NULL, raise_in_thread, NULL);
	pthread_join(t, NULL);
}

static void wait_for_other(int sig, siginfo_t *info, void *context)
{
	enter();
	if (handled == 1) {
		burn(SAMPLED_MS);
		inside = pthread_self();
		go = true;
		while (!sent)
			burn(1);
		burn(SAMPLED_MS);
	}
	depth--;
}

static void *send_it(void *arg)
{
	while (!go)
		usleep(1000);
	if (arg)
		kill(getpid(), SIGTRAP);
	else
		pthread_kill(inside, SIGTRAP);
	sent = true;
	return NULL;
}

static void sent_by_others(void)
{
	set(SIGTRAP, wait_for_other, 0);
	for (intptr_t i = 0; i < 2; i++) {
		pthread_t t;

		handled = deepest = 0;
		go = sent = false;
		mask(SIG_BLOCK, SIGTRAP);
		pthread_create(&t, NULL, send_it, (void *)i);
		mask(SIG_UNBLOCK, SIGTRAP);
		raise(SIGTRAP);
		pthread_join(t, NULL);
		show(i ? "sent to the process" : "sent to the thread");
	}
}

static void jump(int sig, siginfo_t *info, void *context)
{
	enter();
	burn(SAMPLED_MS);
	depth--;
	if (handled > 1)
		return;
	raise(SIGTRAP);
	siglongjmp(env, 1);
}

/* The mask is that from before the signal, or that of the handler. */
static void leaves_by_jump(void)
{
	for (saves_mask = 1; saves_mask >= 0; saves_mask--) {
		set(SIGTRAP, jump, 0);
		handled = deepest = 0;
		if (!sigsetjmp(env, saves_mask))
			raise(SIGTRAP);
		set(SIGTRAP, count, 0);
		burn(SAMPLED_MS);
		show(saves_mask ? "with the mask" : "without");
		mask(SIG_UNBLOCK, SIGTRAP);
		show("unblocked");
		raise(SIGTRAP);
		show("raised");
	}
}

static void to_context(int sig, siginfo_t *info, void *context)
{
	ucontext_t *to = context;

	enter();
	depth--;
	burn(2);
	if (handled == 2) {
		copied = *to;
		copied.uc_mcontext.fpregs = to->uc_mcontext.fpregs;
		to = &copied;
	} else if (handled == 3) {
		sigemptyset(&empty.uc_sigmask);
		to = &empty;
	}
	setcontext(to);
}

/* Jump to its own frame, to a copy, and to a context with a mask of its own. */
static void leaves_by_context(void)
{
	volatile int i = 0;

	set(SIGTRAP, to_context, 0);
	getcontext(&empty);
	while (i < 3) {
		i++;
		raise(SIGTRAP);
		show("left");
	}
	show("all");
}

static int change;

static void change_mask(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	sigset_t all;

	enter();
	sigfillset(&all);
	switch (change) {
	case 0:
		mask(SIG_BLOCK, SIGTRAP);
		break;
	case 1:
		pthread_sigmask(SIG_SETMASK, &all, NULL);
		break;
	case 2:
		mask(SIG_UNBLOCK, SIGTRAP);
		break;
	case 3:
		sigaddset(&uc->uc_sigmask, SIGTRAP);
		break;
	case 4:
		pthread_sigmask(SIG_SETMASK, &uc->uc_sigmask, NULL);
		break;
	default:
		sigdelset(&uc->uc_sigmask, SIGTRAP);
		break;
	}
	burn(2);
	if (handled == 1)
		raise(SIGTRAP);
	show("inside");
	depth--;
}

/* The return restores the frame's mask, whatever the handler's was. */
static void changes_its_mask(void)
{
	sigset_t none = only(0);

	for (change = 0; change < 6; change++) {
		printf("change %d\n", change);
		handled = deepest = 0;
		set(SIGTRAP, change_mask, 0);
		raise(SIGTRAP);
		show("after");
		set(SIGTRAP, count, 0);
		raise(SIGTRAP);
		show("again");
		mask(SIG_SETMASK, 0);
		show("unblocked");
		set(SIGTRAP, change_mask, 0);
		handled = 1;
		mask(SIG_BLOCK, SIGTRAP);
		raise(SIGTRAP);
		printf("sigsuspend %d", sigsuspend(&none));
		printf(" %d\n", errno);
		show("after a wait");
		mask(SIG_SETMASK, 0);
	}
}

static void raise_trap(int sig, siginfo_t *info, void *context)
{
	burn(2);
	raise(SIGTRAP);
	show("in SIGUSR1");
}

static void raise_usr1(int sig, siginfo_t *info, void *context)
{
	enter();
	if (handled == 1) {
		raise(SIGUSR1);
		burn(2);
		show("after SIGUSR1");
	}
	depth--;
}

static void other_handler_raises(void)
{
	set(SIGTRAP, raise_usr1, 0);
	set(SIGUSR1, raise_trap, 0);
	raise(SIGTRAP);
	show("after");
}

static void burn_inside(int sig, siginfo_t *info, void *context)
{
	char room[2048];

	memset(room, sig, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	burn(SAMPLED_MS);
	enter();
	depth--;
}

/* The stack has room for the handler (its calls are bound), not for a frame. */
static void small_stack(void)
{
	size_t frame = sysconf(_SC_MINSIGSTKSZ);
	stack_t s = { .ss_size = frame + 4096 };

	burn(2);
	s.ss_sp = malloc(65536 + s.ss_size);
	memset(s.ss_sp, 1, 65536);
	s.ss_sp = (char *)s.ss_sp + 65536;
	sigaltstack(&s, NULL);
	set(SIGTRAP, burn_inside, SA_ONSTACK);
	raise(SIGTRAP);
	show("after");
	for (int i = -65536; i < 0; i++)
		if (((char *)s.ss_sp)[i] != 1)
			exit(1);
}

static const struct hook_case cases[] = {
	{ "raises_its_signal", raises_its_signal },
	{ "raises_in_a_row", raises_in_a_row },
	{ "raises_in_a_thread", raises_in_a_thread },
	{ "sent_by_others", sent_by_others },
	{ "leaves_by_jump", leaves_by_jump },
	{ "leaves_by_context", leaves_by_context },
	{ "changes_its_mask", changes_its_mask },
	{ "other_handler_raises", other_handler_raises },
	{ "small_stack", small_stack },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
