/* SPDX-License-Identifier: MIT */
/*
 * fake_process - libcomdet.so on a machine with a PMU that is not there
 *
 * Linked instead of src/pmu/kernel.c: the library is otherwise the one that
 * users preload. FAKE_MODEL names the machine, FAKE_KERNEL the release of
 * Linux. A program says what each of
 * its threads executes (fake_process_op); samples then come as the kernel
 * sends them: a record in the ring, and a synchronous SIGTRAP or a queued
 * signal to the thread.
 *
 * FAKE_LOG names a file that receives the fake kernel's own counts at the end.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_kernel.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	TRAP_PERF_CODE = 6,
	POLL_IN_CODE = 1,
};

static struct fake_kernel *k;
static const void *_Atomic owner;
static int depth;
/* By number, which is the next thread's when the one is gone. */
static pid_t threads[FAKE_THREADS];
/* The number + 1; 0: none yet. Its address tells threads apart. */
static __thread int my_number __attribute__((tls_model("initial-exec")));

static const char *const models[FAKE_MODELS] = {
	[FAKE_NEHALEM] = "nehalem",
	[FAKE_SANDY_BRIDGE] = "sandy-bridge",
	[FAKE_SKYLAKE] = "skylake",
	[FAKE_SAPPHIRE_RAPIDS] = "sapphire-rapids",
	[FAKE_ALDER_LAKE] = "alder-lake",
	[FAKE_UNKNOWN_INTEL] = "unknown",
	[FAKE_ZEN2] = "zen2",
	[FAKE_ZEN4] = "zen4",
	[FAKE_BARE] = "bare",
};

/* A handler comes in between, on the thread that has it. */
static void lock(void)
{
	const void *me = &my_number, *none = NULL;

	if (atomic_load(&owner) != me) {
		while (!atomic_compare_exchange_weak(&owner, &none, me)) {
			none = NULL;
			sched_yield();
		}
	}
	depth++;
}

static void unlock(void)
{
	if (!--depth)
		atomic_store(&owner, NULL);
}

static void send(void *ctx, const struct fake_event *e, int fd, uint64_t addr)
{
	int sig = e->attr.sigtrap ? SIGTRAP : e->signal;
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	if (e->attr.sigtrap) {
		uint64_t data = e->attr.sig_data;

		info.si_code = TRAP_PERF_CODE;
		info.si_addr = (void *)(uintptr_t)addr;
		memcpy((char *)&info + 24, &data, sizeof(data));
	} else {
		info.si_code = POLL_IN_CODE;
		info.si_fd = fd;
	}
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig,
		&info);
}

static uint32_t number(const char *name)
{
	const char *value = getenv(name);

	return value ? (uint32_t)strtoul(value, NULL, 0) : 0;
}

static void boot(void)
{
	const char *model = getenv("FAKE_MODEL");
	struct rlimit limit;
	int m = FAKE_BARE;

	for (int i = 0; model && i < FAKE_MODELS; i++)
		if (!strcmp(models[i], model))
			m = i;
	k = fake_kernel_new(m);
	k->raise = send;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < FAKE_FDS)
		k->fds_end = (int)limit.rlim_cur;
	if (getenv("FAKE_KERNEL"))
		fake_kernel_boot(k, getenv("FAKE_KERNEL"));
	k->open_error = (int)number("FAKE_OPEN_ERROR");
	k->inexact = number("FAKE_INEXACT");
	k->throttle = number("FAKE_THROTTLE");
	k->throttled_for = 5000;
	k->rotate = number("FAKE_ROTATE") ? number("FAKE_ROTATE") : k->rotate;
	k->paranoid =
		getenv("FAKE_PARANOID") ? (int)number("FAKE_PARANOID") : 2;
}

/* Nobody has it, and no event is left of whoever had. */
static bool is_free(int number)
{
	return k->first[number] < 0 &&
	       (!threads[number] ||
		syscall(SYS_tgkill, getpid(), threads[number], 0));
}

/* The number of the calling thread, the lowest that is free. */
static int thread_number(void)
{
	int i = 0;

	if (!my_number) {
		while (i < FAKE_THREADS - 1 && !is_free(i))
			i++;
		threads[i] = (pid_t)syscall(SYS_gettid);
		my_number = i + 1;
	}
	return my_number - 1;
}

