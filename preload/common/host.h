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

/*
 * Read the first @size - 1 bytes of a file, and append a 0. Returns the bytes
 * read.
 */
size_t host_read_file(const char *path, char *buf, size_t size);

/*
 * Write EXE.PID.MS.cdp, where EXE is the last part of @exe with characters
 * unfit for a file name replaced.
 */
void host_file_name(char *name, size_t size, const char *exe, pid_t pid,
		    uint64_t real_ns);

/* Fill in parent, start of the process, boot, host, kernel and CPU. */
void host_describe(struct cdp_header *h);

#endif
