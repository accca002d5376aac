/* SPDX-License-Identifier: MIT */
/*
 * help_hook_raw - masks that are set past libc, and others that are not
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/signals.h"

static void *report(void *arg)
{
	burn(2);
	show_signal(arg);
	return NULL;
}

/* The system call as an instruction of the program's own. */
static void raw_mask(int how, uint64_t set)
{
	register long bytes __asm__("r10") = sizeof(set);
	long r = SYS_rt_sigprocmask;

	__asm__ volatile("syscall"
			 : "+a"(r)
			 : "D"(how), "S"(&set), "d"(NULL), "r"(bytes)
			 : "rcx", "r11", "memory");
	if (r)
		exit(1);
}

static void *unblocks_itself(void *arg)
{
	pthread_t t;
	int before;

	raw_mask(SIG_SETMASK, 0);
	burn(2);
	show_signal("unblocked");
	raise(SIGTRAP);
	show_signal("raised");
	pthread_create(&t, NULL, report, "its thread");
	pthread_join(t, NULL);
	before = handled;
	kill(getpid(), SIGTRAP);
	while (handled == before)
		burn(1);
	show_signal("sent to the process");
	if (!arg) {
		pthread_create(&t, NULL, unblocks_itself, "again");
		pthread_join(t, NULL);
	}
	return NULL;
}

/* Libc blocks every signal and a raw system call unblocks them: Go with cgo. */
static void raw_unblocked(void)
{
	sigset_t all, old, now = only(SIGTRAP);
	pthread_t t;

	set(SIGTRAP, on_trap, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_create(&t, NULL, unblocks_itself, NULL);
	pthread_join(t, NULL);
	show_signal("creator");
	raw_mask(SIG_SETMASK, bits(&old));
	show_signal("creator unblocked");
	raise(SIGTRAP);
	show_signal("raised");
	pthread_sigmask(SIG_SETMASK, &all, &old);
	raw_mask(SIG_UNBLOCK, ~0ull);
	pthread_create(&t, NULL, report, "its thread");
	pthread_join(t, NULL);
	for (int i = 0; i < 3; i++) {
		int how = i == 2 ? SIG_SETMASK : i ? SIG_UNBLOCK : SIG_BLOCK;

		printf("%ld ", syscall(SYS_rt_sigprocmask, how, &now, &old, 8));
		printf("%d\n", sigismember(&old, SIGTRAP));
		show_signal("by syscall");
		raise(SIGTRAP);
		show_signal("raised");
	}
	printf("%ld ", syscall(SYS_rt_sigprocmask, 0, (void *)-1, NULL, 8));
	printf("%d ", errno);
	printf("%ld ", syscall(SYS_rt_sigprocmask, 0, &now, NULL, 16));
	printf("%d ", errno);
	printf("%ld ", syscall(SYS_rt_sigprocmask, 9, &now, NULL, 8));
	printf("%d\n", errno);
}

/* Other masks that libc sets do not end the blocking of SIGTRAP. */
static void others_unblocked(void)
{
	sigset_t all, some, before;
	sigset_t trap = only(SIGTRAP);

	set(SIGTRAP, on_trap, 0);
	set(SIGALRM, on_trap, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	mask(SIG_UNBLOCK, SIGUSR1);
	raise(SIGTRAP);
	show_signal("one less");
	some = only(SIGTRAP);
	sigaddset(&some, SIGHUP);
	pthread_sigmask(SIG_SETMASK, &some, &before);
	printf("before %llx\n", (unsigned long long)bits(&before));
	show_signal("set");
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	mask(SIG_UNBLOCK, SIGUSR2);
	show_signal("released");
	alarm(1);
	printf("%d\n", sigsuspend(&trap));
	show_signal("suspended");
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	printf("now %llx\n", (unsigned long long)bits(&before));
}

static volatile uint64_t watched[4];

static int watch(int i)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched[i],
		.bp_len = sizeof(watched[i]),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

/* All four registers are the program's if it wants them. */
static void own_breakpoints(void)
{
	uint64_t count = 0;
	int fd[4];

	burn(50);
	for (int i = 0; i < 4; i++) {
		fd[i] = watch(i);
		printf("opened %d\n", fd[i] >= 0);
		burn(5);
	}
	printf("a fifth %d", watch(0));
	printf(" %d\n", errno);
	for (int n = 0; n < 10; n++)
		for (int i = 0; i < 4; i++)
			watched[i] = n;
	for (int i = 0; i < 4; i++) {
		if (fd[i] >= 0 && read(fd[i], &count, 8) != 8)
			count = 0;
		printf("count %d\n", (int)count);
	}
}

static _Atomic pid_t raw_tid;
static _Atomic int at_home, elsewhere;

static void count_where(int sig, siginfo_t *info, void *context)
{
	if (syscall(SYS_gettid) == raw_tid)
		at_home++;
	else
		elsewhere++;
}

static int raises(void *arg)
{
	raw_tid = syscall(SYS_gettid);
	for (int i = 0; i < 100; i++)
		raise(SIGTRAP);
	syscall(SYS_exit, 0);
	return 0;
}

/* A thread with its maker's control block sends to itself, not to its maker. */
static void raw_thread_raises(void)
{
	static char stack[256 * 1024];
	static _Atomic int alive = 1;

	set(SIGTRAP, count_where, 0);
	clone(raises, stack + sizeof(stack),
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		      CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
	      NULL, NULL, NULL, &alive);
	while (alive)
		sched_yield();
	printf("at home %d elsewhere %d\n", at_home > 0, elsewhere);
}

static _Atomic long finished;

/* Without a control block there is no thread-local storage. */
static __attribute__((used)) void counts(void)
{
	static volatile long sums[1024];

	for (long i = 0; i < 100000000; i++)
		sums[i & 1023] += i;
	finished += sums[1] != 0;
}

/* The system call clone: a function that returns twice cannot be C. */
int raw_clone(long flags, void *stack, void *parent, _Atomic int *tid,
	      void *block);
__asm__(".text\n"
	"raw_clone:\n\t"
	"movq %rcx, %r10\n\t"
	"movl $56, %eax\n\t"
	"syscall\n\t"
	"testl %eax, %eax\n\t"
	"jz 1f\n\t"
	"ret\n"
	"1:\txorl %ebp, %ebp\n\t"
	"call counts\n\t"
	"movl $60, %eax\n\t"
	"xorl %edi, %edi\n\t"
	"syscall");

/* Threads whose control block is none of the C library's, or at no address. */
static void foreign_blocks(void)
{
	static char stack[64 * 1024] __attribute__((aligned(64)));
	static void
		*own[512]; /* the first word points to it, as the ABI asks */
	static void *zeros[512];
	void *blocks[] = { own, zeros, NULL, (void *)64 };
	static _Atomic int alive;

	own[0] = own;
	for (int i = 0; i < 4; i++) {
		alive = 1;
		raw_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				  CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
				  CLONE_CHILD_CLEARTID,
			  stack + sizeof(stack), NULL, &alive, blocks[i]);
		while (alive)
			usleep(1000);
		printf("finished %ld\n", finished);
	}
	for (int i = 1; i < 512; i++)
		if (own[i] || zeros[i])
			printf("changed %d\n", i);
}

/* Beyond the limit of queued signals the kernel keeps their number alone. */
static void beyond_limit(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_SIGPENDING, &none);
	set(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 300; i++) {
		if (i % 2)
			raise(SIGTRAP);
		else
			pthread_kill(pthread_self(), SIGTRAP);
		burn(1);
	}
	show_signal("raised");
	mask(SIG_BLOCK, SIGTRAP);
	raise(SIGTRAP);
	burn(2);
	show_signal("blocked");
	mask(SIG_UNBLOCK, SIGTRAP);
	burn(2);
	show_signal("unblocked");
}

