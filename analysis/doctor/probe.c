/* SPDX-License-Identifier: MIT */
/*
 * probe - try what the sources need, in a process of its own
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"
#include "analysis/outside/clocks.h"
#include "analysis/outside/memory.h"
#include "analysis/outside/registers.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

enum {
	LIMIT_SECONDS = 5,
	SPIN_NS = 300 * 1000 * 1000,
	PERIOD_NS = 1000 * 1000,
	REGISTERS_TRIED = 8,
	SAMPLE_MS = 3000,
	COOKIE = 0x636f6d64,
	SI_PERF_DATA = 24, /* offset in siginfo_t on x86-64 */
};

/* The handlers below write this; a probe's process has one thread. */
static volatile sig_atomic_t seen;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	uint64_t data;

	memcpy(&data, (char *)info + SI_PERF_DATA, sizeof(data));
	if (info->si_code == TRAP_PERF && data == COOKIE)
		seen++;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	seen++;
}

static void listen_to(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = handler,
				.sa_flags = SA_SIGINFO };

	sigaction(sig, &sa, NULL);
}

static int64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void spin_until_seen(void)
{
	int64_t end = cpu_now() + SPIN_NS;

	while (!seen && cpu_now() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static int open_event(struct perf_event_attr *attr)
{
	return syscall(SYS_perf_event_open, attr, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr clock_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD_NS,
		.disabled = 1,
		.exclude_kernel = 1, /* allowed up to paranoid level 2 */
		.exclude_hv = 1,
		.wakeup_events = 1,
	};

	return attr;
}

static struct perf_event_attr watch_attr(const void *addr, int bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W | HW_BREAKPOINT_R,
		.bp_addr = (uintptr_t)addr,
		.bp_len = bytes,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};

	return attr;
}

static void ask_sigtrap(struct perf_event_attr *attr)
{
	attr->sigtrap = 1;
	attr->remove_on_exec = 1; /* the kernel demands it */
	attr->sig_data = COOKIE;
	listen_to(SIGTRAP, on_trap);
}

static int ask_rtsig(int fd)
{
	struct f_owner_ex owner = { F_OWNER_TID, syscall(SYS_gettid) };

	listen_to(SIGRTMIN, on_signal);
	if (fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, SIGRTMIN) ||
	    fcntl(fd, F_SETFL, O_ASYNC))
		return -1;
	return 0;
}

static void refused(struct probe *p)
{
	p->end = PROBE_REFUSED;
	p->error = errno;
}

static void judge(struct probe *p)
{
	p->end = seen ? PROBE_WORKS : PROBE_SILENT;
	p->count = seen;
}

static void try_sigtrap(struct probe *p, int unused, bool unused_too)
{
	struct perf_event_attr attr = clock_attr();
	int fd;

	ask_sigtrap(&attr);
	fd = open_event(&attr);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		refused(p);
		return;
	}
	spin_until_seen();
	judge(p);
}

static void try_sigtrap_blocked(struct probe *p, int unused, bool unused_too)
{
	struct perf_event_attr attr = clock_attr();
	int64_t end;
	sigset_t set;
	int fd;

	ask_sigtrap(&attr);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = open_event(&attr);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		refused(p);
		return;
	}
	/* Let several periods pass with the signal blocked, then unblock it. */
	end = cpu_now() + 10 * PERIOD_NS;
	while (cpu_now() < end)
		;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	p->end = PROBE_WORKS;
}

static void try_timer(struct probe *p, int unused, bool unused_too)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGRTMIN };
	struct itimerspec often = { .it_interval.tv_nsec = PERIOD_NS,
				    .it_value.tv_nsec = PERIOD_NS };
	timer_t timer;

	event._sigev_un._tid = syscall(SYS_gettid);
	listen_to(SIGRTMIN, on_signal);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) ||
	    timer_settime(timer, 0, &often, NULL)) {
		refused(p);
		return;
	}
	spin_until_seen();
	judge(p);
}

static void try_vm_read(struct probe *p, int unused, bool unused_too)
{
	char from[64] = "reusetrack", to[64] = "";
	struct iovec local = { to, sizeof(to) },
		     remote = { from, sizeof(from) };
	void *hole =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) !=
	    sizeof(to)) {
		refused(p);
		return;
	}
	remote.iov_base = hole;
	seen = !memcmp(from, to, sizeof(to)) && hole != MAP_FAILED &&
	       process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0;
	judge(p);
}

