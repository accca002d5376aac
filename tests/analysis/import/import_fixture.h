/* SPDX-License-Identifier: MIT */
/*
 * import_fixture - a recording that a test builds, and the profile it becomes
 */
#ifndef COMDET_TESTS_ANALYSIS_IMPORT_IMPORT_FIXTURE_H
#define COMDET_TESTS_ANALYSIS_IMPORT_IMPORT_FIXTURE_H

#include <sys/mman.h>

#include "analysis/import/import.h"
#include "analysis/profile/profile.h"
#include "analysis/import/collect.h"
#include "analysis/import/tasks.h"
#include "analysis/import/write.h"
#include "tests/fake/perf_twins.h"
#include "tests/sandbox.h"
#include "src/store/outdir.h"

enum {
	PID = 100,
};

static struct perf_file f;
static struct import im;
static struct profile profile;
static uint64_t detections;

static inline void setup(void)
{
	sandbox_setup();
	f.arch = "x86_64";
}

static inline void teardown(void)
{
	profile_release(&profile);
	import_release(&im);
	perf_file_release(&f);
	sandbox_teardown();
}

/* One event for loads and one for stores, with most fields. */
static inline void two_events(void)
{
	perf_file_event(&f, "cpu/mem-loads/", TWIN_TYPE | PERF_SAMPLE_WEIGHT);
	perf_file_event(&f, "cpu/mem-stores/", TWIN_TYPE | PERF_SAMPLE_WEIGHT);
}

static inline int collect(void)
{
	struct gen out = { 0 };
	int fd = memfd_create("recording", MFD_CLOEXEC), err;

	perf_file_write(&f, &out);
	ck_assert_int_eq(write(fd, out.bytes, out.used), out.used);
	err = import_collect(&im, fd);
	close(fd);
	gen_release(&out);
	return err;
}

/* Import the recording and read the profile back. */
static inline void import_all(void)
{
	struct import_run run = { .file = "file", .run_id = "run" };
	char path[128];
	int dir;

	ck_assert_int_eq(collect(), 0);
	import_tasks(&im);
	import_plan(&im, &run);
	snprintf(path, sizeof(path), "%s/out", sandbox);
	dir = outdir_create(path, "run", path, sizeof(path));
	ck_assert_int_ge(dir, 0);
	for (uint32_t i = 0; i < im.processes; i++)
		if (im.process[i].samples)
			ck_assert_int_eq(
				import_write(&im, &run, i, dir, &detections),
				0);
	close(dir);
	ck_assert_int_eq(profile_load(&profile, path), 0);
	ck_assert_uint_eq(profile.bad_files, 0);
	for (size_t i = 0; i < profile.processes; i++)
		ck_assert_uint_eq(profile.process[i].bad_records, 0);
}

static inline struct gen_sample at(uint64_t time, uint32_t tid, uint64_t addr)
{
	return (struct gen_sample){
		.misc = PERF_RECORD_MISC_USER,
		.pid = PID,
		.tid = tid,
		.cpu = tid % 2,
		.time = time,
		.ip = 0x401000,
		.addr = addr,
		.period = 1000,
	};
}

static inline void load(struct gen_sample s)
{
	s.data_src = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
		     PERF_MEM_S(LVL, L1);
	perf_file_sample(&f, 0, &s);
}

static inline void store(struct gen_sample s)
{
	s.data_src = PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, HIT) |
		     PERF_MEM_S(LVL, L1);
	perf_file_sample(&f, 1, &s);
}

#endif
