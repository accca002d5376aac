/* SPDX-License-Identifier: MIT */
/*
 * fake_machine - the machines there are, their sysfs and their CPUID
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_kernel.h"

enum {
	TYPE_ATOM = 10,
	TYPE_IBS_OP = 11,
	EXERCISES = 20000,
};

static const struct machine {
	const char *vendor;
	uint32_t family, model, ibs_caps;
	bool aux, hypervisor;
	struct fake_pmu pmu[FAKE_PMUS];
} machines[FAKE_MODELS] = {
	[FAKE_NEHALEM] = { "GenuineIntel",
			   6,
			   0x1a,
			   0,
			   false,
			   false,
			   { { "cpu", PERF_TYPE_RAW, 2, false, false,
			       false } } },
	[FAKE_SANDY_BRIDGE] = { "GenuineIntel",
				6,
				0x2d,
				0,
				false,
				false,
				{ { "cpu", PERF_TYPE_RAW, 2, false, false,
				    false } } },
	[FAKE_SKYLAKE] = { "GenuineIntel",
			   6,
			   0x55,
			   0,
			   false,
			   false,
			   { { "cpu", PERF_TYPE_RAW, 3, false, false,
			       false } } },
	[FAKE_SAPPHIRE_RAPIDS] = { "GenuineIntel",
				   6,
				   0x8f,
				   0,
				   true,
				   false,
				   { { "cpu", PERF_TYPE_RAW, 3, true, false,
				       false } } },
	[FAKE_ALDER_LAKE] = { "GenuineIntel",
			      6,
			      0x97,
			      0,
			      true,
			      false,
			      { { "cpu_core", PERF_TYPE_RAW, 3, true, false,
				  false },
				{ "cpu_atom", TYPE_ATOM, 3, false, false,
				  true } } },
	[FAKE_UNKNOWN_INTEL] = { "GenuineIntel",
				 6,
				 0xfe,
				 0,
				 false,
				 false,
				 { { "cpu", PERF_TYPE_RAW, 3, false, false,
				     false } } },
	[FAKE_ZEN2] = { "AuthenticAMD",
			0x17,
			0x31,
			0x3ff,
			false,
			false,
			{ { "cpu", PERF_TYPE_RAW, -1, false, false, false },
			  { "ibs_op", TYPE_IBS_OP, -1, false, true, false } } },
	[FAKE_ZEN4] = { "AuthenticAMD",
			0x19,
			0x11,
			0x1bff,
			false,
			false,
			{ { "cpu", PERF_TYPE_RAW, -1, false, false, false },
			  { "ibs_op", TYPE_IBS_OP, -1, false, true, false } } },
	[FAKE_BARE] = { "AuthenticAMD",
			0x1a,
			0x02,
			0,
			false,
			true,
			{ { NULL, 0, -1, false, false, false } } },
};

static long answer(char *text, size_t size, const char *what)
{
	int n = snprintf(text, size, "%s\n", what);

	return n < (int)size ? n : (long)size - 1;
}

static long answer_number(char *text, size_t size, long n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%ld", n);
	return answer(text, size, digits);
}

static long read_pmu(const struct fake_kernel *k, const struct fake_pmu *pmu,
		     const char *name, char *text, size_t size)
{
	if (!strcmp(name, "type"))
		return answer_number(text, size, pmu->type);
	if (!strcmp(name, "caps/max_precise") && pmu->max_precise >= 0)
		return answer_number(text, size, pmu->max_precise);
	if (!strcmp(name, "events/mem-loads-aux") && pmu->aux)
		return answer(text, size, "event=0x03,umask=0x82");
	if (!strcmp(name, "format/cnt_ctl") && pmu->ibs)
		return answer(text, size, "config:19");
	if (!strcmp(name, "format/swfilt") && pmu->ibs && k->filter)
		return answer(text, size, "config2:0");
	return -ENOENT;
}

static long fake_read_file(void *ctx, const char *path, char *text, size_t size)
{
	static const char devices[] = "/sys/bus/event_source/devices/";
	struct fake_kernel *k = ctx;
	const char *name;

	text[0] = '\0';
	if (!strcmp(path, "/proc/sys/kernel/osrelease"))
		return answer(text, size, k->release);
	if (!strcmp(path, "/proc/sys/kernel/perf_event_paranoid"))
		return answer_number(text, size, k->paranoid);
	if (!strcmp(path, "/proc/sys/kernel/nmi_watchdog"))
		return answer_number(text, size, k->watchdog);
	if (!strcmp(path, "/proc/self/status"))
		return answer(text, size,
			      k->seccomp ? "Name:\tx\nSeccomp:\t2"
					 : "Name:\tx\nSeccomp:\t0");
	if (strncmp(path, devices, sizeof(devices) - 1))
		return -ENOENT;
	path += sizeof(devices) - 1;
	name = strchr(path, '/');
	for (int i = 0; name && i < FAKE_PMUS && k->pmu[i].name; i++)
		if (strlen(k->pmu[i].name) == (size_t)(name - path) &&
		    !strncmp(k->pmu[i].name, path, name - path))
			return read_pmu(k, &k->pmu[i], name + 1, text, size);
	return -ENOENT;
}

static void fake_cpuid(void *ctx, uint32_t leaf, uint32_t regs[4])
{
	const struct fake_kernel *k = ctx;
	const char *vendor = machines[k->model].vendor;
	uint32_t family = k->family > 15 ? 15 : k->family;

	memset(regs, 0, 4 * sizeof(regs[0]));
	switch (leaf) {
	case 0:
		regs[0] = 0x16;
		memcpy(&regs[1], vendor, 4);
		memcpy(&regs[3], vendor + 4, 4);
		memcpy(&regs[2], vendor + 8, 4);
		break;
	case 1:
		regs[0] = (k->family - family) << 20 |
			  (k->model_number >> 4) << 16 | family << 8 |
			  (k->model_number & 15) << 4;
		regs[2] = (uint32_t)k->hypervisor << 31;
		break;
	case 0x80000000:
		regs[0] = k->intel ? 0x80000008 : 0x80000021;
		break;
	case 0x8000001b:
		regs[0] = k->ibs_caps;
		break;
	}
}

static void fake_exercise(void *ctx, volatile uint64_t *at, size_t words)
{
	struct fake_kernel *k = ctx;

	for (int i = 0; i < EXERCISES; i++) {
		struct fake_op op = {
			.access = { .addr = (uintptr_t)&at[i % words],
				    .ip = 0x401000,
				    .len = 8,
				    .flags = i & 1 ? ACCESS_STORE
						   : ACCESS_LOAD },
			.latency = 5,
		};

		fake_run(k, &op);
	}
}

void fake_kernel_boot(struct fake_kernel *k, const char *release)
{
	/* Where commit 56799bc03565 is in stable releases: minor, patch. */
	static const int fixed[][2] = { { 12, 24 }, { 13, 12 }, { 14, 3 } };
	int major = 0, minor = 0, patch = 0;

	snprintf(k->release, sizeof(k->release), "%s", release);
	sscanf(release, "%d.%d.%d", &major, &minor, &patch);
	k->forces_signals = major < 5 || (major == 5 && minor < 19);
	minor += major > 6 ? 1000 : major < 6 ? -1000 : 0;
	k->ibs_of_threads = minor >= 2;
	k->signals_wait = minor >= 11;
	k->filter = minor >= 14;
	k->hides_physical = minor >= 14;
	k->frees_unsent = minor < 11 || minor >= 15;
	for (int i = 0; i < 3; i++)
		if (minor == fixed[i][0] && patch >= fixed[i][1])
			k->frees_unsent = true;
}

