/* SPDX-License-Identifier: MIT */
/*
 * describe - describe the process and the measurement in the file's header
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "describe.h"
#include "src/store/host.h"
#include "preload/core/runtime.h"
#include "preload/core/timing.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void describe_process(struct cdp_header *h)
{
	ssize_t n;

	host_describe(h, getpid());
	h->pid = runtime.pid;
	h->line_bytes = runtime.comm.line_bytes;
	h->start_real = clock_ns(CLOCK_REALTIME);
	h->start_mono = runtime.start_mono;
	h->last_mono = runtime.start_mono;
	memcpy(h->run_id, runtime.run_id, sizeof(h->run_id));
	n = readlink("/proc/self/exe", h->exe, sizeof(h->exe) - 1);
	h->exe[n > 0 ? n : 0] = 0;
	describe_command(h);
	h->modes = runtime.config.modes;
	h->cores = sysconf(_SC_NPROCESSORS_CONF);
}

void describe_measurement(struct cdp_header *h, const char *why)
{
	const struct source_reuse *reuse = runtime.source->reuse;
	const struct comm *c = &runtime.comm;
	bool sync = runtime.delivery == DELIVERY_SIGTRAP;

	h->line_bytes = c->line_bytes;
	snprintf(h->delivery, sizeof(h->delivery), "%s",
		 sync ? "sigtrap" : "rtsig");
	snprintf(h->algorithm, sizeof(h->algorithm), "comdetective");
	if (runtime.config.modes & CDP_MODE_REUSE && reuse)
		snprintf(h->note, sizeof(h->note),
			 "reuse within each thread, watched by its own "
			 "registers: stores of other threads end no use%s",
			 reuse->counts_accesses ? "" : "; in ns, estimated");
	h->registers = runtime.registers;
	h->board_slots = board_slots(c->board);
	if (runtime.control)
		snprintf(h->note, sizeof(h->note),
			 "sampled while --control said so");
	else if (runtime.config.paused)
		snprintf(
			h->note, sizeof(h->note),
			"sampled from the first comdet_resume() of the program "
			"on");
	else if (runtime.config.duration_ns)
		snprintf(
			h->note, sizeof(h->note),
			"sampled from %.1f s to %.1f s after the start",
			runtime.config.delay_ns / 1e9,
			(runtime.config.delay_ns + runtime.config.duration_ns) /
				1e9);
	else if (runtime.config.delay_ns)
		snprintf(h->note, sizeof(h->note),
			 "sampled from %.1f s after the start on",
			 runtime.config.delay_ns / 1e9);
	h->expiry = comm_expiry(c);
	h->watch_expiry = comm_watch_expiry(c);
	runtime.source->describe(h, why);
}