static const char hidden[8192] __attribute__((aligned(4096))) = { 1 };

static void skip(int sig, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3;
	handled++;
}

/* Constants that the program makes unreadable, and the code goes on. */
static void hidden_constants(void)
{
	static long words[256];
	long n, word;

	set(SIGSEGV, skip, 0);
	mprotect((void *)(uintptr_t)hidden, 4096, PROT_NONE);
	for (int i = 0; i < 100000; i++) {
		n = i % 32 + 1;
		word = 0;
		__asm__ volatile("1:\tmovq (%[w]), %%rcx\n\t"
				 "addq %%rcx, %[word]\n\t"
				 "movq %%rcx, 8(%[w])\n\t"
				 "addq 16(%[w]), %[word]\n\t"
				 "decq %[n]\n\t"
				 "jnz 1b\n\t"
				 "movq %[w], %%rcx\n\t"
				 "movq (%[at]), %%rcx\n\t" /* three bytes */
				 "movq 24(%%rcx), %%rax\n\t"
				 "movq (%[w], %%rax, 8), %%rax"
				 : [word] "+r"(word), [n] "+r"(n)
				 : [w] "S"(words), [at] "D"(hidden)
				 : "rax", "rcx", "memory");
	}
	show_signal("hidden");
}

/* A breakpoint of the program's counts its own accesses, none of ours. */
static void watched_pointer(void)
{
	static long numbers[64], many[8];
	long *volatile pointer = numbers;
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_RW,
		.bp_addr = (uintptr_t)&pointer,
		.bp_len = sizeof(pointer),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t count = 0;
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);

	for (int i = 0; i < 30000; i++) {
		pointer[i % 64]++;
		for (int j = 0; j < 8; j++)
			many[(i * 7 + j) % 8] += i;
	}
	if (fd >= 0 && read(fd, &count, 8) != 8)
		count = 0;
	printf("opened %d count %d\n", fd >= 0, (int)count);
}

static const struct hook_case cases[] = {
	{ "raw_unblocked", raw_unblocked },
	{ "others_unblocked", others_unblocked },
	{ "own_breakpoints", own_breakpoints },
	{ "raw_thread_raises", raw_thread_raises },
	{ "foreign_blocks", foreign_blocks },
	{ "beyond_limit", beyond_limit },
	{ "hidden_constants", hidden_constants },
	{ "watched_pointer", watched_pointer },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
