/* SPDX-License-Identifier: MIT */
/*
 * test_import - from records to profiles: order, threads, processes, maps
 */
#include "import_fixture.h"
#include "analysis/profile/mapping.h"
#include "src/engine/comm.h"
#include "tests/run_suite.h"

/*
 * The oracle: the engine itself, fed with the samples as they were generated.
 */
struct oracle {
	uint64_t detections[2]; /* by sharing */
};

static void on_detected(void *ctx, const struct detection *d)
{
	((struct oracle *)ctx)->detections[d->sharing]++;
}

static void on_lost(void *ctx, enum loss_cause cause)
{
	ck_abort_msg("the board lost something");
}

static int by_time(const void *a, const void *b)
{
	const struct import_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

START_TEST(the_engine_sees_the_samples_in_order_of_time)
{
	static const struct comm_sink sink = { on_detected, on_lost };
	struct import_run run = { 0 };
	struct comm_thread thread[2];
	struct import_sample *sorted;
	struct oracle oracle = { { 0 } };
	struct comm comm = { .sink = &sink,
			     .line_bytes = 64,
			     .chunk_bytes = 8,
			     .arm_one_in = 1 };
	uint64_t seen[2] = { 0 };
	void *board;

	if (_i < 2)
		twin_intel(&f, 10 + _i, false);
	else
		twin_amd(&f, 10 + _i);
	import_all();
	import_plan(&im, &run);
	ck_assert_int_eq(
		posix_memalign(&board, 64, board_size(BOARD_SLOTS_MAX)), 0);
	comm.board = board_init(board, BOARD_SLOTS_MAX, 64);
	comm_set_expiry(&comm, run.gap);
	for (uint32_t i = 0; i < 2; i++)
		comm_thread_init(&thread[i], i, &oracle, 1);
	sorted = malloc(im.samples * sizeof(*sorted));
	memcpy(sorted, im.sample, im.samples * sizeof(*sorted));
	qsort(sorted, im.samples, sizeof(*sorted), by_time);
	for (size_t i = 0; i < im.samples; i++) {
		struct access a = { sorted[i].addr, sorted[i].ip,
				    sorted[i].len ? sorted[i].len : 1,
				    sorted[i].access };

		comm_sample(&comm, &thread[sorted[i].tid - TWIN_PID], &a,
			    sorted[i].time, sorted[i].cpu);
	}
	for (size_t i = 0; i < profile.pairs; i++)
		seen[profile.pair[i].sharing] += profile.pair[i].count;
	ck_assert_uint_gt(seen[SHARING_TRUE], 0);
	ck_assert_uint_gt(seen[SHARING_FALSE], 50);
	ck_assert_uint_eq(seen[SHARING_TRUE], oracle.detections[SHARING_TRUE]);
	ck_assert_uint_eq(seen[SHARING_FALSE],
			  oracle.detections[SHARING_FALSE]);
	ck_assert_uint_eq(detections, seen[0] + seen[1]);
	ck_assert_uint_eq(profile.process[0].header.expiry, comm_expiry(&comm));
	ck_assert_uint_eq(profile.process[0].header.watch_expiry,
			  comm_watch_expiry(&comm));
	free(sorted);
	free(board);
}
END_TEST

/*
 * First all records of one processor, then all of the other, must give the same
 * as blocks in turns.
 */
START_TEST(the_order_in_the_file_does_not_matter)
{
	uint64_t first;

	two_events();
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		for (uint64_t i = 0; i < 200; i++)
			store(at(1000 + 100 * i + 50 * cpu, PID + cpu, 0x5000));
	import_all();
	first = detections;
	ck_assert_uint_gt(first, 50);
	teardown();
	setup();
	detections = 0;
	two_events();
	for (uint64_t i = 0; i < 200; i++)
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			store(at(1000 + 100 * i + 50 * cpu, PID + cpu, 0x5000));
	import_all();
	ck_assert_uint_eq(detections, first);
}
END_TEST

START_TEST(bytes_that_differ_are_false_sharing)
{
	two_events();
	for (uint64_t i = 0; i < 100; i++) {
		store(at(1000 + 100 * i, PID, 0x5000));
		store(at(1050 + 100 * i, PID + 1, 0x5008));
		load(at(1060 + 100 * i, PID + 2, 0x9000));
	}
	import_all();
	ck_assert_uint_gt(profile.pairs, 0);
	for (size_t i = 0; i < profile.pairs; i++) {
		ck_assert_int_eq(profile.pair[i].sharing, SHARING_FALSE);
		ck_assert_uint_eq(profile.pair[i].line, 0x5000);
		ck_assert_uint_ne(profile.pair[i].detector, 2);
	}
	ck_assert_uint_eq(profile.threads, 3);
}
END_TEST

static const struct thread_row *row(const char *name, uint32_t tid)
{
	for (size_t i = 0; i < profile.threads; i++)
		if (profile.thread[i].tid == tid &&
		    !strcmp(profile.thread[i].name, name))
			return &profile.thread[i];
	ck_abort_msg("no thread %u %s", tid, name);
	return NULL;
}

START_TEST(threads_have_the_names_of_their_time)
{
	two_events();
	perf_file_comm(&f, PID, PID, "main", true, 10);
	perf_file_task(&f, PERF_RECORD_FORK, PID, PID, PID + 1, PID, 20);
	store(at(30, PID + 1, 0x5000));
	perf_file_comm(&f, PID, PID + 1, "worker", false, 40);
	store(at(50, PID + 1, 0x5000));
	perf_file_task(&f, PERF_RECORD_EXIT, PID, PID, PID + 1, PID, 60);
	/* The tid is used again, by a thread with another name. */
	perf_file_task(&f, PERF_RECORD_FORK, PID, PID, PID + 1, PID, 70);
	perf_file_comm(&f, PID, PID + 1, "second", false, 80);
	store(at(90, PID + 1, 0x5000));
	store(at(91, PID + 1, 0x5000));
	store(at(92, PID + 1, 0x5000));
	store(at(95, PID, 0x5000));
	import_all();
	ck_assert_uint_eq(profile.threads, 3);
	ck_assert_uint_eq(row("worker", PID + 1)->samples[0], 2);
	ck_assert_uint_eq(row("worker", PID + 1)->end_mono, 60);
	ck_assert_uint_eq(row("second", PID + 1)->samples[0], 3);
	ck_assert_uint_eq(row("main", PID)->samples[0], 1);
}
END_TEST

static const char *path_at(const struct process *p, uint64_t addr,
			   uint64_t generation)
{
	const struct cdp_map *m = process_map(p, addr, generation);

	return m ? m->path : "none";
}

START_TEST(exec_begins_another_process_with_maps_of_its_own)
{
	two_events();
	perf_file_comm(&f, PID, PID, "old", true, 10);
	perf_file_map(&f, PID, 0x400000, 0x10000, "/bin/old",
		      PROT_READ | PROT_EXEC, 11);
	store(at(20, PID, 0x5000));
	perf_file_comm(&f, PID, PID, "new", true, 30);
	perf_file_map2(&f, PID, 0x400000, 0x8000, "/bin/new",
		       PROT_READ | PROT_EXEC, NULL, 31);
	store(at(40, PID, 0x5000));
	store(at(41, PID, 0x5000));
	import_all();
	ck_assert_uint_eq(profile.processes, 2);
	ck_assert_str_eq(profile.process[0].header.exe, "/bin/old");
	ck_assert_int_eq(profile.process[0].state, PROCESS_EXECED);
	ck_assert_str_eq(profile.process[1].header.exe, "/bin/new");
	ck_assert_int_eq(profile.process[1].state, PROCESS_ENDED);
	ck_assert_str_eq(path_at(&profile.process[1], 0x40c000, UINT64_MAX),
			 "none");
	ck_assert_uint_eq(row("new", PID)->samples[0], 2);
}
END_TEST

/*
 * perf record starts a program this way: what was before exec is not the
 * program's.
 */
START_TEST(exec_before_any_sample_leaves_nothing_of_the_old_program)
{
	two_events();
	perf_file_comm(&f, PID, PID, "perf", false, 10);
	perf_file_map(&f, PID, 0x400000, 0x4000, "/usr/bin/perf",
		      PROT_READ | PROT_EXEC, 11);
	perf_file_comm(&f, PID, PID, "app", true, 12);
	perf_file_map(&f, PID, 0x400000, 0x2000, "/bin/app",
		      PROT_READ | PROT_EXEC, 13);
	store(at(20, PID, 0x5000));
	import_all();
	ck_assert_uint_eq(profile.processes, 1);
	ck_assert_uint_eq(profile.process[0].maps, 1);
	ck_assert_str_eq(profile.process[0].header.exe, "/bin/app");
	ck_assert_str_eq(row("app", PID)->name, "app");
}
END_TEST

START_TEST(a_child_has_the_maps_that_its_parent_had)
{
	struct gen_sample s;

	two_events();
	perf_file_comm(&f, PID, PID, "parent", true, 10);
	perf_file_map(&f, PID, 0x400000, 0x2000, "/bin/parent",
		      PROT_READ | PROT_EXEC, 11);
	perf_file_task(&f, PERF_RECORD_FORK, 200, PID, 200, PID, 20);
	perf_file_map(&f, PID, 0x500000, 0x1000, "/lib/later",
		      PROT_READ | PROT_EXEC, 21);
	perf_file_map(&f, 200, 0x600000, 0x1000, "/lib/own",
		      PROT_READ | PROT_EXEC, 22);
	/* The child does not depend on what the parent becomes. */
	if (_i)
		perf_file_comm(&f, PID, PID, "parent", true, 23);
	for (uint64_t addr = 0x500000; addr <= 0x600000; addr += 0x100000) {
		store(at(30, PID, addr));
		s = at(31, 200, addr);
		s.pid = 200;
		store(s);
	}
	import_all();
	ck_assert_uint_eq(profile.processes, 2);
	ck_assert_uint_eq(profile.process[1].header.pid, 200);
	ck_assert_uint_eq(profile.process[1].header.parent_pid, PID);
	ck_assert_str_eq(path_at(&profile.process[1], 0x400000, 2),
			 "/bin/parent");
	ck_assert_str_eq(path_at(&profile.process[1], 0x600000, 2), "/lib/own");
	ck_assert_str_eq(path_at(&profile.process[1], 0x500000, 2), "none");
	ck_assert_str_eq(path_at(&profile.process[0], 0x500000, 2),
			 _i ? "none" : "/lib/later");
	/* The same line address in two processes is two lines. */
	ck_assert_uint_eq(profile.pairs, 0);
}
END_TEST

/* A mapping that replaces another is seen by later samples only. */
START_TEST(samples_know_the_maps_of_their_time)
{
	two_events();
	perf_file_map(&f, PID, 0x400000, 0x2000, "/lib/first",
		      PROT_READ | PROT_EXEC, 11);
	store(at(20, PID, 0x5000));
	perf_file_map(&f, PID, 0x400000, 0x2000, "/lib/second",
		      PROT_READ | PROT_EXEC, 21);
	store(at(30, PID, 0x6000));
	import_all();
	for (size_t i = 0; i < profile.process[0].memories; i++) {
		const struct cdp_memory *m = &profile.process[0].memory[i];

		if (m->kind != CDP_MEMORY_LINE)
			continue;
		ck_assert_str_eq(path_at(&profile.process[0], 0x400000,
					 m->tally.map_generation),
				 m->tally.address == 0x5000 ? "/lib/first"
							    : "/lib/second");
	}
}
END_TEST

START_TEST(build_ids_come_with_maps_or_in_a_list)
{
	uint8_t listed[20] = { 1, 2, 3 }, own[20] = { 4, 5, 6 };
	const struct cdp_map *m;

	two_events();
	perf_file_build_id(&f, "/bin/listed", listed, 20);
	perf_file_build_id(&f, "/bin/short", listed, 8);
	perf_file_build_id(&f, "/bin/both", listed, 20);
	perf_file_map(&f, PID, 0x10000, 0x1000, "/bin/listed", PROT_EXEC, 1);
	perf_file_map(&f, PID, 0x20000, 0x1000, "/bin/short", PROT_EXEC, 2);
	perf_file_map2(&f, PID, 0x30000, 0x1000, "/bin/both", PROT_EXEC, own,
		       3);
	perf_file_map2(&f, PID, 0x40000, 0x1000, "/bin/none", PROT_EXEC, NULL,
		       4);
	for (uint64_t addr = 0x10000; addr <= 0x40000; addr += 0x10000)
		store(at(20, PID, addr));
	import_all();
	m = process_map(&profile.process[0], 0x10000, 9);
	ck_assert_uint_eq(m->build_id_bytes, 20);
	ck_assert_mem_eq(m->build_id, listed, 20);
	m = process_map(&profile.process[0], 0x20000, 9);
	ck_assert_uint_eq(m->build_id_bytes, 8);
	m = process_map(&profile.process[0], 0x30000, 9);
	ck_assert_mem_eq(m->build_id, own, 20);
	ck_assert_uint_eq(m->inode, 0);
	m = process_map(&profile.process[0], 0x40000, 9);
	ck_assert_uint_eq(m->build_id_bytes, 0);
	ck_assert_uint_eq(m->inode, 4711);
}
END_TEST

/*
 * All mappings of a needed file are kept, since offsets count from the first.
 */
START_TEST(maps_that_no_sample_needs_are_left_out)
{
	two_events();
	perf_file_map(&f, PID, 0x400000, 0x1000, "/bin/app", PROT_READ, 1);
	perf_file_map(&f, PID, 0x401000, 0x1000, "/bin/app",
		      PROT_READ | PROT_EXEC, 2);
	for (uint64_t i = 0; i < 100; i++)
		perf_file_map(&f, PID, 0x10000000 + i * 0x1000, 0x1000,
			      "/lib/unused", PROT_READ | PROT_EXEC, 3);
	perf_file_map(&f, PID, 0x5000, 0x1000, "//anon", PROT_READ | PROT_WRITE,
		      4);
	store(at(20, PID, 0x5000));
	import_all();
	ck_assert_uint_eq(profile.process[0].maps, 3);
	ck_assert_str_eq(path_at(&profile.process[0], 0x400000, UINT64_MAX),
			 "/bin/app");
	ck_assert_str_eq(path_at(&profile.process[0], 0x5000, UINT64_MAX), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import");
	TCase *tc = tcase_create("import");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, the_engine_sees_the_samples_in_order_of_time, 0,
			    4);
	tcase_add_test(tc, the_order_in_the_file_does_not_matter);
	tcase_add_test(tc, bytes_that_differ_are_false_sharing);
	tcase_add_test(tc, threads_have_the_names_of_their_time);
	tcase_add_test(tc, exec_begins_another_process_with_maps_of_its_own);
	tcase_add_test(
		tc, exec_before_any_sample_leaves_nothing_of_the_old_program);
	tcase_add_loop_test(tc, a_child_has_the_maps_that_its_parent_had, 0, 2);
	tcase_add_test(tc, samples_know_the_maps_of_their_time);
	tcase_add_test(tc, build_ids_come_with_maps_or_in_a_list);
	tcase_add_test(tc, maps_that_no_sample_needs_are_left_out);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
