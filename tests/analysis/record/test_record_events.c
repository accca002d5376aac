/* SPDX-License-Identifier: MIT */
/*
 * test_record_events - record turns names of events into codes
 *
 * libpfm4 is made to believe in a Skylake server.
 */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/doctor/pmu_probe.h"
#include "analysis/record/events.h"
#include "analysis/record/options.h"
#include "tests/fake/fake_kernel.h"
#include "tests/run_suite.h"

static struct fake_kernel *k;

static void boot(enum fake_model model)
{
	k = fake_kernel_new(model);
	pmu_probe_kernel = &k->calls;
	unsetenv("COMDET_EVENT");
}

static void shut_down(void)
{
	fake_kernel_free(k);
}

START_TEST(names_and_codes_become_codes)
{
	boot(FAKE_SKYLAKE);
	setenv("COMDET_EVENT", "mem_load_retired.l3_miss,stores=82d0", 1);
	record_resolve_events("-e");
	ck_assert_str_eq(getenv("COMDET_EVENT"),
			 "loads=0x20d1:mem_load_retired.l3_miss,"
			 "stores=0x82d0");
	/* Once more, as a program that it starts would. */
	record_resolve_events("COMDET_EVENT");
	ck_assert_str_eq(getenv("COMDET_EVENT"),
			 "loads=0x20d1:mem_load_retired.l3_miss,"
			 "stores=0x82d0");
}
END_TEST

START_TEST(an_unknown_processor_gets_what_libpfm4_knows)
{
	char reason[300], advice[300];

	boot(FAKE_UNKNOWN_INTEL);
	ck_assert(pmu_probe(PMU_PEBS, reason, sizeof(reason), advice,
			    sizeof(advice)));
	record_events_for_unknown();
	ck_assert_str_eq(getenv("COMDET_EVENT"),
			 "loads=0x81d0:MEM_INST_RETIRED:ALL_LOADS,"
			 "stores=0x82d0:MEM_INST_RETIRED:ALL_STORES");
}
END_TEST

START_TEST(a_known_processor_and_the_users_wish_stay)
{
	boot(FAKE_SKYLAKE);
	record_events_for_unknown();
	ck_assert_ptr_null(getenv("COMDET_EVENT"));
	shut_down();
	boot(FAKE_UNKNOWN_INTEL);
	setenv("COMDET_EVENT", "loads=1,stores=2", 1);
	record_events_for_unknown();
	ck_assert_str_eq(getenv("COMDET_EVENT"), "loads=1,stores=2");
}
END_TEST

/* What record says of -s ibs, and its status; "" and 0 if it takes it. */
static int said_of_ibs(bool outside, char *said, size_t size)
{
	char *argv[] = { "record", "-s", "ibs", outside ? "--outside" : "--",
			 "true",   NULL };
	int fd[2], status;
	size_t got = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		dup2(fd[1], 2);
		record_options(5, argv, "");
		_exit(0);
	}
	close(fd[1]);
	while ((n = read(fd[0], said + got, size - 1 - got)) > 0)
		got += (size_t)n;
	said[got] = '\0';
	close(fd[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(from_outside_ibs_needs_no_filter)
{
	char said[1000];

	boot(FAKE_ZEN2);
	fake_kernel_boot(k, "6.5.0");
	k->paranoid = 1;
	ck_assert_int_ne(said_of_ibs(false, said, sizeof(said)), 0);
	ck_assert_msg(strstr(said, "interrupt the program's system calls; use "
				   "Linux 6.15 or later; with --outside,"),
		      "%s", said);
	ck_assert_msg(!said_of_ibs(true, said, sizeof(said)), "%s", said);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(from_outside_too_ibs_needs_threads)
{
	char said[1000];

	boot(FAKE_ZEN2);
	fake_kernel_boot(k, "6.1.0");
	k->paranoid = 1;
	ck_assert_int_ne(said_of_ibs(false, said, sizeof(said)), 0);
	ck_assert_msg(!strstr(said, "--outside"), "%s", said);
	ck_assert_int_ne(said_of_ibs(true, said, sizeof(said)), 0);
	ck_assert_msg(strstr(said, "not to a thread; use Linux"), "%s", said);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("record_events");
	TCase *tc = tcase_create("record_events");

	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	tcase_add_checked_fixture(tc, NULL, shut_down);
	tcase_add_test(tc, names_and_codes_become_codes);
	tcase_add_test(tc, an_unknown_processor_gets_what_libpfm4_knows);
	tcase_add_test(tc, a_known_processor_and_the_users_wish_stay);
	tcase_add_test(tc, from_outside_ibs_needs_no_filter);
	tcase_add_test(tc, from_outside_too_ibs_needs_threads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
