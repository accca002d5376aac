/* SPDX-License-Identifier: MIT */
/*
 * help_hazard - programs that a profiler can break, one for each case
 *
 *	help_hazard CASE [ARGUMENT]
 *
 * e2e/check_hazards.sh compares the output of each case with and without the
 * preload. A case ends with status 0 unless its comment says otherwise.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WORDS = 1024,
	THREADS = 3,
	JUMPS = 1000,
	MAPPINGS = 5000,
};

static volatile long words[WORDS];
static volatile int done;
static _Atomic int started;

/* Spend CPU time of the calling thread, with accesses to memory. */
static void burn(int ms)
{
	struct timespec begin, now;
	long spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 100 * WORDS; i++)
			words[i % WORDS] += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		spent = (now.tv_sec - begin.tv_sec) * 1000 +
			(now.tv_nsec - begin.tv_nsec) / 1000000;
	} while (spent < ms);
}

static void *share(void *argument)
{
	started++;
	while (!done)
		for (int i = 0; i < WORDS; i++)
			words[i % 8] += i;
	return NULL;
}

/* It waits long for a processor, wherever it is: others are always ready. */
static void *share_idly(void *argument)
{
	struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_IDLE, &none);
	return share(argument);
}

static void *burn_a_while(void *argument)
{
	usleep(50 * 1000);
	burn(300);
	return NULL;
}

static void *nothing(void *argument)
{
	return NULL;
}

static void leave(int sig)
{
	_exit(7);
}

/* _exit in a handler that may interrupt pthread_create. Status 7. */
static int exit_in_handler(const char *us)
{
	struct itimerval after = { .it_value.tv_usec = 1 + atoi(us) };

	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &after, NULL);
	for (;;) {
		pthread_t t;

		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
	}
	return 0;
}

static sigjmp_buf back;
static volatile int jumps;

static void jump(int sig)
{
	jumps++;
	siglongjmp(back, 1);
}

/* Many jumps out of a handler, then work. */
static int jump_out(void)
{
	struct itimerval often = { { 0, 97 }, { 0, 97 } }, never = { 0 };

	signal(SIGALRM, jump);
	sigsetjmp(back, 1);
	setitimer(ITIMER_REAL, &often, NULL);
	while (jumps < JUMPS)
		words[jumps % WORDS]++;
	setitimer(ITIMER_REAL, &never, NULL);
	burn(400);
	return 0;
}

/* The main thread ends, another works on. */
static int main_ends(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, burn_a_while, NULL))
		return 1;
	pthread_exit(NULL);
	return 1;
}

static int strict_mode(void)
{
	static const char text[] = "alive\n";

	burn(50);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 1;
	for (int i = 0; i < 200 * 1000 * WORDS; i++)
		words[i % WORDS] += i;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		syscall(SYS_exit, 1);
	syscall(SYS_exit, 0);
	return 1;
}

#define ALLOW(nr)                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1),                   \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/*
 * A deadly filter for all threads while they do @work, or while they begin if
 * @at_once.
 */
static int filter_all(void *(*work)(void *), bool at_once)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(write),
		ALLOW(futex),
		ALLOW(rt_sigreturn),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(rt_sigprocmask),
		ALLOW(madvise),
		ALLOW(munmap),
		ALLOW(set_robust_list), /* threads begin with these two */
		ALLOW(rseq),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	static const char text[] = "alive\n";
	pthread_t t[THREADS];
	cpu_set_t one;

	/* On the same processor threads begin when this one lets them. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (at_once && sched_setaffinity(0, sizeof(one), &one))
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			return 1;
	while (started < THREADS && !at_once)
		sched_yield();
	for (int i = 0; i < 50 * 1000 * WORDS && !at_once; i++)
		words[i % 8] += i;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_TSYNC, &program))
		return 1;
	for (int i = 0; i < 200 * 1000 * WORDS; i++)
		words[i % 8] += i;
	done = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return write(STDOUT_FILENO, text, sizeof(text) - 1) < 0;
}

/* Asking which filters exist must not stop the profiling. */
static int filter_asked(void)
{
	burn(20);
	printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	printf("%ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	burn(100);
	return 0;
}

/* An alternate stack of @bytes; the program's handlers do not use it. */
static int alternate_stack(const char *bytes)
{
	static char area[64 * 1024];
	size_t size = atoi(bytes), middle = sizeof(area) / 2;
	stack_t stack = { .ss_sp = area + middle, .ss_size = size };
	int touched = 0;

	if (sigaltstack(&stack, NULL))
		return 1;
	burn(200);
	for (size_t i = 0; i < sizeof(area); i++)
		if (i < middle || i >= middle + size)
			touched += area[i] != 0;
	printf("%d bytes around it touched\n", touched);
	return 0;
}

/* A forked child without an environment. */
static int clear_and_fork(void)
{
	pid_t pid;
	int status;

	clearenv();
	burn(10);
	pid = fork();
	if (!pid) {
		burn(50);
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	printf("status %x\n", status);
	return 0;
}

/* Print the descriptors that the program gets. */
static int descriptors(void)
{
	int fd, n = 0, last = -1;

	burn(20);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0 && n < 12) {
		n++;
		last = fd;
	}
	printf("%d opened, the last is %d\n", n, last);
	return 0;
}

/* Print how much of a limited address space is left, in steps of 4 MiB. */
static int space(void)
{
	const size_t step = 4 << 20;
	int n = 0;

	while (mmap(NULL, step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED)
		n++;
	printf("%d\n", n);
	return 0;
}

/* Make more mappings than a table of 4,096 holds; run code in the last. */
static int many_mappings(void)
{
	const size_t page = 4096;
	char *p = mmap(NULL, 2 * MAPPINGS * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	for (int i = 0; i < MAPPINGS; i++)
		if (mprotect(p + 2 * i * page, page, PROT_READ | PROT_EXEC))
			return 1;
	return main_ends();
}

/* Close every descriptor, as daemons do. */
static int close_all(void)
{
	burn(50);
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	burn(50);
	return 0;
}

/* Descriptor 2 is a data file now: no message may go there. */
static int stderr_is_data(const char *path)
{
	close(STDERR_FILENO);
	if (open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO)
		return 1;
	return strict_mode();
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const char *value = argc > 2 ? argv[2] : "0";

	if (!strcmp(name, "exit-in-handler"))
		return exit_in_handler(value);
	if (!strcmp(name, "jump-out"))
		return jump_out();
	if (!strcmp(name, "main-ends"))
		return main_ends();
	if (!strcmp(name, "strict"))
		return strict_mode();
	if (!strcmp(name, "filter"))
		return filter_all(share, false);
	if (!strcmp(name, "filter-idle"))
		return filter_all(share_idly, false);
	if (!strcmp(name, "filter-at-once"))
		return filter_all(share, true);
	if (!strcmp(name, "filter-asked"))
		return filter_asked();
	if (!strcmp(name, "altstack"))
		return alternate_stack(value);
	if (!strcmp(name, "clear-and-fork"))
		return clear_and_fork();
	if (!strcmp(name, "descriptors"))
		return descriptors();
	if (!strcmp(name, "space"))
		return space();
	if (!strcmp(name, "many-mappings"))
		return many_mappings();
	if (!strcmp(name, "close-all"))
		return close_all();
	if (!strcmp(name, "stderr-is-data"))
		return stderr_is_data(value);
	fprintf(stderr, "help_hazard: no case %s\n", name);
	return 2;
}
