/* SPDX-License-Identifier: MIT */
/*
 * output - where this process writes: the directory of its run, its own file
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "output.h"
#include "src/base/text.h"
#include "src/store/host.h"
#include "src/store/outdir.h"
#include "src/store/rank.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

enum {
	SPACE_SHARE = 64, /* the file takes 1/64 of a limited address space */
	STORE_BYTES_MIN = 1024 * 1024,
	PATH_SHOWN = 200, /* bytes, in a message */
	NAME_TRIES = 3,   /* names differ by their time in ms */
};

/* 16 hexadecimal digits. */
static void name_run(void)
{
	for (int i = 0; i < 16; i++)
		runtime.run_id[i] =
			"0123456789abcdef"[runtime.seed >> (60 - 4 * i) & 15];
	runtime.run_id[16] = 0;
}

/* A rank of a parallel job has a directory of its own. */
static int make_directory(void)
{
	const char *out = runtime.config.out;
	char own[CDP_PATH_BYTES];
	uint32_t rank, ranks;
	int err;

	if (rank_of(0, &rank, &ranks)) {
		err = rank_directory(out, rank, own, sizeof(own));
		if (err)
			return err;
		out = own;
	}
	return outdir_create(out, runtime.run_id, runtime.out,
			     sizeof(runtime.out));
}

static int open_directory(void)
{
	char run_id[OUTDIR_RUN_ID_BYTES];
	int dir;

	if (!runtime.out[0]) {
		name_run();
		return make_directory();
	}
	dir = outdir_open(runtime.out, run_id);
	if (dir >= 0 && strcmp(run_id, runtime.run_id)) {
		sys_call1(SYS_close,
			  dir); /* another run has replaced the directory */
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

/* Make EXE.PID.START.cdp; unusual characters of EXE become "_". */
static void file_name(char *name, size_t size)
{
	struct timespec now = { 0, 0 };
	char exe[CDP_PATH_BYTES];
	long n =
		sys_call3(SYS_readlink, "/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	clock_gettime(CLOCK_REALTIME, &now);
	host_file_name(name, size, exe, runtime.pid,
		       (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static int open_store(int dir, char *error, size_t size)
{
	struct text t;
	char name[128];
	int r = 0;

	for (int i = 0; i < NAME_TRIES; i++) {
		const struct timespec next = { 0, 1000 * 1000 };

		file_name(name, sizeof(name));
		r = store_create(&runtime.store, dir, name, store_bytes());
		if (r != -EEXIST)
			break;
		sys_call2(SYS_nanosleep, &next, NULL);
	}
	if (!r) {
		runtime.store.kept = runtime_keep(runtime.store.map,
						  runtime.store.max_bytes);
		return 0;
	}
	text_begin(&t, error, size);
	text_put(&t, "not profiled: cannot create ");
	text_put_some(&t, runtime.out, PATH_SHOWN);
	text_put(&t, "/");
	text_put(&t, name);
	text_put(&t, ": ");
	text_put(&t, strerrordesc_np(-r));
	return r;
}

/* The page is there if record has --control. */
static void map_control(int dir)
{
	long fd, at;

	if (runtime.control)
		return;
	fd = sys_call4(SYS_openat, dir, CONTROL_PAGE_FILE,
		       O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	at = sys_call6(SYS_mmap, 0, CONTROL_PAGE_BYTES, PROT_READ, MAP_SHARED,
		       fd, 0);
	if (at > 0)
		runtime.control = (const struct control_page *)at;
	sys_call1(SYS_close, fd);
}

bool output_open(void)
{
	char error[512] = "";
	int dir = open_directory(), r;

	if (dir < 0) {
		struct text t;

		text_begin(&t, error, sizeof(error));
		text_put(&t, "not profiled: cannot make the directory ");
		text_put_some(&t, runtime.config.out, PATH_SHOWN);
		text_put(&t, ": ");
		text_put(&t, strerrordesc_np(-dir));
		text_put(&t, " (COMDET_OUT=DIR puts it elsewhere)");
		stderr_line(error);
		return false;
	}
	r = open_store(dir, error, sizeof(error));
	map_control(dir);
	sys_call1(SYS_close, dir);
	if (r)
		stderr_line(error);
	return !r;
}
