/* SPDX-License-Identifier: MIT */
/*
 * kernel - calls of the hardware sources to the kernel and the processor
 *
 * A table of functions stands between the sources and the machine. A test puts
 * a machine of its own there, which writes the records that the kernel would
 * write; all code above runs unchanged.
 *
 * Each function returns the kernel's value, -errno on failure, and leaves errno
 * alone. Context: any, handler included, unless noted.
 */
#ifndef COMDET_PMU_KERNEL_H
#define COMDET_PMU_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

struct perf_kernel {
	void *ctx; /* handed to each */
	/*
	 * Open an event of thread @tid, 0 for the calling one, on processor
	 * @cpu, -1 for any; close-on-exec.
	 */
	long (*open)(void *ctx, const struct perf_event_attr *attr, int tid,
		     int cpu, int group);
	long (*ioctl)(void *ctx, int fd, unsigned long request, uint64_t arg);
	/* Map the ring of @fd, @bytes with its first page. Returns its address.
	 */
	long (*map)(void *ctx, int fd, size_t bytes);
	long (*unmap)(void *ctx, void *at, size_t bytes);
	long (*read)(void *ctx, int fd, void *to, size_t bytes);
	long (*fcntl)(void *ctx, int fd, int command, uint64_t arg);
	long (*close)(void *ctx, int fd);
	/*
	 * Read the first @size - 1 bytes of the file @path and end them with
	 * NUL. Returns how many. Context: set-up.
	 */
	long (*read_file)(void *ctx, const char *path, char *text, size_t size);
	/* CPUID @leaf, subleaf 0: EAX, EBX, ECX, EDX. Context: set-up. */
	void (*cpuid)(void *ctx, uint32_t leaf, uint32_t regs[4]);
	/*
	 * Load and store each of the @words at @at some thousand times, so that
	 * a source with a short period has something to sample.
	 * Context: set-up.
	 */
	void (*exercise)(void *ctx, volatile uint64_t *at, size_t words);
};

/* The calls to the machine that we run on. */
extern const struct perf_kernel perf_kernel_linux;

#endif
