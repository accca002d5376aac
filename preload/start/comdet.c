/* SPDX-License-Identifier: MIT */
/*
 * comdet - the library's constructor and destructor
 *
 * Each step of the set-up relies on those before it: configuration, which
 * process of the run this is, source, directory, file, handler, the main
 * thread's record, self-test of the debug registers, sampling. If a step fails
 * the program runs unprofiled and one line on stderr says why.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "choose_source.h"
#include "comdet.h"
#include "describe.h"
#include "obstacle.h"
#include "output.h"
#include "program.h"
#include "run.h"
#include "tables.h"
#include "src/base/loaded.h"
#include "preload/core/local.h"
#include "preload/core/maps.h"
#include "preload/core/memread.h"
#include "preload/core/modules.h"
#include "preload/core/own_stack.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "preload/core/vdso.h"
#include "preload/handler/handler.h"
#include "preload/instr/config.h"
#include "preload/signal/real.h"
#include "preload/sources/heap_blocks.h"
#include "preload/sources/our_code.h"
#include "preload/sources/thread_reuse.h"
#include "preload/threads/thread_rows.h"
#include "preload/threads/threads.h"
#include "preload/watch/watch.h"
#include "src/store/sample_log.h"

enum {
	STACK_ENOUGH = 1024 * 1024, /* the program's stack, for our set-up */
	STACK_BYTES = 256 * 1024,   /* ours instead */
};

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

/* False in a program that the profiled one started, without --children. */
static bool is_followed(void)
{
	const struct config *c = &runtime.config;
	pid_t root = 0;

	runtime.out[0] = 0;
	return !c->run || !run_parse(c->run, &root) || root == runtime.pid ||
	       c->children;
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
	stderr_line(why);
}

/* Returns false after telling the user what is wrong. */
static bool read_config(void)
{
	char line[320], why[256] = "";

	if (run_announced()) { /* read before; the program may have changed it
				*/
		runtime.config.run = run_announced();
		runtime.config.out = "the directory of the run";
		runtime.config.sample_log = NULL;
		return true;
	}
	if (!config_read(&runtime.config, environ, why, sizeof(why)) &&
	    !instr_config_read(environ, why, sizeof(why)))
		return true;
	snprintf(line, sizeof(line), "not profiled: %s", why);
	stderr_line(line);
	return false;
}

/* Returns true, and says why, if nothing can profile this process. */
static bool meets_obstacle(void)
{
	const char *why = obstacle();

	if (why)
		stderr_line(why);
	return why;
}

void runtime_start(void)
{
	char error[512] = "", why[256] = "";
	int r;

	runtime.pid = sys_call0(SYS_getpid);
	runtime.seed = random_seed();
	runtime.stopped = false;
	if (!read_config() || !is_followed() || meets_obstacle())
		return;
	if (source_choose(error, sizeof(error))) {
		stderr_line(error);
		return;
	}
	runtime.start_mono = now_ns();
	runtime.little_space = sys_soft_limit(RLIMIT_AS) != RLIM_INFINITY ||
			       sys_soft_limit(RLIMIT_DATA) != RLIM_INFINITY;
	find_library();
	if (!output_open())
		return;
	atomic_store(&runtime.paused,
		     runtime.config.paused && !runtime.control);
	run_announce();
	handler_init();
	vdso_init();
	watch_init();
	runtime.memory.read = memread;
	program_look();
	describe_process(runtime.store.header);
	our_code_init(loaded_symbol(HEAP_CODE));
	heap_blocks_use((heap_find_function *)loaded_symbol(HEAP_FIND));
	modules_use(loaded_symbol("_dl_find_object"));
	r = tables_init();
	if (r) {
		snprintf(error, sizeof(error), "not profiled: %s (%.200s)",
			 strerrordesc_np(-r), runtime.out);
		give_up(error);
		return;
	}
	if (runtime.config.sample_log &&
	    sample_log_open(runtime.config.sample_log))
		stderr_line("COMDET_SAMPLE_LOG cannot be written");
	runtime_set_active(true);
	r = source_start(why, sizeof(why));
	if (r) {
		snprintf(error, sizeof(error), "not profiled: %.400s",
			 *why ? why : strerrordesc_np(-r));
		give_up(error);
		return;
	}
	describe_measurement(runtime.store.header, why);
	child_remember();
	runtime.sampling = !runtime.waits_for_thread;
	if (runtime.sampling)
		thread_reuse_calibrate();
}

static void start(void *none)
{
	(void)none;
	runtime_start();
}

/* The set-up takes more stack than some programs have. */
static void start_with_room(void)
{
	char *low;

	if (sys_soft_limit(RLIMIT_STACK) >= STACK_ENOUGH) {
		runtime_start();
		return;
	}
	low = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (low == MAP_FAILED) {
		stderr_line("not profiled: too little stack (ulimit -s)");
		return;
	}
	own_stack_call(low + STACK_BYTES, start, NULL);
	munmap(low, STACK_BYTES);
}

__attribute__((constructor)) static void comdet_start(void)
{
	int saved_errno = errno;
	long bytes = sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Without a page that forks wipe we could not recognise a child. */
	if (page != MAP_FAILED && !madvise(page, bytes, MADV_WIPEONFORK)) {
		runtime_init(page);
		stderr_line_init();
		if (local_works(loaded_symbol("_thread_db_pthread_list")))
			start_with_room();
		else
			stderr_line("not profiled: this C library's threads "
				    "are not as glibc's are");
	}
	errno = saved_errno;
}

void runtime_finish(enum cdp_state state)
{
	struct cdp_header *h = runtime.store.header;

	if (state == CDP_ENDED && runtime.sampling &&
	    runtime.source->was_closed && runtime.source->was_closed()) {
		snprintf(h->note, sizeof(h->note),
			 "the program closed our descriptors: sampling ended "
			 "early");
		state = CDP_STOPPED;
	}
	runtime.source->pause();
	if (runtime.source->finish)
		runtime.source->finish(true);
	maps_finish();
	threads_finish();
	describe_end(h, state);
}

__attribute__((destructor)) static void comdet_end(void)
{
	int saved_errno = errno;

	child_end(NULL);
	if (runtime_is_ours()) {
		runtime_set_active(false);
		runtime_finish(CDP_ENDED);
	}
	errno = saved_errno;
}

EXPORT uint64_t comdet_committed(void);
uint64_t comdet_committed(void)
{
	return runtime_active() ? thread_rows_detections() : 0;
}
