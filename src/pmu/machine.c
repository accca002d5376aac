/* SPDX-License-Identifier: MIT */
/*
 * machine - the processor, and the PMUs that the kernel lists
 */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "src/base/text.h"

enum {
	LEAF_IBS = 0x1b, /* of the extended ones */
	HYPERVISOR = 31, /* bit of leaf 1's ECX */
};

static const uint32_t extended = 0x80000000;

static long read_sysfs(const struct perf_kernel *kernel, const char *pmu,
		       const char *name, char *text, size_t size)
{
	char path[128];
	struct text t;

	text_begin(&t, path, sizeof(path));
	text_put(&t, "/sys/bus/event_source/devices/");
	text_put(&t, pmu);
	text_put(&t, "/");
	text_put(&t, name);
	return kernel->read_file(kernel->ctx, path, text, size);
}

bool pmu_sysfs_has(const struct perf_kernel *kernel, const char *pmu,
		   const char *name)
{
	char text[64];

	return read_sysfs(kernel, pmu, name, text, sizeof(text)) >= 0;
}

long pmu_sysfs_number(const struct perf_kernel *kernel, const char *pmu,
		      const char *name)
{
	char text[64];
	long n = read_sysfs(kernel, pmu, name, text, sizeof(text)), value = 0;

	if (n < 0)
		return n;
	if (text[0] < '0' || text[0] > '9')
		return -ENOENT;
	for (const char *p = text; *p >= '0' && *p <= '9' && value < 1 << 24;
	     p++)
		value = 10 * value + *p - '0';
	return value;
}

/* The number at *@at, at most 255; *@at moves past it and one dot. */
static uint32_t version_part(const char **at)
{
	uint32_t n = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		n = n > 255 ? n : 10 * n + (uint32_t)(**at - '0');
	*at += **at == '.';
	return n > 255 ? 255 : n;
}

uint32_t pmu_linux_version(const struct perf_kernel *kernel,
			   char release[PMU_RELEASE_BYTES])
{
	char text[PMU_RELEASE_BYTES];
	const char *at = text;
	uint32_t version = 0;

	if (kernel->read_file(kernel->ctx, "/proc/sys/kernel/osrelease", text,
			      sizeof(text)) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (release)
		memcpy(release, text, sizeof(text));
	for (int i = 0; i < 3; i++)
		version = version << 8 | version_part(&at);
	return version;
}

static enum pmu_vendor vendor_of(const uint32_t regs[4])
{
	char name[13];

	memcpy(name, &regs[1], 4);
	memcpy(name + 4, &regs[3], 4);
	memcpy(name + 8, &regs[2], 4);
	name[12] = '\0';
	if (!strcmp(name, "GenuineIntel"))
		return PMU_VENDOR_INTEL;
	if (!strcmp(name, "AuthenticAMD") || !strcmp(name, "HygonGenuine"))
		return PMU_VENDOR_AMD;
	return PMU_VENDOR_OTHER;
}

void pmu_machine_look(struct pmu_machine *m, const struct perf_kernel *kernel)
{
	uint32_t regs[4], family;

	memset(m, 0, sizeof(*m));
	kernel->cpuid(kernel->ctx, 0, regs);
	m->vendor = vendor_of(regs);
	kernel->cpuid(kernel->ctx, 1, regs);
	family = regs[0] >> 8 & 0xf;
	m->family = family == 0xf ? family + (regs[0] >> 20 & 0xff) : family;
	m->model = regs[0] >> 4 & 0xf;
	if (family == 6 || family == 0xf)
		m->model |= (regs[0] >> 16 & 0xf) << 4;
	m->virtual_machine = regs[2] >> HYPERVISOR & 1;
	kernel->cpuid(kernel->ctx, extended, regs);
	if (regs[0] >= (extended | LEAF_IBS)) {
		kernel->cpuid(kernel->ctx, extended | LEAF_IBS, regs);
		m->ibs_caps = regs[0];
	}
	m->linux_version = pmu_linux_version(kernel, m->release);
	m->known = pmu_model_find(m->vendor, m->family, m->model);
}
