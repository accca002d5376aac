/* SPDX-License-Identifier: MIT */
/*
 * describe - what the file says about the process and the measurement
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "describe.h"
#include "preload/common/host.h"
#include "preload/sources/pmu/pmu.h"
#include "preload/instr/source.h"
#include "preload/core/state.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void describe_file_name(char *name, size_t size)
{
	char exe[CDP_PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	describe_name(name, size, exe, runtime.pid, clock_ns(CLOCK_REALTIME));
}

static void command_line(char *to, size_t size)
{
	size_t n = describe_slurp("/proc/self/cmdline", to, size);

	if (n == size - 1)
		memcpy(to + size - 4, "...", 4);
	for (size_t i = 0; n && i < n - 1; i++)
		if (!to[i])
			to[i] = ' ';
}

void describe_process(struct cdp_header *h)
{
	ssize_t n;

	describe_host(h);
	h->pid = runtime.pid;
	h->line_bytes = runtime.comm.line_bytes;
	h->start_real = clock_ns(CLOCK_REALTIME);
	h->start_mono = runtime.start_mono;
	h->last_mono = runtime.start_mono;
	memcpy(h->run_id, runtime.run_id, sizeof(h->run_id));
	n = readlink("/proc/self/exe", h->exe, sizeof(h->exe) - 1);
	h->exe[n > 0 ? n : 0] = 0;
	command_line(h->command, sizeof(h->command));
	h->modes = runtime.config.modes;
	h->cores = sysconf(_SC_NPROCESSORS_CONF);
}

static void describe_source(struct cdp_header *h, const char *why)
{
	const struct pmu_plan *plan = pmu_source_chosen();
	bool pebs = plan->source == PMU_PEBS;

	if (runtime.hardware) {
		snprintf(h->source, sizeof(h->source), "%s",
			 pebs ? "pebs" : "ibs");
		snprintf(h->source_reason, sizeof(h->source_reason), "%s",
			 runtime.hardware_why);
		snprintf(h->period_unit, sizeof(h->period_unit), "%s",
			 pebs ? "events" : "ops");
		h->period = plan->period;
		return;
	}
	snprintf(h->source, sizeof(h->source), "clock");
	if (runtime.delivery == DELIVERY_SIGTRAP)
		snprintf(h->source_reason, sizeof(h->source_reason),
			 "perf task-clock with synchronous signals%s%s",
			 runtime.hardware_why[0] ? "; " : "",
			 runtime.hardware_why);
	else
		snprintf(h->source_reason, sizeof(h->source_reason),
			 "POSIX timers of each thread%s%.150s",
			 *why ? ": " : "", why);
	snprintf(h->period_unit, sizeof(h->period_unit), "ns");
	h->period = runtime.period_ns;
}

void describe_measurement(struct cdp_header *h, const char *why)
{
	const struct comm *c = &runtime.comm;
	bool sync = runtime.delivery == DELIVERY_SIGTRAP;

	h->line_bytes = c->line_bytes;
	describe_source(h, why);
	snprintf(h->delivery, sizeof(h->delivery), "%s",
		 sync ? "sigtrap" : "rtsig");
	snprintf(h->algorithm, sizeof(h->algorithm), "comdetective");
	if (runtime.config.modes & CDP_MODE_REUSE && !instr_is_source())
		snprintf(h->note, sizeof(h->note),
			 "reuse within threads, as their own registers see it: "
			 "what other threads store ends no use%s",
			 runtime.hardware ? "" : "; in ns, estimated");
	h->registers = runtime.registers;
	h->board_slots = board_slots(c->board);
	if (runtime.config.duration_ns)
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
}

void describe_end(struct cdp_header *h, enum cdp_state state)
{
	__atomic_store_n(&h->last_mono, now_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&h->cpu_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&h->state, state, __ATOMIC_RELEASE);
}
