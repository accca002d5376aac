/* SPDX-License-Identifier: MIT */
/*
 * host - what the file says about the machine and the run
 *
 * Shared by all who write files about processes of this machine: the library,
 * the plugin of QEMU and the watcher. Context: any; they make system calls.
 */
#ifndef COMDET_STORE_HOST_H
#define COMDET_STORE_HOST_H

#include <stddef.h>
#include <sys/types.h>

#include "cdp.h"

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

/*
 * The parent of process @pid, in *@parent, and when it was started: fields 4
 * and 22 of /proc/PID/stat. Both are 0 if there is no such process.
 */
uint64_t host_process_start(pid_t pid, uint32_t *parent);

/*
 * Fill in parent and start of process @pid, its rank, boot, host, kernel and
 * CPU.
 */
void host_describe(struct cdp_header *h, pid_t pid);

#endif
