/* SPDX-License-Identifier: MIT */
/*
 * help_hook_stack - the stack, the frame and the registers of a handler
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <alloca.h>
#include <execinfo.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "tests/programs/hooks/inside.h"

enum {
	LARGE = 256 * 1024,
	NEEDS = 100 * 1024, /* of stack, in a handler */
	AUTODISARM = 1u << 31,
};

static char *alternate;
static size_t alternate_bytes;
static int handler_flags;
static sigjmp_buf env;

/* A stack between pages that may not be touched. */
static char *guarded(size_t bytes)
{
	char *p = mmap(NULL, bytes + 8192, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED ||
	    mprotect(p + 4096, bytes, PROT_READ | PROT_WRITE))
		exit(1);
	return p + 4096;
}

static size_t smallest(void)
{
	return (sysconf(_SC_MINSIGSTKSZ) + 4096 + 4095) & ~4095ul;
}

static void use_stack(size_t bytes, int flags)
{
	stack_t s = { .ss_size = bytes, .ss_flags = flags };

	alternate = guarded(bytes);
	alternate_bytes = bytes;
	s.ss_sp = alternate;
	if (sigaltstack(&s, NULL))
		perror("sigaltstack");
}

static bool on_alternate(const void *p)
{
	return (uintptr_t)p - (uintptr_t)alternate < alternate_bytes;
}

static void show_stack(const char *where)
{
	stack_t s;

	sigaltstack(NULL, &s);
	printf("%s: flags %x size right %d is there %d\n", where, s.ss_flags,
	       s.ss_size == alternate_bytes, on_alternate(&s));
}

static __attribute__((noinline)) void deep(size_t bytes)
{
	volatile char *room = alloca(bytes);

	for (size_t i = 0; i < bytes; i += 512)
		room[i] = 1;
	burn(2);
}

static void deep_handler(int sig, siginfo_t *info, void *context)
{
	enter();
	deep(NEEDS);
	show_stack("in the handler");
	depth--;
}

static void raise_deep(void)
{
	set(SIGTRAP, deep_handler, 0);
	for (int i = 0; i < 5; i++) {
		raise(SIGTRAP);
		kill(getpid(), SIGTRAP);
		__asm__ volatile("int3");
	}
	show("after");
	show_stack("after");
}

/* The handler needs 100 KiB, and did not ask for the alternate stack. */
static void needs_room(void)
{
	use_stack(65536, 0);
	burn(3);
	raise_deep();
	use_stack(smallest(), 0);
	burn(3);
	raise_deep();
	use_stack(LARGE, 0);
	raise_deep();
}

static void *deep_thread(void *arg)
{
	mask(SIG_UNBLOCK, SIGTRAP);
	use_stack(65536, 0);
	burn(3);
	raise_deep();
	return NULL;
}

static void needs_room_in_a_thread(void)
{
	pthread_t t;

	mask(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 4; i++) {
		pthread_create(&t, NULL, deep_thread, NULL);
		pthread_join(t, NULL);
	}
}

static void where(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	enter();
	show_stack(sig == SIGTRAP ? "SIGTRAP" : "another");
	printf("info %d context %d flags %x size right %d\n",
	       on_alternate(info), on_alternate(context), uc->uc_stack.ss_flags,
	       uc->uc_stack.ss_size == alternate_bytes);
	burn(2);
	if (handled < 4)
		raise(handled == 1 ? SIGUSR1 : SIGTRAP);
	show("inside");
	depth--;
}

/* Every handler's stack, nested in every way. */
static void nested_stacks(void)
{
	static const int flags[] = { 0, SA_ONSTACK, SA_NODEFER,
				     SA_ONSTACK | SA_NODEFER };

	use_stack(LARGE, 0);
	for (int i = 0; i < 16; i++) {
		set(SIGTRAP, where, flags[i % 4]);
		set(SIGUSR1, where, flags[i / 4]);
		handled = deepest = 0;
		raise(SIGTRAP);
		show("after");
		handled = 0;
		raise(SIGUSR1);
		show("after SIGUSR1");
	}
	show_stack("after");
}

static void change_stack(int sig, siginfo_t *info, void *context)
{
	stack_t s = { .ss_sp = alternate + 65536, .ss_size = 65536 },
		old = { 0 };
	int r;

	enter();
	r = sigaltstack(&s, &old);
	printf("change %d old flags %x size %zu\n", r, old.ss_flags,
	       old.ss_size);
	sigaltstack(NULL, &old);
	printf("now flags %x size %zu\n", old.ss_flags, old.ss_size);
	burn(2);
	depth--;
}

