/* SPDX-License-Identifier: MIT */
/*
 * reuse_churn - threads that come and go, each with a reuse time of its own
 *
 *	reuse_churn short THREADS SWEEPS	one after the other, in batches
 *	reuse_churn live THREADS SWEEPS		all at once
 *	reuse_churn forks TIMES SWEEPS		children, also of exec, between
 *	reuse_churn exec THREADS SWEEPS		exec while all of them sweep
 *
 * A thread of class c is called "cN". N is the number of its words, 104 + 8 c,
 * which it sweeps again and again: by address each reuse time is N, by line 1
 * or N - 7. When threads follow each other, the next one sweeps the same words,
 * so that a use left behind would meet a thread that it does not belong to.
 * Threads return, exit, or are cancelled.
 *
 * Only the sweeps have hooks. On a simulated PMU (tests/fake/fake_process.c)
 * the program reports each of their accesses. It prints a checksum, and how
 * often the perf events of the process counted when it touched all words after
 * the threads' end: that is what a debug register still watched.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CLASSES = 64,
	WORDS_MIN = 104,
	WORDS_STEP = 8,
	WORDS_MAX = WORDS_MIN + CLASSES * WORDS_STEP,
	SLOTS = 600,
	BATCH = 20,
	FORKING = 4,
};

#define UNSEEN __attribute__((no_sanitize("thread")))

static _Alignas(64) volatile uint64_t words[SLOTS][WORDS_MAX];
static unsigned long sweeps;
static const char *program;
static pthread_barrier_t all_up;

/* One access a turn, and no other: the reuse time is @n. */
static __attribute__((noinline)) uint64_t sweep(volatile uint64_t *w,
						uint32_t n, unsigned long times)
{
	uint64_t sum = 0;

	for (; times; times--)
		for (uint32_t i = 0; i < n; i++)
			if (i % 2)
				w[i] = sum;
			else
				sum = sum * 31 + i + (w[i] & 0);
	return sum;
}

/* The access that a PMU samples: a label, then the instruction. */
__asm__(".text\n"
	"load_it: mov (%rdi), %rax\n ret\n"
	"store_it: mov %rsi, (%rdi)\n ret\n");
void load_it(volatile uint64_t *at);
void store_it(volatile uint64_t *at, uint64_t value);

enum {
	LOAD = 1,
	STORE = 2,
};

typedef void teller(uint64_t ip, uint64_t addr, uint32_t len, uint32_t flags);

UNSEEN static uint64_t sweep_told(teller *tell, volatile uint64_t *w,
				  uint32_t n, unsigned long times)
{
	uint64_t sum = 0;

	for (; times; times--)
		for (uint32_t i = 0; i < n; i++)
			if (i % 2) {
				store_it(&w[i], sum);
				tell((uintptr_t)store_it, (uintptr_t)&w[i], 8,
				     STORE);
			} else {
				load_it(&w[i]);
				sum = sum * 31 + i;
				tell((uintptr_t)load_it, (uintptr_t)&w[i], 8,
				     LOAD);
			}
	return sum;
}

UNSEEN static uint32_t words_of(uint32_t class)
{
	return WORDS_MIN + class * WORDS_STEP;
}

UNSEEN static uint64_t be(uint32_t class, uint32_t slot)
{
	teller *tell = (teller *)dlsym(RTLD_DEFAULT, "fake_process_op");
	char name[16];

	snprintf(name, sizeof(name), "c%u", words_of(class));
	prctl(PR_SET_NAME, name);
	if (tell)
		return sweep_told(tell, words[slot], words_of(class), sweeps);
	return sweep(words[slot], words_of(class), sweeps);
}

UNSEEN static void *argument(uint32_t class, uint32_t slot)
{
	return (void *)(uintptr_t)(class << 16 | slot);
}

UNSEEN static void *run(void *arg)
{
	uint32_t class = (uintptr_t)arg >> 16, slot = (uintptr_t)arg & 0xffff;
	uint64_t sum = be(class, slot);

	if (class % 3 == 1)
		pthread_exit((void *)(uintptr_t)sum);
	if (class % 3 == 2) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return (void *)(uintptr_t)sum;
}

UNSEEN static void *run_at_once(void *arg)
{
	pthread_barrier_wait(&all_up);
	return run(arg);
}

