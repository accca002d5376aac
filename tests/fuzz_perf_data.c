/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perf_data - bytes of a fuzzer as a recording of perf (make fuzz)
 *
 * The first byte says what the others are: a whole file, a whole stream, or,
 * so that the fuzzer gets beyond headers, the records of one whose events are
 * given. Everything is done with it but writing files; one input in 64 is
 * written too, so that what is slow does not set the pace.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/import.h"
#include "perf_twins.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum form {
	WHOLE_FILE,
	WHOLE_STREAM,
	RECORDS_INTEL,
	RECORDS_AMD,
	RECORDS_ALL, /* one event that samples everything */
	RECORDS_COMPRESSED,
	FORMS
};

static void make(enum form form, const uint8_t *data, size_t size,
		 struct gen *out)
{
	struct perf_file f = { 0 };
	size_t at;

	switch (form) {
	case WHOLE_FILE:
		gen_bytes(out, data, size);
		return;
	case WHOLE_STREAM:
		gen_bytes(out, "PERFILE2", 8);
		gen_u64(out, 16);
		gen_bytes(out, data, size);
		return;
	case RECORDS_AMD:
		twin_amd(&f, 1);
		break;
	case RECORDS_ALL:
		perf_file_event(&f, "mem-loads", PERF_SAMPLE_MAX - 1)
			->attr.read_format = 31;
		break;
	default:
		twin_intel(&f, 1, true);
		break;
	}
	f.data.used = 0;
	if (form == RECORDS_COMPRESSED) {
		at = gen_begin(&f.data, 81, 0);
		gen_bytes(&f.data, data, size < 60000 ? size : 60000);
		gen_end(&f.data, at);
	} else {
		gen_bytes(&f.data, data, size);
	}
	perf_file_write_stream(&f, out);
	perf_file_release(&f);
}

static char dir[] = "/dev/shm/comdet-fuzz-XXXXXX";

static void remove_dir(void)
{
	rmdir(dir);
}

static void empty_dir(int fd)
{
	DIR *d = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY));
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(fd, e->d_name, 0);
	if (d)
		closedir(d);
}

static void write_some(struct import *im, const struct import_run *run)
{
	static int fd = -1;
	uint64_t detections = 0;
	int left = 3;

	if (fd < 0) {
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
		fd = open(dir, O_RDONLY | O_DIRECTORY);
	}
	for (uint32_t i = 0; i < im->processes && left; i++)
		if (im->process[i].samples && left--)
			import_write(im, run, i, fd, &detections);
	empty_dir(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_run run = { .file = "file", .run_id = "run" };
	struct import im = { 0 };
	struct gen out = { 0 };
	static uint64_t runs;
	int fd;

	if (!size)
		return 0;
	make(data[0] % FORMS, data + 1, size - 1, &out);
	fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || write(fd, out.bytes, out.used) != (ssize_t)out.used)
		abort();
	if (!import_collect(&im, fd)) {
		import_tasks(&im);
		import_plan(&im, &run);
		if (runs++ % 64 == 0)
			write_some(&im, &run);
	} else if (!im.error[0] || strchr(im.error, '\n')) {
		abort(); /* one line, always */
	}
	import_release(&im);
	gen_release(&out);
	close(fd);
	return 0;
}
