/* SPDX-License-Identifier: MIT */
/*
 * topology_file - read the topology that --topology or COMDET_TOPOLOGY names
 *
 * Shared by the library and the plugin of QEMU.
 */
#ifndef COMDET_PRELOAD_COMMON_TOPOLOGY_FILE_H
#define COMDET_PRELOAD_COMMON_TOPOLOGY_FILE_H

#include <stddef.h>

#include "src/base/topology.h"

/*
 * Read the file @path, or the text after "text:" in it. Returns 0, or -EINVAL
 * with one line for the user in @error. Context: set-up, one thread at a time.
 */
int topology_file_read(struct topology *t, const char *path, char *error,
		       size_t size);

#endif
