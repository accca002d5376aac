/* SPDX-License-Identifier: MIT */
/*
 * processor - the threads that take turns share one processor of the host
 */
#include <dirent.h>
#include <linux/limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "processor.h"
#include "guest.h"
#include "now.h"
#include "state.h"

enum {
	LOOK_EVERY = 1024, /* turns; about 10 ms */
	/* Bound threads that have the processor for less of the time than
	 * this, in percent, are set free. */
	ENOUGH = 75,
};

enum state {
	AS_STARTED, /* as if there were no plugin */
	LOOSE,      /* on any processor */
	BOUND,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t all; /* what the program may use; empty: nothing is done */
static cpu_set_t one;
static bool ordinary; /* the kernel schedules the program as most */
static bool shared;   /* there are several threads */
/*
 * The program looks after it itself. Written with the lock held; calls look
 * without it. A call that sees it too late gives up once more. One that saw it
 * too early could change its thread's processors before they are all again.
 */
static atomic_bool over;
static enum state state;
static int asking;         /* calls that ask how threads are scheduled */
static unsigned int turns; /* since the last look */
static uint64_t looked_ns, used_ns;

static void set_thread(pid_t tid)
{
	const struct sched_param none = { 0 };

	sched_setaffinity(tid, sizeof(all), state == BOUND ? &one : &all);
	if (ordinary)
		sched_setscheduler(
			tid, state == AS_STARTED ? SCHED_OTHER : SCHED_BATCH,
			&none);
}

/*
 * Each thread of the process, also those that have not begun to run the
 * program, and QEMU's own. With the lock held, as the next two.
 */
static void set_all(enum state to)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *d;

	state = to;
	while (tasks && (d = readdir(tasks))) {
		pid_t tid = atoi(d->d_name);

		if (tid > 0)
			set_thread(tid);
	}
	if (tasks)
		closedir(tasks);
}

static void bind_here(void)
{
	int here = sched_getcpu();

	if (here < 0 || !CPU_ISSET(here, &all))
		return;
	CPU_ZERO(&one);
	CPU_SET(here, &one);
	set_all(BOUND);
}

static void look(void)
{
	uint64_t now = emu_now_ns(CLOCK_MONOTONIC);
	uint64_t used = emu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	bool enough = (used - used_ns) * 100 >= (now - looked_ns) * ENOUGH;

	looked_ns = now;
	used_ns = used;
	if (state != BOUND && !asking)
		bind_here();
	else if (state == BOUND && !enough)
		set_all(LOOSE);
}

static bool is_over(void)
{
	/* (B) pairs with (A). */
	return atomic_load_explicit(&over, memory_order_acquire);
}

static void give_up(void)
{
	pthread_mutex_lock(&lock);
	if (state != AS_STARTED)
		set_all(AS_STARTED);
	/* (A) pairs with (B) in is_over(): all threads are as they started. */
	atomic_store_explicit(&over, true, memory_order_release);
	pthread_mutex_unlock(&lock);
}

void emu_processor_init(void)
{
	pthread_mutex_init(&lock, NULL);
	shared = false;
	atomic_store_explicit(&over, false, memory_order_relaxed);
	state = AS_STARTED;
	asking = 0;
	ordinary = sched_getscheduler(0) == SCHED_OTHER;
	/* More processors than cpu_set_t has: an error. */
	if (emu.config.slice == EMU_SLICE_FREE ||
	    sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		CPU_ZERO(&all);
}

void emu_processor_share(void)
{
	if (!CPU_COUNT(&all))
		return;
	pthread_mutex_lock(&lock);
	if (!shared && !is_over()) {
		shared = true;
		look();
	}
	pthread_mutex_unlock(&lock);
}

void emu_processor_turn(void)
{
	if (++turns < LOOK_EVERY)
		return;
	turns = 0;
	pthread_mutex_lock(&lock);
	if (shared && !is_over())
		look();
	pthread_mutex_unlock(&lock);
}

/* True if the file may say how the kernel schedules a thread. */
static bool tells(uint64_t path)
{
	char name[PATH_MAX], *last;

	if (!emu_guest_read_string(path, name, sizeof(name)))
		return false;
	last = strrchr(name, '/');
	last = last ? last + 1 : name;
	return !strcmp(last, "status") || !strcmp(last, "sched");
}

/* True if the program would see after the call that its threads are bound. */
static bool gives_away(int64_t number, const uint64_t *arg)
{
	switch (number) {
	case SYS_sched_setaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_setattr:
	case SYS_getcpu:
	case SYS_execve:
	case SYS_execveat:
		return true;
	case SYS_open:
		return tells(arg[0]);
	case SYS_openat:
	case SYS_openat2:
		return tells(arg[1]);
	default:
		return false;
	}
}

static bool asks(int64_t number)
{
	return number == SYS_sched_getaffinity ||
	       number == SYS_sched_getscheduler || number == SYS_sched_getattr;
}

void emu_processor_call(int64_t number, const uint64_t *arg)
{
	if (!CPU_COUNT(&all))
		return;
	if (asks(number)) {
		pthread_mutex_lock(&lock);
		asking++;
		if (state != AS_STARTED)
			set_all(AS_STARTED);
		pthread_mutex_unlock(&lock);
	} else if (!is_over() && gives_away(number, arg)) {
		give_up();
	}
}

void emu_processor_return(int64_t number)
{
	if (!CPU_COUNT(&all) || !asks(number))
		return;
	pthread_mutex_lock(&lock);
	asking--;
	pthread_mutex_unlock(&lock);
}

void emu_processor_forget(void)
{
	if (state == AS_STARTED)
		return;
	state = AS_STARTED;
	set_thread(0);
}