/* A child has what its parent had, but for the other threads. */
static void after_fork(void)
{
	if (my_number)
		threads[my_number - 1] = (pid_t)syscall(SYS_gettid);
	unlock();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(lock, unlock, after_fork);
}

/* The clock of the records is the one that the library reads. */
static struct fake_kernel *enter(void)
{
	struct timespec ts;

	lock();
	if (!k)
		boot();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	k->now = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	fake_kernel_run_thread(k, thread_number(), false);
	return k;
}

#define CALL(result, ...)                                                      \
	do {                                                                   \
		struct fake_kernel *on = enter();                              \
		result = on->calls.__VA_ARGS__;                                \
		unlock();                                                      \
	} while (0)

static long p_open(void *ctx, const struct perf_event_attr *a, int tid, int cpu,
		   int group)
{
	long r;

	CALL(r, open(on, a, tid, cpu, group));
	return r;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* FAKE_SLOW: switching events off takes so many us of CPU time. */
static void be_slow(unsigned long request)
{
	uint64_t until = cpu_ns() + 1000 * (uint64_t)number("FAKE_SLOW");

	while (request == PERF_EVENT_IOC_DISABLE && cpu_ns() < until)
		;
}

static long p_ioctl(void *ctx, int fd, unsigned long request, uint64_t arg)
{
	long r;

	be_slow(request);
	CALL(r, ioctl(on, fd, request, arg));
	return r;
}

static long p_map(void *ctx, int fd, size_t bytes)
{
	long r;

	CALL(r, map(on, fd, bytes));
	return r;
}

static long p_unmap(void *ctx, void *at, size_t bytes)
{
	long r;

	CALL(r, unmap(on, at, bytes));
	return r;
}

static long p_read(void *ctx, int fd, void *to, size_t bytes)
{
	long r;

	CALL(r, read(on, fd, to, bytes));
	return r;
}

static long p_fcntl(void *ctx, int fd, int command, uint64_t arg)
{
	long r;

	CALL(r, fcntl(on, fd, command, arg));
	return r;
}

static long p_close(void *ctx, int fd)
{
	long r;

	CALL(r, close(on, fd));
	return r;
}

static long p_read_file(void *ctx, const char *path, char *text, size_t size)
{
	long r;

	CALL(r, read_file(on, path, text, size));
	return r;
}

static void p_cpuid(void *ctx, uint32_t leaf, uint32_t regs[4])
{
	struct fake_kernel *on = enter();

	on->calls.cpuid(on, leaf, regs);
	unlock();
}

static void p_exercise(void *ctx, volatile uint64_t *at, size_t words)
{
	struct fake_kernel *on = enter();

	on->calls.exercise(on, at, words);
	on->samples = on->signals = on->lost = on->throttles = 0;
	on->pauses = 0;
	unlock();
}

const struct perf_kernel perf_kernel_linux = {
	.open = p_open,
	.ioctl = p_ioctl,
	.map = p_map,
	.unmap = p_unmap,
	.read = p_read,
	.fcntl = p_fcntl,
	.close = p_close,
	.read_file = p_read_file,
	.cpuid = p_cpuid,
	.exercise = p_exercise,
};

EXPORT void fake_process_op(uint64_t ip, uint64_t addr, uint32_t len,
			    uint32_t flags);

/*
 * The calling thread has executed the instruction at @ip, with an access of
 * @len bytes at @addr, or without (@flags 0).
 */
void fake_process_op(uint64_t ip, uint64_t addr, uint32_t len, uint32_t flags)
{
	const struct fake_op op = {
		.access = { addr, ip, len, flags },
		.latency = 4,
	};
	struct fake_kernel *on = enter();

	fake_run(on, &op);
	unlock();
}

/* Real ones: of debug registers and of the tick. */
static int real_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		char to[64] = "";

		n += readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1) > 0 &&
		     strstr(to, "[perf_event]");
	}
	if (d)
		closedir(d);
	return n;
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("FAKE_LOG");
	FILE *f = path && k ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f,
		"samples %llu signals %llu lost %llu throttles %llu"
		" pauses %llu open %d descriptors %d\n",
		(unsigned long long)k->samples, (unsigned long long)k->signals,
		(unsigned long long)k->lost, (unsigned long long)k->throttles,
		(unsigned long long)k->pauses, k->open_fds,
		k->open_fds + real_descriptors());
	fclose(f);
}
