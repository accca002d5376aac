/* SPDX-License-Identifier: MIT */
/*
 * test_ending - whose file is told how the program ended
 */
#include <stdint.h>
#include <string.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_suite.h"
#include "analysis/record/ending.h"

enum {
	PID = 4242,
	EXITED_7 = 7 << 8, /* as waitpid gives it */
	KILLED = 9,
};

static const char run_id[] = "0123456789abcdef";
static struct fake fake;

/* A file in @state, told that the process of @r ended; its header. */
static struct cdp_header told(uint32_t state, struct run r)
{
	struct cdp_header h;
	int fd;

	fake_begin(&fake)->state = state;
	fake.store.header->cpu_ns = 5;
	fd = openat(fake.dirfd, fake.file, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ending_note(&r, fake.dirfd);
	ck_assert_int_eq(pread(fd, &h, sizeof(h), 0), sizeof(h));
	close(fd);
	fake_end(&fake);
	return h;
}

static struct run run_of(int status)
{
	return (struct run){ .pid = PID,
			     .run_id = run_id,
			     .wait_status = status,
			     .cpu_ns = 1000 };
}

START_TEST(a_file_that_is_still_open_gets_the_end_and_the_time)
{
	struct cdp_header h = told(CDP_RUNNING, run_of(_i ? KILLED : EXITED_7));

	ck_assert_uint_eq(h.end_how, _i ? CDP_END_SIGNAL : CDP_END_EXIT);
	ck_assert_uint_eq(h.end_value, _i ? 9 : 7);
	ck_assert_uint_eq(h.cpu_ns, 1000);
}
END_TEST

START_TEST(a_file_that_was_closed_at_the_end_gets_the_signal_alone)
{
	struct cdp_header h = told(CDP_ENDED, run_of(_i ? KILLED : EXITED_7));

	ck_assert_uint_eq(h.end_how, _i ? CDP_END_SIGNAL : CDP_END_UNKNOWN);
	ck_assert_uint_eq(h.end_value, _i ? 9 : 0);
	ck_assert_uint_eq(h.cpu_ns, 5);
}
END_TEST

START_TEST(files_of_others_are_left_alone)
{
	static const uint32_t states[] = { CDP_RUNNING, CDP_RUNNING, CDP_EXECED,
					   CDP_STOPPED };
	struct run r = run_of(KILLED);
	struct cdp_header h;

	if (_i == 0)
		r.pid++;
	if (_i == 1)
		r.run_id = "another";
	h = told(states[_i], r);
	ck_assert_uint_eq(h.end_how, CDP_END_UNKNOWN);
	ck_assert_uint_eq(h.cpu_ns, 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ending");
	TCase *c = tcase_create("ending");

	tcase_add_checked_fixture(c, sandbox_setup, sandbox_teardown);
	tcase_add_loop_test(
		c, a_file_that_is_still_open_gets_the_end_and_the_time, 0, 2);
	tcase_add_loop_test(
		c, a_file_that_was_closed_at_the_end_gets_the_signal_alone, 0,
		2);
	tcase_add_loop_test(c, files_of_others_are_left_alone, 0, 4);
	suite_add_tcase(s, c);
	return run_suite(s);
}
