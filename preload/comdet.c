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

#include "src/outdir.h"
#include "describe.h"
#include "instr_source.h"
#include "memread.h"
#include "run.h"
#include "runtime.h"
#include "say.h"
#include "source.h"
#include "state.h"
#include "sys.h"
#include "thread_reuse.h"
#include "watch.h"

enum {
	DESCRIPTORS_MIN = 32, /* of fewer, we would take too many */
	SPACE_SHARE = 64,     /* of a limited address space, for the file */
	STORE_BYTES_MIN = 1024 * 1024,
	NAME_TRIES = 3, /* the time in a file's name is in ms */
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

static int open_directory(void)
{
	const struct config *c = &runtime.config;
	char run_id[OUTDIR_RUN_ID_BYTES];
	int dir;

	if (!runtime.out[0]) {
		snprintf(runtime.run_id, sizeof(runtime.run_id), "%016llx",
			 (unsigned long long)runtime.seed);
		return outdir_create(c->out, runtime.run_id, runtime.out,
				     sizeof(runtime.out));
	}
	dir = outdir_open(runtime.out, run_id);
	if (dir >= 0 && strcmp(run_id, runtime.run_id)) {
		close(dir); /* another run has taken the place meanwhile */
		return -ESTALE;
	}
	return dir;
}

static uint64_t soft_limit(int resource)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	sys_call2(SYS_getrlimit, resource, &limit);
	return limit.rlim_cur;
}

/* Address space that the program may not have enough of is not ours. */
static uint64_t store_bytes(void)
{
	uint64_t bytes = soft_limit(RLIMIT_AS) / SPACE_SHARE;

	if (bytes < STORE_BYTES_MIN)
		return STORE_BYTES_MIN;
	return bytes < STORE_MAX_BYTES_DEFAULT ? bytes
					       : STORE_MAX_BYTES_DEFAULT;
}

static int open_store(int dir, char *error, size_t size)
{
	char name[128];
	int r = 0;

	for (int i = 0; i < NAME_TRIES; i++) {
		const struct timespec next = { 0, 1000 * 1000 };

		describe_file_name(name, sizeof(name));
		r = store_create(&runtime.store, dir, name, store_bytes());
		if (r != -EEXIST)
			break;
		sys_call2(SYS_nanosleep, &next, NULL);
	}
	if (r)
		snprintf(error, size,
			 "not profiled: cannot create %.200s/%s: %s",
			 runtime.out, name, strerror(-r));
	return r;
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
	runtime.comm.expiry = 2 * runtime.period_ns;
	runtime.comm.watch_expiry = runtime.period_ns;
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

void runtime_start(void)
{
	const char *preloaded =
		environ ? config_get(environ, "LD_PRELOAD") : NULL;
	char error[512] = "", why[256] = "";
	int dir, instr, r;

	preloaded = preloaded ? preloaded : "";
	runtime.pid = sys_call0(SYS_getpid);
	runtime.seed = random_seed();
	runtime.clock_fd = -1;
	runtime.stopped = false;
	if (run_announced()) { /* the environment may have changed since */
		runtime.config.run = run_announced();
		runtime.config.out = "the directory of the run";
		runtime.config.sample_log = NULL;
	} else if (config_read(&runtime.config, environ, why, sizeof(why)) ||
		   instr_config_read(environ, why, sizeof(why))) {
		snprintf(error, sizeof(error), "not profiled: %s", why);
		say(error);
		return;
	}
	if (!is_followed())
		return;
	if (strstr(preloaded, "vgpreload")) {
		say("not profiled: valgrind emulates neither perf signals nor "
		    "debug registers");
		return;
	}
	if (soft_limit(RLIMIT_NOFILE) < DESCRIPTORS_MIN) {
		say("not profiled: too few file descriptors (ulimit -n)");
		return;
	}
	instr = instr_choose(error, sizeof(error));
	if (instr < 0) {
		say(error);
		return;
	}
	runtime.start_mono = now_ns();
	runtime.little_space = soft_limit(RLIMIT_AS) != RLIM_INFINITY;
	find_library();
	dir = open_directory();
	if (dir < 0) {
		snprintf(error, sizeof(error),
			 "not profiled: cannot make the directory %.200s: %s "
			 "(COMDET_OUT=DIR puts it elsewhere)",
			 runtime.config.out, strerror(-dir));
		say(error);
		return;
	}
	r = open_store(dir, error, sizeof(error));
	close(dir);
	if (r) {
		say(error);
		return;
	}
	run_announce();
	handler_init();
	watch_init();
	runtime.memory.read = memread;
	program_look();
	describe_process(runtime.store.header);
	r = set_up_comm();
	if (!r)
		r = threads_init();
	if (!r)
		r = maps_init();
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