UNSEEN static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	if (pthread_create(t, NULL, fn, arg)) {
		perror("pthread_create");
		exit(1);
	}
}

UNSEEN static uint64_t end(pthread_t t)
{
	void *sum;

	pthread_join(t, &sum);
	return (uintptr_t)sum;
}

/* The sum of the counts of this process's perf events. */
UNSEEN static uint64_t counted(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	uint64_t sum = 0;

	while (d && (e = readdir(d))) {
		char to[64] = "";
		uint64_t n;

		if (readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1) > 0 &&
		    strstr(to, "[perf_event]") &&
		    read(atoi(e->d_name), &n, sizeof(n)) == sizeof(n))
			sum += n;
	}
	closedir(d);
	return sum;
}

UNSEEN static void say_armed(void)
{
	uint64_t before = counted();

	for (int i = 0; i < SLOTS; i++)
		for (int j = 0; j < WORDS_MAX; j++)
			words[i][j] = 0;
	printf("armed %llu\n", (unsigned long long)(counted() - before));
}

UNSEEN static uint64_t batches(unsigned long threads)
{
	pthread_t t[BATCH];
	uint64_t sum = 0;

	for (unsigned long i = 0; i < threads; i += BATCH) {
		for (unsigned long j = 0; j < BATCH; j++)
			start(&t[j], run,
			      argument((i / BATCH + j) % CLASSES, j));
		for (unsigned long j = 0; j < BATCH; j++)
			sum = sum * 31 + end(t[j]);
	}
	return sum;
}

UNSEEN static uint64_t at_once(unsigned long threads)
{
	pthread_t t[SLOTS];
	uint64_t sum = 0;

	pthread_barrier_init(&all_up, NULL, threads);
	for (unsigned long i = 0; i < threads; i++)
		start(&t[i], run_at_once, argument(i % CLASSES, i));
	for (unsigned long i = 0; i < threads; i++)
		sum = sum * 31 + end(t[i]);
	return sum;
}

/* The child of a process whose threads sweep also sweeps the words. */
UNSEEN static void child(unsigned long i)
{
	char number[24];

	if (i % 2) {
		snprintf(number, sizeof(number), "%lu", sweeps);
		execl(program, "reuse_churn", "short", "40", number,
		      (char *)NULL);
		_exit(1);
	}
	_exit((int)(be(i % CLASSES, 0) % 100));
}

UNSEEN static uint64_t forks(unsigned long times)
{
	pthread_t t[FORKING];
	uint64_t sum = 0;

	for (unsigned long i = 0; i < times; i++) {
		pid_t pid;
		int status = -1;

		for (unsigned long j = 0; j < FORKING; j++)
			start(&t[j], run, argument((i + j) % CLASSES, j));
		fflush(stdout);
		pid = fork();
		if (!pid)
			child(i);
		if (waitpid(pid, &status, 0) != pid)
			exit(1);
		sum = sum * 31 + status;
		for (unsigned long j = 0; j < FORKING; j++)
			sum = sum * 31 + end(t[j]);
	}
	return sum;
}

UNSEEN static void exec_in_the_middle(unsigned long threads)
{
	pthread_t t[SLOTS];
	char number[24];

	snprintf(number, sizeof(number), "%lu", sweeps);
	sweeps = ~0ul;
	for (unsigned long i = 0; i < threads; i++)
		start(&t[i], run, argument(i % CLASSES, i));
	usleep(100000);
	execl(program, "reuse_churn", "short", "200", number, (char *)NULL);
	perror("execl");
}

UNSEEN int main(int argc, char **argv)
{
	unsigned long n = argc == 4 ? strtoul(argv[2], NULL, 0) : 0;
	uint64_t sum;

	if (!n || ((argv[1][0] == 'l' || argv[1][0] == 'e') && n > SLOTS)) {
		fprintf(stderr, "usage: reuse_churn short|live|forks|exec N "
				"SWEEPS\n");
		return 2;
	}
	sweeps = strtoul(argv[3], NULL, 0);
	program = argv[0];
	if (!strcmp(argv[1], "short"))
		sum = batches(n);
	else if (!strcmp(argv[1], "live"))
		sum = at_once(n);
	else if (!strcmp(argv[1], "forks"))
		sum = forks(n);
	else
		return exec_in_the_middle(n), 1;
	printf("sum %llx\n", (unsigned long long)sum);
	say_armed();
	return 3;
}
