/* SPDX-License-Identifier: MIT */
/*
 * fake_runtime - the runtime that the hooks expect, which only counts
 *
 * Samples arrive as in the real runtime, from a clock event with a synchronous
 * signal, but ten times as often, and are only counted: the test sees the
 * effects of the hooks without those of sampling. e2e/check_hooks.sh links it
 * with preload/hooks and preload/signal. At the end it appends a line of counts
 * to the file that HOOKS_LOG names.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/signal/claim.h"
#include "preload/signal/claimed.h"
#include "preload/signal/forward.h"
#include "preload/signal/pending.h"
#include "preload/start/child.h"
#include "preload/start/choose_source.h"
#include "preload/start/stop.h"
#include "preload/start/process.h"
#include "preload/threads/stack_bounds.h"
#include "preload/threads/threads.h"
#include "preload/watch/watch.h"

#define COOKIE 0x666b

enum {
	PERIOD_NS = 200 * 1000,
	TRAP_PERF_CODE = 6,
	LATE_FLAG = 1, /* TRAP_PERF_FLAG_ASYNC */
	MOMENT_NS = 2 * 1000 * 1000,
};

struct thread {
	void *(*start)(void *);
};

static struct {
	_Atomic unsigned samples, forwarded, prepared, begun, ended, discarded;
	_Atomic unsigned forks, execs, failed_execs, not_followed, exits;
	_Atomic unsigned stops;
} counts;

static _Atomic int *active;
static pid_t owner;
static bool follow;
static char library[4096];
static int fd = -1;

bool runtime_active(void)
{
	return active && atomic_load(active);
}

bool runtime_is_ours(void)
{
	return runtime_active() && sys_call0(SYS_getpid) == owner;
}

bool inside_enter(void)
{
	return runtime_active();
}

void inside_leave(void)
{
}

void source_first_thread(void)
{
}

bool runtime_is_waiting(void)
{
	return false;
}

bool runtime_end_waiting(void)
{
	return false;
}

bool runtime_child_may_wait(void)
{
	return false;
}

bool runtime_child_waits(void)
{
	return false;
}

void child_begin(void)
{
}

bool runtime_follow_children(void)
{
	return follow;
}

const char *runtime_library_path(void)
{
	return library;
}

char *const *runtime_hidden(void)
{
	return NULL;
}

