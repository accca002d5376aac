/* SPDX-License-Identifier: MIT */
/*
 * describe - what the file says about the process and the measurement
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "describe.h"
#include "pmu_source.h"
#include "state.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The first @size - 1 bytes of a file; how many were read. */
static size_t slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 0;

	if (fd >= 0) {
		while (have < size - 1 &&
		       (n = read(fd, buf + have, size - 1 - have)) > 0)
			have += n;
		close(fd);
	}
	buf[have] = 0;
	return have;
}

void describe_file_name(char *name, size_t size)
{
	char exe[CDP_PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *base;
	char clean[64];
	size_t i = 0;

	exe[n > 0 ? n : 0] = 0;
	base = strrchr(exe, '/');
	base = base ? base + 1 : exe;
	for (; base[i] && i < sizeof(clean) - 1; i++)
		clean[i] = isalnum((unsigned char)base[i]) ||
					   strchr("._+-", base[i])
				   ? base[i]
				   : '_';
	clean[i] = 0;
	snprintf(name, size, "%s.%d.%llu.cdp", i ? clean : "program",
		 (int)runtime.pid,
		 (unsigned long long)(clock_ns(CLOCK_REALTIME) / 1000000));
}

static uint64_t process_start(void)
{
	char buf[1024], *p;
	uint64_t start = 0;

	slurp("/proc/self/stat", buf, sizeof(buf));
	p = strrchr(buf, ')'); /* the name may hold anything */
	if (p)
		sscanf(p + 1,
		       " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %*s %*s %*s %*s %llu",
		       (unsigned long long *)&start);
	return start;
}

static void cpu_model(char *to, size_t size)
{
	char buf[4096], *p, *end;

	slurp("/proc/cpuinfo", buf, sizeof(buf));
	p = strstr(buf, "model name");
	p = p ? strchr(p, ':') : NULL;
	if (!p)
		return;
	p += strspn(p, ": \t");
	end = strchr(p, '\n');
	if (end)
		*end = 0;
	snprintf(to, size, "%s", p);
}

static void command_line(char *to, size_t size)
{
	size_t n = slurp("/proc/self/cmdline", to, size);

	if (n == size - 1)
		memcpy(to + size - 4, "...", 4);
	for (size_t i = 0; n && i < n - 1; i++)
		if (!to[i])
			to[i] = ' ';
}

void describe_process(struct cdp_header *h)
{
	struct utsname u;
	ssize_t n;

	h->pid = runtime.pid;
	h->parent_pid = getppid();
	h->line_bytes = runtime.comm.line_bytes;
	h->process_start = process_start();
	h->start_real = clock_ns(CLOCK_REALTIME);
	h->start_mono = runtime.start_mono;
	h->last_mono = runtime.start_mono;
	memcpy(h->run_id, runtime.run_id, sizeof(h->run_id));
	slurp("/proc/sys/kernel/random/boot_id", h->boot_id,
	      sizeof(h->boot_id));
	h->boot_id[strcspn(h->boot_id, "\n")] = 0;
	if (!uname(&u)) {
		snprintf(h->host, sizeof(h->host), "%.63s", u.nodename);
		snprintf(h->kernel, sizeof(h->kernel), "%.64s %.40s", u.release,
			 u.machine);
	}
	cpu_model(h->cpu, sizeof(h->cpu));
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
	h->expiry = c->expiry;
	h->watch_expiry = c->watch_expiry;
}

void describe_end(struct cdp_header *h, enum cdp_state state)
{
	__atomic_store_n(&h->last_mono, now_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&h->cpu_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&h->state, state, __ATOMIC_RELEASE);
}
