/* SPDX-License-Identifier: MIT */
/*
 * test_processor - when the threads of an emulated program cease to share one
 * processor
 *
 * --wrap counts the paths that are read, lets the program use two processors
 * on any machine, binds no thread, and stops where threads are set free.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/emu/guest.h"
#include "preload/emu/processor.h"
#include "preload/emu/state.h"
#include "tests/run_suite.h"

enum {
	CALLS = 1000,
	MOMENT_US = 100000,
	THREADS = 2,
};

static _Atomic int paths;
static atomic_bool stops, sets_free, returned, returned_before;

bool __real_emu_guest_read_string(uint64_t addr, char *to, size_t size);
bool __wrap_emu_guest_read_string(uint64_t addr, char *to, size_t size);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getcpu(void);
int __wrap_sched_setscheduler(pid_t pid, int policy,
			      const struct sched_param *param);
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);

bool __wrap_emu_guest_read_string(uint64_t addr, char *to, size_t size)
{
	paths++;
	return __real_emu_guest_read_string(addr, to, size);
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	CPU_ZERO_S(size, set);
	CPU_SET_S(0, size, set);
	CPU_SET_S(1, size, set);
	return 0;
}

int __wrap_sched_getcpu(void)
{
	return 0;
}

int __wrap_sched_setscheduler(pid_t pid, int policy,
			      const struct sched_param *param)
{
	return 0;
}

/* The first thread is set free: wait a moment for a call that comes too soon.
 */
int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	if (!stops || sets_free)
		return 0;
	sets_free = true;
	for (int us = 0; us < MOMENT_US && !returned; us += 100)
		usleep(100);
	returned_before = returned;
	return 0;
}

static void begin(void)
{
	emu.config.slice = 100;
	emu_processor_init();
	paths = 0;
}

static void call(int64_t number, uint64_t arg0, uint64_t arg1)
{
	emu_processor_call(number, (uint64_t[]){ arg0, arg1, 0, 0, 0, 0 });
	emu_processor_return(number);
}

static void open_file(const char *path)
{
	call(SYS_openat, 0, (uintptr_t)path);
}

START_TEST(no_path_is_read_once_the_program_looks_after_it_itself)
{
	static const int64_t ends[] = { SYS_sched_setaffinity,
					SYS_sched_setscheduler, SYS_getcpu };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		begin();
		open_file("/etc/passwd");
		call(SYS_open, (uintptr_t) "/etc/passwd", 0);
		ck_assert_int_eq(paths, 2);
		call(ends[i], 0, 0);
		open_file("/etc/passwd");
		ck_assert_int_eq(paths, 2);
	}
}
END_TEST

START_TEST(no_path_is_read_after_one_that_tells)
{
	open_file("/proc/self/stat");
	open_file("/proc/self/status");
	ck_assert_int_eq(paths, 2);
	open_file("/proc/self/status");
	ck_assert_int_eq(paths, 2);
}
END_TEST

/* A forked child has made no call yet. */
START_TEST(a_child_has_its_paths_read_again)
{
	call(SYS_getcpu, 0, 0);
	emu_processor_init();
	open_file("/etc/passwd");
	ck_assert_int_eq(paths, 1);
}
END_TEST

static void *open_files(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		open_file("/etc/passwd");
	return NULL;
}

/* ThreadSanitizer sees here whether a thread looks without an order. */
START_TEST(threads_may_open_files_while_one_ends_it)
{
	pthread_t thread[THREADS];
	int seen;

	for (int i = 0; i < THREADS; i++)
		ck_assert(!pthread_create(&thread[i], NULL, open_files, NULL));
	call(SYS_getcpu, 0, 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert(!pthread_join(thread[i], NULL));
	seen = paths;
	open_file("/etc/passwd");
	ck_assert_int_eq(paths, seen);
}
END_TEST

static void *set_all_free(void *arg)
{
	call(SYS_sched_setaffinity, 0, 0);
	return NULL;
}

/* Otherwise it would bind itself, and then be set free. */
START_TEST(a_thread_binds_itself_only_after_all_are_free)
{
	pthread_t first;

	emu_processor_share();
	stops = true;
	ck_assert(!pthread_create(&first, NULL, set_all_free, NULL));
	while (!sets_free)
		usleep(100);
	call(SYS_sched_setaffinity, 0, 0);
	returned = true;
	ck_assert(!pthread_join(first, NULL));
	ck_assert(!returned_before);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("processor");
	TCase *t = tcase_create("processor");

	tcase_add_checked_fixture(t, begin, NULL);
	tcase_add_test(t,
		       no_path_is_read_once_the_program_looks_after_it_itself);
	tcase_add_test(t, no_path_is_read_after_one_that_tells);
	tcase_add_test(t, a_child_has_its_paths_read_again);
	tcase_add_test(t, threads_may_open_files_while_one_ends_it);
	tcase_add_test(t, a_thread_binds_itself_only_after_all_are_free);
	suite_add_tcase(s, t);
	return run_suite(s);
}
