/* SPDX-License-Identifier: MIT */
/*
 * help_pmu_hidden - threads whose begin and end no hook sees
 *
 *	help_pmu_hidden THREADS [LATER]
 *
 * libc makes a thread for each expiry of a timer with SIGEV_THREAD, past the
 * hooks of pthread_create. Each makes accesses that it tells the fake PMU
 * (tests/fake/fake_process.c), for long enough to be sampled. When one has
 * ended the next begins; then the main thread runs for as long. Then LATER
 * threads run at once, which a hook sees, on the stacks of the hidden ones.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	LATER_MAX = 16,
	OWN_MS = 350, /* CPU time of each */
	LOAD = 1,
};

__asm__(".text\n"
	"load_it: mov (%rdi), %rax\n ret\n");
void load_it(uint64_t *at);

static void (*tell)(uint64_t ip, uint64_t addr, uint32_t len, uint32_t flags);
static uint64_t words[64];
static sem_t done;

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static void run(void)
{
	double until = cpu_ms() + OWN_MS;

	/* Ticks come in user mode, so seldom ask the kernel. */
	for (uint32_t i = 0; i % 5000 || cpu_ms() < until; i++) {
		uint64_t *at = &words[i % 64];

		load_it(at);
		if (tell)
			tell((uintptr_t)load_it, (uintptr_t)at, 8, LOAD);
	}
}

static void expired(union sigval unused)
{
	sigset_t all;

	/* libc starts it with all signals blocked. */
	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	run();
	sem_post(&done);
}

static int threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void *run_later(void *unused)
{
	(void)unused;
	run();
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigevent how = { .sigev_notify = SIGEV_THREAD,
				.sigev_notify_function = expired };
	struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
	pthread_t later[LATER_MAX];
	int n = argc > 2 ? atoi(argv[2]) : 0;
	int before;
	timer_t timer;

	tell = (void (*)(uint64_t, uint64_t, uint32_t, uint32_t))dlsym(
		RTLD_DEFAULT, "fake_process_op");
	sem_init(&done, 0, 0);
	if (timer_create(CLOCK_MONOTONIC, &how, &timer))
		return 2;
	before = threads();
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i; i--) {
		timer_settime(timer, 0, &soon, NULL);
		sem_wait(&done);
		while (threads() > before)
			usleep(1000);
	}
	run();
	for (int i = 0; i < n && i < LATER_MAX; i++)
		pthread_create(&later[i], NULL, run_later, NULL);
	for (int i = 0; i < n && i < LATER_MAX; i++)
		pthread_join(later[i], NULL);
	return 0;
}
