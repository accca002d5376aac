/* SPDX-License-Identifier: MIT */
/*
 * host - what the file says about the machine and the run
 *
 * Shared by the library and the plugin of QEMU. Context: set-up.
 */
#ifndef COMDET_PRELOAD_COMMON_HOST_H
#define COMDET_PRELOAD_COMMON_HOST_H

#include <stddef.h>
#include <sys/types.h>

#include "src/store/cdp.h"

/* The first @size - 1 bytes of a file, and a zero; how many were read. */
size_t describe_slurp(const char *path, char *buf, size_t size);

/*
 * EXE.PID.MS.cdp, EXE the last part of @exe without what a file name should
 * not have.
 */
void describe_name(char *name, size_t size, const char *exe, pid_t pid,
		   uint64_t real_ns);

/* Parent, start of the process, boot, host, kernel and CPU. */
void describe_host(struct cdp_header *h);

#endif