static void enable(bool on)
{
	sys_call3(SYS_ioctl, fd,
		  on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void runtime_stop(const char *why)
{
	counts.stops++;
	enable(false);
}

void watch_of_program(void)
{
}

bool runtime_is_descriptor(int fd)
{
	return false;
}

bool watch_give_one(void)
{
	return false;
}

void runtime_quiet(bool quiet)
{
	enable(!quiet && !counts.stops);
}

static void start(void);

void runtime_before_fork(void)
{
	counts.forks++;
}

void runtime_after_fork_parent(void)
{
}

void runtime_after_fork_child(void)
{
	close(fd);
	fd = -1;
	memset(&counts, 0, sizeof(counts));
	if (follow)
		start();
}

void runtime_before_exec(void)
{
	counts.execs++;
	enable(false);
}

void runtime_exec_failed(void)
{
	counts.failed_execs++;
	enable(true);
}

void runtime_count_not_followed(void)
{
	counts.not_followed++;
}

void runtime_before_sandbox(const char *what)
{
	if (active)
		atomic_store(active, 0);
}

struct thread *threads_prepare(void *(*routine)(void *))
{
	static struct thread any;

	counts.prepared++;
	return &any;
}

void threads_discard(struct thread *t)
{
	counts.discarded++;
}

/* Its header needs the true struct thread. */
void regions_thread_begin(void);
void regions_thread_begin(void)
{
}

void stack_bounds_tell(uint64_t low, uint64_t bytes)
{
}

void threads_begin(struct thread *t)
{
	counts.begun++;
}

void threads_end(void)
{
	counts.ended++;
}

struct watch_signal watch_classify(int sig, const siginfo_t *info)
{
	struct watch_signal s = { WATCH_NOTHING, 0, false };
	uint32_t flags;
	uint64_t data;

	memcpy(&data, (const char *)info + 24, sizeof(data));
	memcpy(&flags, (const char *)info + 36, sizeof(flags));
	if (info->si_code == TRAP_PERF_CODE && data == COOKIE) {
		s.event = WATCH_CLOCK;
		s.late = flags & LATE_FLAG;
	}
	return s;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct watch_signal what = watch_classify(sig, info);

	if (what.event == WATCH_CLOCK) {
		counts.samples++;
		if (!signal_took_a_place(what.late, info))
			return;
	}
	counts.forwarded++;
	signal_forward(sig, info, context);
}

static void pass_a_moment(void)
{
	const struct timespec moment = { 0, MOMENT_NS };

	sys_call2(SYS_nanosleep, &moment, NULL);
}

/*
 * e2e/check_hooks.sh builds a library that calls these two. A signal that is
 * given back to the kernel then stays in hand for a while, a sample comes
 * meanwhile, and so it does after the signal is back.
 */
void in_hand(void);
void in_hand(void)
{
	char info[sizeof(siginfo_t)] = "";
	uint32_t late = LATE_FLAG;
	uint64_t data = COOKIE;
	int head[3] = { SIGTRAP, 0, TRAP_PERF_CODE };

	if (counts.stops)
		return;
	memcpy(info, head, sizeof(head));
	memcpy(info + 24, &data, sizeof(data));
	memcpy(info + 36, &late, sizeof(late));
	sys_call4(SYS_rt_tgsigqueueinfo, sys_call0(SYS_getpid),
		  sys_call0(SYS_gettid), SIGTRAP, info);
	pass_a_moment();
}

void given_back(void);
void given_back(void)
{
	pass_a_moment();
}

static void write_log(void)
{
	const char *path = getenv("HOOKS_LOG");
	char line[512];
	int n, log = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600)
			  : -1;

	if (log < 0)
		return;
	n = snprintf(line, sizeof(line),
		     "samples=%u forwarded=%u prepared=%u begun=%u ended=%u "
		     "discarded=%u forks=%u execs=%u failed_execs=%u "
		     "not_followed=%u exits=%u stops=%u\n",
		     counts.samples, counts.forwarded, counts.prepared,
		     counts.begun, counts.ended, counts.discarded, counts.forks,
		     counts.execs, counts.failed_execs, counts.not_followed,
		     counts.exits, counts.stops);
	if (write(log, line, n) != n)
		counts.stops++;
	close(log);
}

void runtime_before_exit(void)
{
	counts.exits++;
	write_log();
}

static void start(void)
{
	struct perf_event_attr a;

	owner = getpid();
	atomic_store(active, 1);
	if (signal_claim(SIGTRAP, on_signal))
		return;
	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = PERIOD_NS;
	a.exclude_kernel = 1;
	a.inherit = 1;
	a.inherit_thread = 1;
	a.remove_on_exec = 1;
	a.sigtrap = 1;
	a.sig_data = COOKIE;
	fd = sys_call6(SYS_perf_event_open, (long)&a, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC, 0);
}

__attribute__((constructor)) static void load(void)
{
	int saved_errno = errno;
	const char *run = getenv("COMDET_RUN");
	char text[32];
	Dl_info info;

	active = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(active, 4096, MADV_WIPEONFORK);
	follow = getenv("COMDET_CHILDREN") != NULL;
	if (dladdr(&counts, &info))
		snprintf(library, sizeof(library), "%s", info.dli_fname);
	if (follow || !run || atoi(run) == getpid()) {
		snprintf(text, sizeof(text), "%d", getpid());
		setenv("COMDET_RUN", text, 1);
		start();
	}
	errno = saved_errno;
}

__attribute__((destructor)) static void unload(void)
{
	if (runtime_is_ours())
		write_log();
}