/* The return restores the alternate stack, too. */
static void changes_its_stack(void)
{
	static const int setting[] = { 0, (int)AUTODISARM };
	stack_t now;

	for (int i = 0; i < 4; i++) {
		use_stack(LARGE, setting[i / 2]);
		set(SIGTRAP, change_stack, i % 2 ? SA_ONSTACK : 0);
		burn(2);
		raise(SIGTRAP);
		sigaltstack(NULL, &now);
		printf("after flags %x size %zu\n", now.ss_flags, now.ss_size);
	}
}

static void look(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	unsigned short control;

	enter();
	__asm__("fnstcw %0" : "=m"(control));
	printf("signal %d code %d own %d value %d\n", sig, info->si_code,
	       info->si_pid == getpid(), info->si_value.sival_int);
	printf("mask %llx frame's %llx\n",
	       (unsigned long long)(blocked() << 8 | pending(SIGTRAP)),
	       (unsigned long long)bits(&uc->uc_sigmask));
	printf("mxcsr %x x87 %x\n", _mm_getcsr(), control);
	printf("info %td of the context, numbers %d aligned %d\n",
	       (char *)info - (char *)context,
	       (uintptr_t)uc->uc_mcontext.fpregs > (uintptr_t)context,
	       (int)((uintptr_t)uc->uc_mcontext.fpregs % 64));
	printf("error %lld trap %lld link %d\n", uc->uc_mcontext.gregs[REG_ERR],
	       uc->uc_mcontext.gregs[REG_TRAPNO], uc->uc_link != NULL);
	depth--;
}

/* What the kernel puts into the frame, and the state it gives a handler. */
static void frames(void)
{
	static const int flags[] = { 0, SA_ONSTACK, SA_NODEFER, SA_RESTART };
	union sigval v = { .sival_int = 4711 };
	struct sigaction a;

	for (int i = 0; i < 8; i++) {
		if (i == 4)
			use_stack(LARGE, 0);
		memset(&a, 0, sizeof(a));
		a.sa_sigaction = look;
		a.sa_flags = SA_SIGINFO | flags[i % 4];
		sigaddset(&a.sa_mask, SIGUSR2);
		sigaction(SIGTRAP, &a, NULL);
		burn(2);
		_mm_setcsr(0x5f80);
		raise(SIGTRAP);
		kill(getpid(), SIGTRAP);
		sigqueue(getpid(), SIGTRAP, v);
		mask(SIG_BLOCK, SIGUSR1);
		__asm__ volatile("int3");
		mask(SIG_SETMASK, 0);
		printf("mxcsr %x\n", _mm_getcsr());
		_mm_setcsr(0x1f80);
	}
	show("after");
}

static void change_registers(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct _libc_fpstate *fp = uc->uc_mcontext.fpregs;

	enter();
	deep(8192);
	fp->_xmm[7].element[0] = 0x1234;
	fp->mxcsr = 0x3f80;
	uc->uc_mcontext.gregs[REG_R12] += 5;
	uc->uc_mcontext.gregs[REG_RIP] += 2; /* past ud2 */
	depth--;
}

/* The words below the stack pointer are the interrupted function's. */
static void registers(void)
{
	for (int i = 0; i < 4; i++) {
		uint64_t r12 = 1000, red = 0, ymm[4] = { 1, 2, 3, 4 };
		uint32_t xmm7 = 0;

		if (i == 2)
			use_stack(LARGE, 0);
		set(SIGTRAP, change_registers, i % 2 ? SA_ONSTACK : 0);
		for (int n = 0; n < 20; n++)
			__asm__ volatile("mov %[r12], %%r12\n\t"
					 "movdqu %[y], %%xmm9\n\t"
					 "movq $77, -128(%%rsp)\n\t"
					 "movq $78, -8(%%rsp)\n\t"
					 "int3\n\t"
					 "ud2\n\t"
					 "mov -128(%%rsp), %[red]\n\t"
					 "add -8(%%rsp), %[red]\n\t"
					 "movd %%xmm7, %[xmm7]\n\t"
					 "movdqu %%xmm9, %[y]\n\t"
					 "mov %%r12, %[r12]"
					 : [r12] "+m"(r12), [red] "=&r"(red),
					   [xmm7] "=&r"(xmm7), [y] "+m"(ymm)
					 :
					 : "r12", "xmm7", "xmm9", "memory");
		printf("r12 %d red zone %d xmm7 %x mxcsr %x numbers %d\n",
		       (int)r12, (int)red, xmm7, _mm_getcsr(),
		       (int)(ymm[0] + ymm[1] * 10));
		_mm_setcsr(0x1f80);
	}
	show("after");
}

static void jump_out(int sig, siginfo_t *info, void *context)
{
	handled++;
	if (handled % 16 == 0)
		deep(4096);
	siglongjmp(env, handled);
}

