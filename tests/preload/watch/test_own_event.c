/* SPDX-License-Identifier: MIT */
/*
 * Perf events among the descriptors of an application that closes what it does
 * not know. A clock of CPU time that never rings stands for all of them.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "preload/watch/own_event.h"
#include "tests/run_suite.h"

enum {
	BASE = 100,
	SKIPPED = 77
};

static struct perf_event_attr clock_attr(void)
{
	struct perf_event_attr a = own_event_attr(PERF_TYPE_SOFTWARE, 0);

	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = 1ull << 62;
	return a;
}

static int open_clock(struct own_event *e, int base)
{
	struct perf_event_attr a = clock_attr();

	return own_event_open(e, &a, -1, base);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The application's file where the event's descriptor is. */
static void put_in_its_place(int fd, int other)
{
	ck_assert_int_eq(dup2(other, fd), fd);
}

START_TEST(opened_event_has_one_descriptor_above_the_base)
{
	int before = open_descriptors();
	struct own_event e;

	ck_assert_int_eq(open_clock(&e, BASE), 0);
	ck_assert_int_ge(e.fd, BASE);
	ck_assert_int_eq(open_descriptors(), before + 1);
	ck_assert_int_eq(fcntl(e.fd, F_GETFD), FD_CLOEXEC);
	ck_assert(own_event_is_open(&e));
	ck_assert(!e.on);
}
END_TEST

START_TEST(closed_event_leaves_no_descriptor)
{
	int before = open_descriptors();
	struct own_event e;

	ck_assert_int_eq(open_clock(&e, BASE), 0);
	own_event_close(&e);
	ck_assert_int_eq(e.fd, -1);
	ck_assert_int_eq(open_descriptors(), before);
	ck_assert(!own_event_is_open(&e));
	own_event_close(&e); /* once more does no harm */
	ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(file_of_the_application_in_its_place_stays_open)
{
	int null = open("/dev/null", O_RDWR);
	struct own_event e;
	int fd;

	ck_assert_int_ge(null, 0);
	ck_assert_int_eq(open_clock(&e, BASE), 0);
	fd = e.fd;
	put_in_its_place(fd, null);
	ck_assert(!own_event_is_open(&e));
	own_event_close(&e);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	ck_assert_int_eq(e.fd, -1);
}
END_TEST

START_TEST(event_of_the_application_in_its_place_stays_open)
{
	struct own_event e, other;
	int fd;

	ck_assert_int_eq(open_clock(&e, BASE), 0);
	ck_assert_int_eq(open_clock(&other, BASE), 0);
	fd = e.fd;
	put_in_its_place(fd, other.fd);
	ck_assert(!own_event_is_open(&e));
	own_event_close(&e);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	ck_assert(own_event_is_open(&other));
}
END_TEST

START_TEST(no_number_left_above_the_base_is_emfile)
{
	struct rlimit limit = { BASE, BASE };
	int before = open_descriptors();
	struct own_event e;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(open_clock(&e, BASE), -EMFILE);
	ck_assert_int_eq(e.fd, -1);
	ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(event_that_the_kernel_refuses_has_no_descriptor)
{
	struct perf_event_attr a = clock_attr();
	int before = open_descriptors();
	struct own_event e;

	a.type = UINT32_MAX;
	ck_assert_int_lt(own_event_open(&e, &a, -1, BASE), 0);
	ck_assert_int_eq(e.fd, -1);
	ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(change_that_the_kernel_refuses_leaves_it_off)
{
	struct perf_event_attr a = clock_attr();
	struct own_event e;

	ck_assert_int_eq(open_clock(&e, BASE), 0);
	a.type = PERF_TYPE_BREAKPOINT; /* a clock never becomes one */
	ck_assert_int_lt(own_event_set(&e, &a), 0);
	ck_assert(!e.on);
	own_event_off(&e);
	ck_assert(own_event_is_open(&e));
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("own_event");
	TCase *t = tcase_create("descriptors");

	tcase_add_test(t, opened_event_has_one_descriptor_above_the_base);
	tcase_add_test(t, closed_event_leaves_no_descriptor);
	tcase_add_test(t, file_of_the_application_in_its_place_stays_open);
	tcase_add_test(t, event_of_the_application_in_its_place_stays_open);
	tcase_add_test(t, no_number_left_above_the_base_is_emfile);
	tcase_add_test(t, event_that_the_kernel_refuses_has_no_descriptor);
	tcase_add_test(t, change_that_the_kernel_refuses_leaves_it_off);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	struct own_event e;
	int r = open_clock(&e, BASE);

	if (r) {
		printf("no perf event can be opened: %s\n", strerror(-r));
		return SKIPPED;
	}
	own_event_close(&e);
	return run_suite(suite());
}
