/* SPDX-License-Identifier: MIT */
/*
 * run_variable - the value of COMDET_RUN, which names the run of a process
 */
#include <stdlib.h>
#include <string.h>

#include "run_variable.h"

bool run_variable_parse(const char *run, char *id, size_t id_size, pid_t *root,
			char *dir, size_t dir_size)
{
	const char *pid = strchr(run, ':');
	const char *path = pid ? strchr(pid + 1, ':') : NULL;
	size_t n = pid ? (size_t)(pid - run) : 0;

	if (!path || path[1] != '/' || !n || n >= id_size ||
	    strlen(path + 1) >= dir_size)
		return false;
	*root = strtol(pid + 1, NULL, 10);
	if (*root <= 0)
		return false;
	memcpy(id, run, n);
	id[n] = '\0';
	strcpy(dir, path + 1);
	return true;
}
