/* SPDX-License-Identifier: MIT */
/*
 * kernel - calls of the hardware sources to the kernel and the processor
 */
#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	EXERCISES = 20000
};

static long linux_open(void *ctx, const struct perf_event_attr *attr, int tid,
		       int cpu, int group)
{
	return rawcall5(SYS_perf_event_open, attr, tid, cpu, group,
			PERF_FLAG_FD_CLOEXEC);
}

static long linux_ioctl(void *ctx, int fd, unsigned long request, uint64_t arg)
{
	return rawcall3(SYS_ioctl, fd, request, arg);
}

static long linux_map(void *ctx, int fd, size_t bytes)
{
	return rawcall6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);
}

static long linux_unmap(void *ctx, void *at, size_t bytes)
{
	return rawcall2(SYS_munmap, at, bytes);
}

static long linux_read(void *ctx, int fd, void *to, size_t bytes)
{
	return rawcall3(SYS_read, fd, to, bytes);
}

static long linux_fcntl(void *ctx, int fd, int command, uint64_t arg)
{
	return rawcall3(SYS_fcntl, fd, command, arg);
}

static long linux_close(void *ctx, int fd)
{
	return rawcall1(SYS_close, fd);
}

static long linux_read_file(void *ctx, const char *path, char *text,
			    size_t size)
{
	long fd = rawcall4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long n;

	text[0] = '\0';
	if (fd < 0)
		return fd;
	n = rawcall3(SYS_read, fd, text, size - 1);
	rawcall1(SYS_close, fd);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

static void linux_cpuid(void *ctx, uint32_t leaf, uint32_t regs[4])
{
	memset(regs, 0, 4 * sizeof(regs[0]));
	__get_cpuid_count(leaf, 0, &regs[0], &regs[1], &regs[2], &regs[3]);
}

static void linux_exercise(void *ctx, volatile uint64_t *at, size_t words)
{
	for (int i = 0; i < EXERCISES; i++)
		for (size_t j = 0; j < words; j++)
			at[j] = at[j] + 1;
}

const struct perf_kernel perf_kernel_linux = {
	.open = linux_open,
	.ioctl = linux_ioctl,
	.map = linux_map,
	.unmap = linux_unmap,
	.read = linux_read,
	.fcntl = linux_fcntl,
	.close = linux_close,
	.read_file = linux_read_file,
	.cpuid = linux_cpuid,
	.exercise = linux_exercise,
};
