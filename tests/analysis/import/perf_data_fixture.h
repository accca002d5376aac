/* SPDX-License-Identifier: MIT */
/*
 * perf_data_fixture - a small recording, and reading it from memory
 */
#ifndef COMDET_TESTS_ANALYSIS_IMPORT_PERF_DATA_FIXTURE_H
#define COMDET_TESTS_ANALYSIS_IMPORT_PERF_DATA_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/import/perf_data.h"
#include "tests/fake/perf_file.h"

enum {
	TYPE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	       PERF_SAMPLE_ADDR | PERF_SAMPLE_ID,
};

static inline int put(const struct gen *g, size_t bytes)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, g->bytes, bytes), bytes);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/*
 * Append all records to @to; returns what perf_data_next() returned at the end.
 */
static inline int read_all(struct perf_data *d, int fd, struct gen *to)
{
	int err = perf_data_open(d, fd);
	const void *record;
	size_t bytes;

	to->used = 0;
	while (!err && (err = perf_data_next(d, &record, &bytes)) > 0) {
		gen_bytes(to, record, bytes);
		err = 0;
	}
	if (err)
		ck_assert_str_ne(d->error, "");
	close(fd);
	return err;
}

static inline int read_bytes(const struct gen *g, size_t bytes, char *error)
{
	struct perf_data d;
	struct gen all = { 0 };
	int err = read_all(&d, put(g, bytes), &all);

	if (error)
		strcpy(error, d.error);
	perf_data_close(&d);
	gen_release(&all);
	return err;
}

static inline void small(struct perf_file *f)
{
	struct gen_sample s = { .misc = PERF_RECORD_MISC_USER,
				.pid = 1,
				.tid = 2 };
	uint8_t id[20] = { 1, 2, 3 };

	f->host = "host";
	f->kernel = "6.1";
	f->version = "6.2";
	f->arch = "x86_64";
	f->cpu = "a processor";
	f->cpuid = "AuthenticAMD,25,17,1";
	f->cpus = 2;
	f->pmu = "cpu";
	perf_file_event(f, "cpu/mem-loads/", TYPE);
	perf_file_event(f, "cpu/mem-stores/", TYPE)->attr.config = 0x2cd;
	f->event[1].id[1] = 201;
	f->event[1].ids = 2;
	perf_file_comm(f, 1, 2, "small", false, 1);
	for (int i = 0; i < 20; i++) {
		s.time = 10 + i;
		perf_file_sample(f, i % 2, &s);
		if (i % 5 == 4)
			perf_file_round(f);
	}
	perf_file_build_id(f, "/bin/small", id, 20);
}

#endif
