/* SPDX-License-Identifier: MIT */
/*
 * topology_file - the machine that --topology or its twin describes
 *
 * Shared by the library and the plugin of QEMU.
 */
#ifndef COMDET_PRELOAD_COMMON_TOPOLOGY_FILE_H
#define COMDET_PRELOAD_COMMON_TOPOLOGY_FILE_H

#include <stddef.h>

#include "src/base/topology.h"

/*
 * Read @path, or what follows "text:" in it. Returns 0, or -EINVAL with one
 * line for people in @error. Context: set-up, one thread at a time.
 */
int topology_file_read(struct topology *t, const char *path, char *error,
		       size_t size);

#endif
