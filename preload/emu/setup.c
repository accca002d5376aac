/* SPDX-License-Identifier: MIT */
/*
 * setup - open, release and close the output of one process
 *
 * As in the preload library, COMDET_RUN names the directory of the run and the
 * process that began it; other processes take part only if children are
 * followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "setup.h"
#include "cores.h"
#include "describe.h"
#include "exact.h"
#include "frames.h"
#include "futexes.h"
#include "maps.h"
#include "marks.h"
#include "now.h"
#include "qemu_plugin_abi.h"
#include "reuse.h"
#include "reuse_exact.h"
#include "sample.h"
#include "say.h"
#include "scheduler.h"
#include "state.h"
#include "thread.h"
#include "trace.h"
#include "transfer.h"
#include "vcpu.h"
#include "preload/common/run_variable.h"
#include "src/base/rng.h"
#include "src/store/outdir.h"
#include "src/store/sample_log.h"

enum {
	NOT_OURS = -ECHILD,
};

static bool forked; /* this process is a child of one that was profiled */

static uint64_t random_number(void)
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
		n = emu_now_ns(CLOCK_MONOTONIC) ^ ((uint64_t)emu.pid << 32);
	return n;
}

static int open_directory(void)
{
	const struct emu_config *c = &emu.config;
	pid_t root = 0;

	if (emu.run_id[0]) /* in a forked child */
		return outdir_open(emu.out, NULL);
	if (c->run && run_variable_parse(c->run, emu.run_id, sizeof(emu.run_id),
					 &root, emu.out, sizeof(emu.out))) {
		if (root != emu.pid && !c->children)
			return NOT_OURS;
		return outdir_open(emu.out, NULL);
	}
	snprintf(emu.run_id, sizeof(emu.run_id), "%016llx",
		 (unsigned long long)random_number());
	return outdir_create(c->out, emu.run_id, emu.out, sizeof(emu.out));
}

static void find_program(void)
{
	char *path = (char *)qemu_plugin_path_to_binary();

	if (!path || !realpath(path, emu.exe))
		snprintf(emu.exe, sizeof(emu.exe), "%s", path ? path : "?");
	free(path);
}

static int open_store(void)
{
	int dir = open_directory(), r;

	if (dir == NOT_OURS)
		return dir;
	if (dir < 0) {
		emu_say("not profiled: cannot make the directory %.200s: %s "
			"(COMDET_OUT=DIR puts it elsewhere)",
			emu.config.out, strerror(-dir));
		return dir;
	}
	emu_describe_file_name(emu.file, sizeof(emu.file));
	r = store_create(&emu.store, dir, emu.file, STORE_MAX_BYTES_DEFAULT);
	close(dir);
	if (r)
		emu_say("not profiled: cannot create %.200s/%s: %s", emu.out,
			emu.file, strerror(-r));
	return r;
}

/*
 * The log has the samples of the process that began the run. If that process
 * executes another program, the log begins anew and has those of the last
 * program alone.
 */
static void open_log(void)
{
	const char *path = getenv("COMDET_SAMPLE_LOG");

	if (!forked && path && *path && sample_log_open(path))
		emu_say("COMDET_SAMPLE_LOG cannot be written");
}

int emu_setup_open(unsigned int index)
{
	struct cdp_header *h;
	int r;

	emu.pid = getpid();
	emu.start_mono = emu_now_ns(CLOCK_MONOTONIC);
	if (!emu.exe[0])
		find_program();
	r = open_store();
	if (r)
		return r;
	h = emu.store.header;
	emu_cores_init();
	emu_describe_process(h);
	r = emu.domains > REUSE_EXACT_DOMAINS_MAX ? -E2BIG : 0;
	if (!r)
		r = emu_sample_init();
	if (!r && emu_measures(EMU_REUSE_MODES))
		r = emu_reuse_init();
	if (!r && emu_measures(EMU_REUSE_MODES) && emu.config.exact)
		r = emu_reuse_exact_init();
	if (!r && emu.config.exact && emu_measures(CDP_MODE_COMM))
		r = emu_exact_init();
	if (!r && emu.config.algorithm != EMU_COMDETECTIVE)
		r = emu_transfer_init();
	if (!r && emu.config.trace)
		r = emu_trace_open();
	if (!r)
		r = emu_frames_init(index);
	if (!r)
		r = emu_thread_init();
	if (r) {
		emu_say("not profiled: %s", strerror(-r));
		snprintf(h->note, sizeof(h->note), "not profiled: %s",
			 strerror(-r));
		__atomic_store_n(&h->state, CDP_STOPPED, __ATOMIC_RELEASE);
		store_release(&emu.store);
		return r;
	}
	open_log();
	emu_describe_measurement(h);
	emu.active = true;
	emu_thread_start(index);
	return 0;
}

void emu_setup_after_fork(void)
{
	uint64_t x = emu.config.seed + emu.forks;

	emu.active = false;
	forked = true;
	/* Children must not take the same samples. */
	emu.config.seed = rng_splitmix(&x);
	emu.forks = 0;
	sample_log_close();
	if (emu.config.trace) {
		emu_marks_forget();
		emu_futexes_forget();
		emu_trace_forget();
	}
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		if (emu.vcpu[i].record)
			emu_vcpu_mute(&emu.vcpu[i]);
	if (!emu.config.children) {
		void *page = mmap(NULL, CDP_PAGE_BYTES, PROT_READ | PROT_WRITE,
				  MAP_SHARED, emu.store.fd, 0);

		emu.parent = page == MAP_FAILED ? NULL : page;
	}
	store_release(&emu.store);
}

void emu_setup_finish(enum cdp_state state)
{
	struct cdp_header *h = emu.store.header;
	struct emu_scheduler_counts turns = emu_scheduler_counts();

	emu_maps_finish();
	if (emu.config.trace)
		emu_trace_finish();
	if (emu.config.exact && emu_measures(CDP_MODE_COMM))
		emu_exact_finish();
	if (emu_measures(EMU_REUSE_MODES)) {
		emu_reuse_finish();
		if (emu.config.exact)
			emu_reuse_exact_finish();
	}
	if (emu.config.algorithm != EMU_COMDETECTIVE)
		emu_transfer_finish(state == CDP_ENDED);
	if (state == CDP_ENDED)
		emu_thread_finish();
	__atomic_store_n(&h->last_mono, emu_now_ns(CLOCK_MONOTONIC),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&h->cpu_ns, emu_now_ns(CLOCK_PROCESS_CPUTIME_ID),
			 __ATOMIC_RELAXED);
	h->turns_shared = turns.shared;
	h->turns_by_time = turns.by_time;
	h->unordered = turns.unordered;
	__atomic_store_n(&h->state, state, __ATOMIC_RELEASE);
}
