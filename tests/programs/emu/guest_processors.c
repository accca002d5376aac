/* SPDX-License-Identifier: MIT */
/*
 * guest_processors - print what a program learns of how its threads are
 * scheduled, while two others run
 *
 *	guest_processors WAY
 *
 *	ask		for the main thread, its number, one that runs, and one
 *			that was created just before
 *	set		bind the main thread to a processor, then ask
 *	policy		let the kernel schedule one as SCHED_BATCH, then ask
 *	attribute	create a thread that is bound, then ask for it
 *	status		read /proc/self/status
 *	fork		ask in a child, and in a program that it executes
 *	exec		ask in a program that replaces this one
 *	wait		ask for nothing; end when the input does
 *	alone		ask, without other threads
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BUSY = 2,
	ROUNDS = 400000, /* of a loop: more than a thousand turns */
};

static _Atomic int stop, asked;
static _Atomic pid_t tid_of_busy;
static volatile long work[BUSY];

static void *busy(void *number)
{
	if (!number)
		atomic_store(&tid_of_busy, (pid_t)syscall(SYS_gettid));
	while (!atomic_load(&stop))
		work[(long)number]++;
	return NULL;
}

/* It lives until it was asked for. */
static void *young(void *unused)
{
	while (!atomic_load(&asked))
		sched_yield();
	return NULL;
}

static void run_for_a_while(void)
{
	static volatile long n;

	for (long i = 0; i < ROUNDS; i++)
		n++;
}

static void print(const char *name, const cpu_set_t *set)
{
	printf("%s", name);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set))
			printf(" %d", i);
	printf("\n");
}

static void ask(const char *name, pid_t tid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(tid, sizeof(set), &set))
		perror(name);
	print(name, &set);
	run_for_a_while();
	printf("%s policy %d\n", name, sched_getscheduler(tid));
}

/* The first of the processors that the program may use. */
static void first(cpu_set_t *one)
{
	cpu_set_t set;
	int i = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		exit(1);
	while (!CPU_ISSET(i, &set))
		i++;
	CPU_ZERO(one);
	CPU_SET(i, one);
}

static pthread_t start(void *(*f)(void *), const pthread_attr_t *how, long n)
{
	pthread_t t;

	if (pthread_create(&t, how, f, (void *)n))
		exit(1);
	return t;
}

static void ask_for(const char *name, pthread_t t)
{
	cpu_set_t set;

	if (pthread_getaffinity_np(t, sizeof(set), &set))
		exit(1);
	print(name, &set);
	atomic_store(&asked, 1);
	pthread_join(t, NULL);
}

static void ask_all(void)
{
	ask("self", 0);
	run_for_a_while();
	ask("main", getpid());
	run_for_a_while();
	ask("busy", atomic_load(&tid_of_busy));
	run_for_a_while();
	ask_for("young", start(young, NULL, 0));
}

static void ask_bound_thread(void)
{
	pthread_attr_t how;
	cpu_set_t one;

	first(&one);
	run_for_a_while();
	pthread_attr_init(&how);
	pthread_attr_setaffinity_np(&how, sizeof(one), &one);
	ask_for("bound", start(young, &how, 0));
	ask("self", 0);
	ask("busy", atomic_load(&tid_of_busy));
}

static void bind_self(void)
{
	cpu_set_t one;

	first(&one);
	run_for_a_while();
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(1);
	run_for_a_while();
	ask("self", 0);
	ask("busy", atomic_load(&tid_of_busy));
	ask_for("young", start(young, NULL, 0)); /* inherits */
}

static void set_policy(void)
{
	const struct sched_param none = { 0 };

	if (sched_setscheduler(atomic_load(&tid_of_busy), SCHED_BATCH, &none))
		exit(1);
	run_for_a_while();
	ask("self", 0);
	ask("busy", atomic_load(&tid_of_busy));
}

static void print_status(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Cpus_allowed", strlen("Cpus_allowed")))
			printf("%s", line);
	if (f)
		fclose(f);
}

static void replace(char *self)
{
	fflush(stdout);
	execl(self, self, "alone", NULL);
	_exit(1);
}

static void ask_in_child(char *self)
{
	pid_t pid = fork();

	if (!pid) {
		ask("child", 0);
		replace(self);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "alone";
	pthread_t t[BUSY];

	if (!strcmp(way, "alone")) {
		ask("alone", 0);
		return 0;
	}
	for (long i = 0; i < BUSY; i++)
		t[i] = start(busy, NULL, i);
	while (!atomic_load(&tid_of_busy))
		sched_yield();
	run_for_a_while();
	if (!strcmp(way, "ask"))
		ask_all();
	else if (!strcmp(way, "set"))
		bind_self();
	else if (!strcmp(way, "policy"))
		set_policy();
	else if (!strcmp(way, "attribute"))
		ask_bound_thread();
	else if (!strcmp(way, "status"))
		print_status();
	else if (!strcmp(way, "fork"))
		ask_in_child(argv[0]);
	else if (!strcmp(way, "exec"))
		replace(argv[0]);
	else
		while (getchar() != EOF)
			continue;
	atomic_store(&stop, 1);
	for (int i = 0; i < BUSY; i++)
		pthread_join(t[i], NULL);
	return 0;
}
