/* SPDX-License-Identifier: MIT */
/*
 * run - the run that this process is part of, from the environment
 *
 * COMDET_RUN is "ID:PID OF THE ROOT:DIRECTORY".
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"
#include "preload/common/run_variable.h"
#include "preload/core/runtime.h"

static const char variable[] = "COMDET_RUN=";
static char entry[PATH_MAX + 80];

bool run_parse(const char *run, pid_t *root)
{
	return run_variable_parse(run, runtime.run_id, sizeof(runtime.run_id),
				  root, runtime.out, sizeof(runtime.out));
}

const char *run_announced(void)
{
	return entry[0] ? entry + sizeof(variable) - 1 : NULL;
}

/*
 * setenv may be the application's own function (bash has one), so a copy of the
 * array is made. In a forked child the entry is in the array already. If the
 * program has removed it, it stays removed.
 */
void run_announce(void)
{
	bool again = entry[0];
	size_t n = 0, kept = 0;
	char **copy;

	snprintf(entry, sizeof(entry), "%s%s:%d:%s", variable, runtime.run_id,
		 (int)runtime.pid, runtime.out);
	if (again || !environ)
		return;
	while (environ[n])
		n++;
	copy = mmap(NULL, (n + 2) * sizeof(*copy), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], variable, sizeof(variable) - 1))
			copy[kept++] = environ[i];
	copy[kept] = entry;
	environ = copy;
}