/* Each way into the handler, and out of it by a jump. */
static void jumps_out(void)
{
	static volatile int i, n;

	for (i = 0; i < 6; i++) {
		if (i == 2)
			use_stack(65536, 0);
		else if (i == 4)
			use_stack(LARGE, (int)AUTODISARM);
		handled = 0;
		set(SIGTRAP, jump_out, i % 2 ? SA_ONSTACK : 0);
		for (n = 0; n < 500; n++) {
			if (sigsetjmp(env, 1))
				continue;
			if (n % 2)
				raise(SIGTRAP);
			else
				__asm__ volatile("int3");
		}
		show("after");
		show_stack("after");
	}
}

static __attribute__((noinline)) void traced(int sig, siginfo_t *info,
					     void *context)
{
	void *at[64];
	int n = backtrace(at, 64);
	uintptr_t ip = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	bool found = false;

	for (int i = 0; i < n; i++)
		found |= (uintptr_t)at[i] == ip || (uintptr_t)at[i] == ip + 1;
	printf("unwound to the interrupted function: %d\n", found);
	enter();
	depth--;
}

static void unwinds(void)
{
	void *at[4];

	backtrace(at, 4); /* loads the unwinder */
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			use_stack(LARGE, 0);
		set(SIGTRAP, traced, i % 2 ? SA_ONSTACK : 0);
		__asm__ volatile("int3");
		raise(SIGTRAP);
	}
	show("after");
}

static void show_reset(int sig, siginfo_t *info, void *context)
{
	struct sigaction now;

	sigaction(SIGTRAP, NULL, &now);
	enter();
	printf("reset %d\n", now.sa_handler == SIG_DFL);
	if (handled == 1) {
		set(SIGTRAP, show_reset, (int)SA_RESETHAND | handler_flags);
		raise(SIGTRAP);
		show("inside");
	}
	depth--;
}

static void resets(void)
{
	static const int flags[] = { 0, SA_ONSTACK, SA_NODEFER };

	use_stack(LARGE, 0);
	for (int i = 0; i < 3; i++) {
		handled = deepest = 0;
		handler_flags = flags[i];
		set(SIGTRAP, show_reset, (int)SA_RESETHAND | flags[i]);
		raise(SIGTRAP);
		show("after");
	}
	fflush(stdout);
	raise(SIGTRAP);
	printf("not reached\n");
}

static _Atomic bool stop;

static void *send_many(void *to)
{
	for (int i = 0; i < 2000; i++) {
		int before = handled;

		pthread_kill((pthread_t)to, SIGTRAP);
		while (handled == before)
			;
	}
	stop = true;
	return NULL;
}

static void check_there(int sig, siginfo_t *info, void *context)
{
	if (on_alternate(&sig) == !(handler_flags & SA_ONSTACK))
		exit(3);
	handled++;
}

/* Interrupted anywhere, the program's sums stay right. */
static void from_another_thread(void)
{
	pthread_t t;

	use_stack(LARGE, 0);
	for (int i = 0; i < 2; i++) {
		double sum = 0;
		uint64_t n = 0, wrong = 0;

		stop = false;
		handled = 0;
		handler_flags = i ? SA_ONSTACK : 0;
		set(SIGTRAP, check_there, handler_flags);
		pthread_create(&t, NULL, send_many, (void *)pthread_self());
		while (!stop) {
			sum = 0;
			for (n = 1; n <= 1000; n++)
				sum += (double)n * 0.5;
			wrong += sum != 250250.0;
		}
		pthread_join(t, NULL);
		printf("handled %d wrong %d\n", handled, (int)wrong);
	}
}

static void fork_inside(int sig, siginfo_t *info, void *context)
{
	pid_t child;
	int status = 0;

	enter();
	fflush(stdout);
	child = fork();
	if (!child) {
		deep(NEEDS);
		depth--;
		return;
	}
	waitpid(child, &status, 0);
	printf("child %x\n", status);
	depth--;
}

/* Both sides of the fork return from the handler. */
static void forks_inside(void)
{
	pid_t me = getpid();

	for (int i = 0; i < 2; i++) {
		set(SIGTRAP, fork_inside, i ? SA_ONSTACK : 0);
		use_stack(i ? LARGE : 65536, 0);
		raise(SIGTRAP);
		show(getpid() == me ? "parent" : "child");
		if (getpid() != me) {
			fflush(stdout);
			_exit(9);
		}
	}
}

static const struct hook_case cases[] = {
	{ "needs_room", needs_room },
	{ "needs_room_in_a_thread", needs_room_in_a_thread },
	{ "nested_stacks", nested_stacks },
	{ "changes_its_stack", changes_its_stack },
	{ "frames", frames },
	{ "registers", registers },
	{ "jumps_out", jumps_out },
	{ "unwinds", unwinds },
	{ "resets", resets },
	{ "from_another_thread", from_another_thread },
	{ "forks_inside", forks_inside },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
