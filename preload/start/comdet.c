/* SPDX-License-Identifier: MIT */
/*
 * comdet - the library's constructor and destructor
 *
 * Order of the set-up, each step relying on those before it: configuration,
 * which process of the run this is, directory, file, handler, the main
 * thread's record, debug registers tried, clock. When a step fails the program
 * runs unprofiled and one line on stderr says why.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "describe.h"
#include "preload/instr/config.h"
#include "preload/instr/source.h"
#include "preload/core/memread.h"
#include "output.h"
#include "run.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/sources/source.h"
#include "preload/core/state.h"
#include "preload/core/sys.h"
#include "preload/sources/thread_reuse.h"
#include "preload/watch/watch.h"

enum {
	DESCRIPTORS_MIN = 32, /* of fewer, we would take too many */
};

struct runtime runtime;

/* Alone on a page that is wiped in every forked child. */
static _Atomic int *active;

bool runtime_active(void)
{
	return active && atomic_load_explicit(active, memory_order_relaxed);
}

bool runtime_is_ours(void)
{
	return runtime_active() && sys_call0(SYS_getpid) == runtime.pid;
}

/* Also after the end and in forked children: the handler stays ours. */
int runtime_signal(void)
{
	return runtime.signal;
}

bool runtime_follow_children(void)
{
	return runtime.config.children && !runtime.sandboxed;
}

const char *runtime_library_path(void)
{
	return runtime.library;
}

void runtime_set_active(bool value)
{
	atomic_store(active, value);
}

void runtime_stop(const char *why)
{
	struct cdp_header *h = runtime.store.header;

	if (!runtime_active())
		return;
	runtime_set_active(false);
	source_pause();
	handler_drain();
	instr_stop();
	watch_close_all();
	runtime.stopped = true;
	maps_finish();
	snprintf(h->note, sizeof(h->note), "%s", why);
	describe_end(h, CDP_STOPPED);
	say(why);
}

static void find_library(void)
{
	Dl_info info;

	if (dladdr((void *)find_library, &info) && info.dli_fname)
		snprintf(runtime.library, sizeof(runtime.library), "%s",
			 info.dli_fname);
}

static uint64_t random_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = now_ns() ^ ((uint64_t)getpid() << 32);
	return seed;
}

/* Kernels before 5.19 kill a process that blocks SIGTRAP when a trap comes. */
static enum delivery choose_delivery(char *why, size_t size)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (runtime.config.force_rtsig || runtime.config.force_timer) {
		snprintf(why, size, "asked for by the environment");
		return DELIVERY_RTSIG;
	}
	if (!uname(&u) && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    (major > 5 || (major == 5 && minor >= 19)))
		return DELIVERY_SIGTRAP;
	snprintf(why, size,
		 "kernels before 5.19 deliver perf signals unsafely");
	return DELIVERY_RTSIG;
}

/* False in a program that ours has started, unless those are wanted. */
static bool is_followed(void)
{
	const struct config *c = &runtime.config;
	pid_t root = 0;

	runtime.out[0] = 0;
	return !c->run || !run_parse(c->run, &root) || root == runtime.pid ||
	       c->children;
}

