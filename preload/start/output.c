/* SPDX-License-Identifier: MIT */
/*
 * output - where this process writes: the directory of its run, its own file
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "describe.h"
#include "src/store/outdir.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/core/sys.h"

enum {
	SPACE_SHARE = 64, /* the file takes 1/64 of a limited address space */
	STORE_BYTES_MIN = 1024 * 1024,
	NAME_TRIES = 3, /* names differ by their time in ms */
};

static int open_directory(void)
{
	const struct config *c = &runtime.config;
	char run_id[OUTDIR_RUN_ID_BYTES];
	int dir;

	if (!runtime.out[0]) {
		snprintf(runtime.run_id, sizeof(runtime.run_id), "%016llx",
			 (unsigned long long)runtime.seed);
		return outdir_create(c->out, runtime.run_id, runtime.out,
				     sizeof(runtime.out));
	}
	dir = outdir_open(runtime.out, run_id);
	if (dir >= 0 && strcmp(run_id, runtime.run_id)) {
		close(dir); /* another run has replaced the directory */
		return -ESTALE;
	}
	return dir;
}

/* Leave a limited address space to the program. */
static uint64_t store_bytes(void)
{
	uint64_t bytes = sys_soft_limit(RLIMIT_AS) / SPACE_SHARE;

	if (bytes < STORE_BYTES_MIN)
		return STORE_BYTES_MIN;
	return bytes < STORE_MAX_BYTES_DEFAULT ? bytes
					       : STORE_MAX_BYTES_DEFAULT;
}

static int open_store(int dir, char *error, size_t size)
{
	char name[128];
	int r = 0;

	for (int i = 0; i < NAME_TRIES; i++) {
		const struct timespec next = { 0, 1000 * 1000 };

		describe_file_name(name, sizeof(name));
		r = store_create(&runtime.store, dir, name, store_bytes());
		if (r != -EEXIST)
			break;
		sys_call2(SYS_nanosleep, &next, NULL);
	}
	if (r)
		snprintf(error, size,
			 "not profiled: cannot create %.200s/%s: %s",
			 runtime.out, name, strerrordesc_np(-r));
	return r;
}

bool output_open(void)
{
	char error[512] = "";
	int dir = open_directory(), r;

	if (dir < 0) {
		snprintf(error, sizeof(error),
			 "not profiled: cannot make the directory %.200s: %s "
			 "(COMDET_OUT=DIR puts it elsewhere)",
			 runtime.config.out, strerrordesc_np(-dir));
		stderr_line(error);
		return false;
	}
	r = open_store(dir, error, sizeof(error));
	close(dir);
	if (r)
		stderr_line(error);
	return !r;
}
