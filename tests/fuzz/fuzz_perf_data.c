/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perf_data - bytes of a fuzzer as a recording of perf (make fuzz)
 *
 * The first byte says what the others are: a whole file, a whole stream, or,
 * so that the fuzzer gets beyond headers, the records of one whose events are
 * given. Everything is done with it but writing files; of one input in 64,
 * by its bytes, these are written too, so that they do not set the pace.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/import/import.h"
#include "analysis/import/collect.h"
#include "analysis/import/tasks.h"
#include "analysis/import/write.h"
#include "tests/fake/perf_twins.h"

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

enum {
	COMPRESSED_BYTES_MAX = 512, /* of 4 KiB zstd makes 128 MiB */
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* What comes before the records. */
static void make_start(enum form form, struct gen *start)
{
	struct perf_file f = { 0 };

	switch (form) {
	case WHOLE_FILE:
		return;
	case WHOLE_STREAM:
		gen_bytes(start, "PERFILE2", 8);
		gen_u64(start, 16);
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
	perf_file_write_stream(&f, start);
	perf_file_release(&f);
}

static void make(enum form form, const uint8_t *data, size_t size,
		 struct gen *out)
{
	static struct gen start[FORMS];
	static bool made[FORMS];
	size_t at;

	if (!made[form])
		make_start(form, &start[form]);
	made[form] = true;
	out->used = 0;
	gen_bytes(out, start[form].bytes, start[form].used);
	if (form == RECORDS_COMPRESSED) {
		if (size > COMPRESSED_BYTES_MAX)
			size = COMPRESSED_BYTES_MAX;
		at = gen_begin(out, 81, 0);
		gen_bytes(out, data, size);
		gen_end(out, at);
	} else {
		gen_bytes(out, data, size);
	}
}

/* A file in memory that holds @g. */
static int file_of(const struct gen *g)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("recording", MFD_CLOEXEC);
	require(fd >= 0 && !ftruncate(fd, g->used) &&
		pwrite(fd, g->bytes, g->used, 0) == (ssize_t)g->used &&
		!lseek(fd, 0, SEEK_SET));
	return fd;
}

static char scratch[] = "/dev/shm/comdet-fuzz-XXXXXX";

static void remove_dir(void)
{
	rmdir(scratch);
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
		require(mkdtemp(scratch) != NULL);
		atexit(remove_dir);
		fd = open(scratch, O_RDONLY | O_DIRECTORY);
	}
	for (uint32_t i = 0; i < im->processes && left; i++)
		if (im->process[i].samples && left--)
			import_write(im, run, i, fd, &detections);
	empty_dir(fd);
}

static bool is_written(const uint8_t *data, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + data[i];
	return sum % 64 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_run run = { .file = "file", .run_id = "run" };
	struct import im = { 0 };
	static struct gen out;

	if (!size)
		return 0;
	make(data[0] % FORMS, data + 1, size - 1, &out);
	if (!import_collect(&im, file_of(&out))) {
		import_tasks(&im);
		import_plan(&im, &run);
		if (is_written(data, size))
			write_some(&im, &run);
	} else {
		/* One line, always. */
		require(im.error[0] && !strchr(im.error, '\n'));
	}
	import_release(&im);
	return 0;
}