static int set_up_comm(void)
{
	uint32_t slots = runtime.config.board_slots;
	void *mem = mmap(NULL, board_size(slots), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct comm *c = &runtime.comm;

	if (mem == MAP_FAILED)
		return -ENOMEM;
	c->line_bytes = 64;
	c->chunk_bytes = 8;
	c->board = board_init(mem, slots, c->line_bytes);
	c->sink = &sample_sink;
	/*
	 * While a debug register is armed some programs run a quarter slower
	 * in a virtual machine (docs/overhead.md), whatever it watches.
	 */
	c->arm_one_in = 8;
	return 0;
}

/* How often interrupts really come, and what follows from it. */
static void set_period(void)
{
	struct timespec tick = { 0, 0 };

	runtime.period_ns = runtime.hardware
				    ? PMU_TICK_NS
				    : 1000000000ull / runtime.config.freq;
	/* Timers on a thread's CPU clock are looked at on the kernel's tick. */
	if (runtime.delivery == DELIVERY_RTSIG &&
	    !clock_getres(CLOCK_MONOTONIC_COARSE, &tick) &&
	    (uint64_t)tick.tv_nsec > runtime.period_ns)
		runtime.period_ns = tick.tv_nsec;
	comm_set_expiry(&runtime.comm, runtime.period_ns);
	if (runtime.hardware)
		pmu_source_expiry();
}

/* Hardware events if they are wanted and can be had; why not goes to @why. */
static void choose_source(char *why, size_t size)
{
	char line[400];

	runtime.hardware = !pmu_source_plan(why, size);
	if (runtime.hardware || runtime.config.source == SOURCE_AUTO ||
	    runtime.config.source == SOURCE_CLOCK ||
	    runtime.config.modes & CDP_MODE_REUSE) /* which may refuse */
		return;
	snprintf(line, sizeof(line), "%.300s; the clock samples instead", why);
	say(line);
}

/*
 * Debug registers and source, best first. On success the reason why nothing
 * better was taken is in @why.
 */
static int start_source(char *why, size_t size)
{
	struct cdp_header *h = runtime.store.header;
	char detail[200] = "";
	int r;

	runtime.delivery = choose_delivery(why, size);
	runtime.signal =
		runtime.delivery == DELIVERY_SIGTRAP ? SIGTRAP : SIGRTMAX - 5;
	choose_source(runtime.hardware_why, sizeof(runtime.hardware_why));
	for (;;) {
		set_period();
		r = signal_claim(runtime.signal);
		if (r)
			return r;
		runtime.registers = runtime.config.registers;
		if (!runtime.registers)
			snprintf(h->registers_reason,
				 sizeof(h->registers_reason),
				 "switched off by --registers 0");
		else
			runtime.registers =
				watch_selftest(h->registers_reason,
					       sizeof(h->registers_reason));
		if (runtime.config.modes & CDP_MODE_REUSE) {
			r = thread_reuse_possible(why, size);
			if (r)
				return r;
		}
		runtime.comm.registers = runtime.registers;
		runtime.comm.watch = runtime.registers ? &watch_ops : NULL;
		if (runtime.waits_for_thread)
			return 0;
		r = source_open(detail, sizeof(detail));
		if (!r || runtime.delivery == DELIVERY_RTSIG)
			break;
		snprintf(why, size, "%s", detail);
		runtime.delivery = DELIVERY_RTSIG;
		runtime.signal = SIGRTMAX - 5;
	}
	if (r)
		snprintf(why, size, "%s", detail);
	return r;
}

static int start_instr(char *why, size_t size)
{
	char ignored[128];

	return instr_start(choose_delivery(ignored, sizeof(ignored)) ==
				   DELIVERY_SIGTRAP,
			   why, size);
}

static void give_up(const char *why)
{
	if (runtime.store.header) {
		struct cdp_header *h = runtime.store.header;

		snprintf(h->note, sizeof(h->note), "%s", why);
		__atomic_store_n(&h->state, CDP_STOPPED, __ATOMIC_RELEASE);
	}
	runtime_set_active(false);
	runtime.sampling = false;
	say(why);
}

/* False if there is something wrong with it, which is said. */
static bool settle_config(void)
{
	char line[320], why[256] = "";

	if (run_announced()) { /* the environment may have changed since */
		runtime.config.run = run_announced();
		runtime.config.out = "the directory of the run";
		runtime.config.sample_log = NULL;
		return true;
	}
	if (!config_read(&runtime.config, environ, why, sizeof(why)) &&
	    !instr_config_read(environ, why, sizeof(why)))
		return true;
	snprintf(line, sizeof(line), "not profiled: %s", why);
	say(line);
	return false;
}

/* True if this process cannot be profiled whatever is tried, which is said. */
static bool meets_obstacle(void)
{
	const char *preloaded =
		environ ? config_get(environ, "LD_PRELOAD") : NULL;

	if (preloaded && strstr(preloaded, "vgpreload")) {
		say("not profiled: valgrind emulates neither perf signals nor "
		    "debug registers");
		return true;
	}
	if (sys_soft_limit(RLIMIT_NOFILE) < DESCRIPTORS_MIN) {
		say("not profiled: too few file descriptors (ulimit -n)");
		return true;
	}
	return false;
}

/* What needs memory. Returns 0 or -errno. */
static int set_up_tables(void)
{
	int r = set_up_comm();

	if (!r)
		r = threads_init();
	if (!r)
		r = maps_init();
	return r;
}

void runtime_start(void)
{
	char error[512] = "", why[256] = "";
	int instr, r;

	runtime.pid = sys_call0(SYS_getpid);
	runtime.seed = random_seed();
	runtime.clock.fd = -1;
	runtime.stopped = false;
	if (!settle_config() || !is_followed() || meets_obstacle())
		return;
	instr = instr_choose(error, sizeof(error));
	if (instr < 0) {
		say(error);
		return;
	}
	runtime.start_mono = now_ns();
	runtime.little_space = sys_soft_limit(RLIMIT_AS) != RLIM_INFINITY;
	find_library();
	if (!output_open())
		return;
	run_announce();
	handler_init();
	watch_init();
	runtime.memory.read = memread;
	program_look();
	describe_process(runtime.store.header);
	r = set_up_tables();
	if (r) {
		snprintf(error, sizeof(error), "not profiled: %s (%.200s)",
			 strerror(-r), runtime.out);
		give_up(error);
		return;
	}
	if (runtime.config.sample_log &&
	    sample_log_open(runtime.config.sample_log))
		say("COMDET_SAMPLE_LOG cannot be written");
	runtime_set_active(true);
	r = instr ? start_instr(why, sizeof(why))
		  : start_source(why, sizeof(why));
	if (r) {
		snprintf(error, sizeof(error), "not profiled: %.400s",
			 *why ? why : strerror(-r));
		give_up(error);
		return;
	}
	describe_measurement(runtime.store.header, why);
	if (instr)
		instr_describe(runtime.store.header, why);
	runtime.sampling = !runtime.waits_for_thread;
	if (runtime.sampling)
		thread_reuse_calibrate();
}

/* Go: its handlers are in place by the time it makes its first thread. */
void runtime_first_thread(void)
{
	char detail[200];

	if (!runtime.waits_for_thread || !runtime_is_ours())
		return;
	signal_reclaim();
	if (runtime.sampling)
		return;
	runtime.sampling = true;
	if (source_open(detail, sizeof(detail))) {
		runtime.sampling = false;
		runtime_stop("profiling stopped: the clock could not start");
		return;
	}
	thread_reuse_calibrate();
}

__attribute__((constructor)) static void comdet_start(void)
{
	int saved_errno = errno;
	long page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Without a page that forks wipe we could not tell a child. */
	if (p != MAP_FAILED && !madvise(p, page, MADV_WIPEONFORK)) {
		active = p;
		say_init();
		runtime_start();
	}
	errno = saved_errno;
}

void runtime_finish(enum cdp_state state)
{
	struct cdp_header *h = runtime.store.header;

	if (state == CDP_ENDED && runtime.sampling && !instr_is_source() &&
	    clock_was_closed()) {
		snprintf(h->note, sizeof(h->note),
			 "the program closed our descriptors: sampling ended "
			 "early");
		state = CDP_STOPPED;
	}
	source_pause();
	instr_finish(true);
	maps_finish();
	threads_finish();
	describe_end(h, state);
}

__attribute__((destructor)) static void comdet_end(void)
{
	int saved_errno = errno;

	if (runtime_is_ours()) {
		runtime_set_active(false);
		runtime_finish(CDP_ENDED);
	}
	errno = saved_errno;
}

EXPORT uint64_t comdet_committed(void);
uint64_t comdet_committed(void)
{
	return runtime_active() ? threads_committed() : 0;
}