static void try_watchpoint(struct probe *p, int bytes, bool rtsig)
{
	static _Alignas(64) volatile uint64_t target[8];
	struct perf_event_attr attr = watch_attr((void *)target, bytes);
	int fd;

	if (!rtsig)
		ask_sigtrap(&attr);
	fd = open_event(&attr);
	if (fd < 0 || (rtsig && ask_rtsig(fd)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		refused(p);
		return;
	}
	target[bytes / 8 - 1] = 1; /* the last watched word */
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	judge(p);
}

static void try_registers(struct probe *p, int unused, bool unused_too)
{
	static _Alignas(64) uint64_t target[REGISTERS_TRIED];

	p->end = PROBE_WORKS;
	for (int i = 0; i < REGISTERS_TRIED; i++) {
		struct perf_event_attr attr = watch_attr(&target[i], 8);

		if (open_event(&attr) < 0) {
			if (!i)
				refused(p);
			return;
		}
		p->count++;
	}
}

static void try_attach(struct probe *p, int target, bool unused)
{
	static const uint64_t mark = COOKIE;
	struct epoll_event event;
	struct rings rings = { 0 };
	struct clocks clocks;
	uint64_t there = 0;
	int poll = epoll_create1(EPOLL_CLOEXEC);
	int err = clocks_init(&clocks, &rings, poll, PERIOD_NS, HEIRS_THREADS,
			      false);

	if (!err)
		err = clocks_attach(&clocks, target);
	if (!err) {
		err = memory_peek(target, (uintptr_t)&mark, &there,
				  sizeof(there));
		p->memory = err || there != mark;
	}
	if (err) {
		errno = -err;
		refused(p);
		return;
	}
	err = registers_free(target, COMM_REGISTERS_MAX);
	seen = epoll_wait(poll, &event, 1, SAMPLE_MS) == 1;
	judge(p);
	p->count = err > 0 ? err : 0;
}

/* Run @attempt in a child, which shares *@p with us through a page. */
static void run_apart(struct probe *p,
		      void (*attempt)(struct probe *, int, bool), int bytes,
		      bool rtsig)
{
	struct probe *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	memset(p, 0, sizeof(*p));
	if (shared == MAP_FAILED) {
		refused(p);
		return;
	}
	shared->end = PROBE_SILENT;
	pid = fork();
	if (!pid) {
		signal(SIGALRM, SIG_DFL);
		alarm(LIMIT_SECONDS);
		attempt(shared, bytes, rtsig);
		_exit(0);
	}
	if (pid < 0) {
		refused(p);
	} else {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		*p = *shared;
		if (WIFSIGNALED(status)) {
			p->end = PROBE_KILLED;
			p->error = WTERMSIG(status);
		}
	}
	munmap(shared, sizeof(*shared));
}

void probe_sigtrap(struct probe *p)
{
	run_apart(p, try_sigtrap, 0, false);
}

void probe_sigtrap_blocked(struct probe *p)
{
	run_apart(p, try_sigtrap_blocked, 0, false);
}

void probe_timer(struct probe *p)
{
	run_apart(p, try_timer, 0, false);
}

void probe_vm_read(struct probe *p)
{
	run_apart(p, try_vm_read, 0, false);
}

void probe_watchpoint(struct probe *p, int bytes, bool rtsig)
{
	run_apart(p, try_watchpoint, bytes, rtsig);
}

void probe_registers(struct probe *p)
{
	run_apart(p, try_registers, 0, false);
}

void probe_attach(struct probe *p)
{
	pid_t parent = getpid(), target = fork();

	if (!target) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGALRM, SIG_DFL);
		alarm(LIMIT_SECONDS);
		while (getppid() == parent)
			for (volatile int i = 0; i < 100000; i++)
				;
		_exit(0);
	}
	if (target < 0) {
		memset(p, 0, sizeof(*p));
		refused(p);
		return;
	}
	run_apart(p, try_attach, target, false);
	kill(target, SIGKILL);
	while (waitpid(target, NULL, 0) < 0 && errno == EINTR)
		;
}
