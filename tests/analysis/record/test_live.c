/* SPDX-License-Identifier: MIT */
/*
 * test_live - what the progress line of record says
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/record/live.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;

static void says(const char *words)
{
	char *text = live_text(fake.dirfd, UINT64_C(2500000000));

	ASSERT_SAYS(text, words);
	free(text);
}

START_TEST(all_files_count_and_what_is_no_profile_does_not)
{
	int fd;

	fake_begin(&fake);
	says("2.5 s: 0 samples, 0 detections");
	fake_thread(&fake, "main"); /* 480 uniform samples and 470 stalled */
	fake_thread(&fake, "other")->state = CDP_THREAD_LIVE;
	fake_pair(&fake, 0, 1, 0x1000, 0x1008, 1);
	says("2.5 s: 1,900 samples, 1 detection");
	fake_pair(&fake, 1, 0, 0x2000, 0x2000, 7);
	fake_next(&fake, 4243);
	fake_thread(&fake, "main");
	fake_pair(&fake, 0, 1, 0x1000, 0x1008, 2);
	fake_pair(&fake, 0, 1, 0x3000, 0x3008, 5)->by = DETECTED_BY_LOOK;
	fd = openat(fake.dirfd, "empty.cdp", O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	says("2.5 s: 2,850 samples, 10 detections");
	fake_end(&fake);
}
END_TEST

/* Tests run without a terminal: then nothing is shown. */
START_TEST(without_a_terminal_there_is_no_line)
{
	struct run run = { 0 };
	struct live p;

	fake_begin(&fake);
	setenv("COMDET_PROGRESS", "1", 1);
	ck_assert_int_ge(dup2(open("/dev/null", O_WRONLY), STDERR_FILENO), 0);
	live_begin(&p, &run, fake.dirfd);
	ck_assert_ptr_null(run.tick);
	live_end(&run);
	fake_end(&fake);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("live");
	TCase *c = tcase_create("live");

	tcase_add_checked_fixture(c, sandbox_setup, sandbox_teardown);
	tcase_add_test(c, all_files_count_and_what_is_no_profile_does_not);
	tcase_add_test(c, without_a_terminal_there_is_no_line);
	suite_add_tcase(s, c);
	return run_suite(s);
}