struct fake_kernel *fake_kernel_new(enum fake_model model)
{
	const struct machine *m = &machines[model];
	struct fake_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	for (int i = 0; i < FAKE_THREADS; i++)
		k->first[i] = -1;
	fake_calls(k);
	k->calls.read_file = fake_read_file;
	k->calls.cpuid = fake_cpuid;
	k->calls.exercise = fake_exercise;
	k->model = model;
	memcpy(k->pmu, m->pmu, sizeof(k->pmu));
	k->family = m->family;
	k->model_number = m->model;
	k->ibs_caps = m->ibs_caps;
	fake_kernel_boot(k, "6.15.0");
	k->aux_needed = m->aux;
	k->hypervisor = m->hypervisor;
	k->intel = m->vendor[0] == 'G';
	k->paranoid = 2;
	k->process = 4000;
	k->open_error_of = -1;
	k->rotate = model == FAKE_SANDY_BRIDGE ? 4000 : 0;
	k->now = 1000 * 1000 * 1000;
	k->seed = 1;
	return k;
}

void fake_kernel_free(struct fake_kernel *k)
{
	for (int i = 0; i < FAKE_RINGS; i++)
		if (k->ring[i].page)
			munmap(k->ring[i].page, k->ring[i].bytes + FAKE_PAGE);
	free(k);
}
