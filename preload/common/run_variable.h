/* SPDX-License-Identifier: MIT */
/*
 * run_variable - the value of COMDET_RUN, which names the run of a process
 *
 * Shared by the library and the plugin of QEMU.
 */
#ifndef COMDET_PRELOAD_COMMON_RUN_VARIABLE_H
#define COMDET_PRELOAD_COMMON_RUN_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Split "ID:PID OF THE ROOT:DIRECTORY" into @id, *@root and @dir; the directory
 * is absolute. False if @run is not of that form, or a part does not fit.
 * Context: set-up.
 */
bool run_variable_parse(const char *run, char *id, size_t id_size, pid_t *root,
			char *dir, size_t dir_size);

#endif
