/* SPDX-License-Identifier: MIT */
/*
 * test_control - commands of another program, whole, in parts and wrong
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/control.h"
#include "tests/run_suite.h"

static struct control control;
static int commands, answers; /* the other program's ends */

static void set_up(void)
{
	int to_us[2], to_them[2];
	char spec[64];

	ck_assert(!pipe(to_us) && !pipe(to_them));
	snprintf(spec, sizeof(spec), "fd:%d,%d", to_us[0], to_them[1]);
	control_open(&control, "--control", spec, 0);
	commands = to_us[1];
	answers = to_them[0];
	ck_assert(!fcntl(answers, F_SETFL, O_NONBLOCK));
}

static void send_text(const char *text, size_t n)
{
	ck_assert_int_eq(write(commands, text, n), n);
}

static const struct {
	const char *text;
	size_t bytes;
	enum control_command command[4];
} rows[] = {
	{ "enable\n", 7, { CONTROL_ENABLE } },
	{ "disable\n", 8, { CONTROL_DISABLE } },
	{ "ping\nstop\n", 10, { CONTROL_PING, CONTROL_STOP } },
	{ "enable\0disable\0", 15, { CONTROL_ENABLE, CONTROL_DISABLE } },
	{ "enable", 6, { CONTROL_NOTHING } },
	{ "\n\nping\n", 7, { CONTROL_PING } },
	{ "Enable\nenable \n enable\nstop\n", 28, { CONTROL_STOP } },
	{ "\x1b[2J\xff\n\nstop\n", 12, { CONTROL_STOP } },
};

START_TEST(commands_are_lines)
{
	send_text(rows[_i].text, rows[_i].bytes);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(control_next(&control), rows[_i].command[i]);
		if (!rows[_i].command[i])
			break;
	}
}
END_TEST

START_TEST(a_command_may_come_in_parts)
{
	send_text("ena", 3);
	ck_assert_int_eq(control_next(&control), CONTROL_NOTHING);
	send_text("ble\npi", 6);
	ck_assert_int_eq(control_next(&control), CONTROL_ENABLE);
	ck_assert_int_eq(control_next(&control), CONTROL_NOTHING);
	send_text("ng\n", 3);
	ck_assert_int_eq(control_next(&control), CONTROL_PING);
}
END_TEST

/* Neither its beginning nor its end is a command. */
START_TEST(a_long_line_is_one_wrong_command)
{
	char line[5000];

	memset(line, 'x', sizeof(line));
	memcpy(line, "enable", 6);
	memcpy(line + sizeof(line) - 7, "enable\n", 7);
	send_text(line, sizeof(line));
	send_text("stop\n", 5);
	ck_assert_int_eq(control_next(&control), CONTROL_STOP);
}
END_TEST

START_TEST(the_end_of_the_other_program_is_told_after_its_commands)
{
	send_text("disable\n", 8);
	close(commands);
	ck_assert_int_eq(control_next(&control), CONTROL_DISABLE);
	ck_assert_int_eq(control_next(&control), CONTROL_CLOSED);
	ck_assert_int_eq(control_next(&control), CONTROL_CLOSED);
}
END_TEST

START_TEST(an_answer_is_a_line_and_never_waited_for)
{
	char text[8] = "";

	control_answer(&control);
	ck_assert_int_eq(read(answers, text, sizeof(text)), 4);
	ck_assert_str_eq(text, "ack\n");
	for (int i = 0; i < 100000; i++)
		control_answer(&control);
}
END_TEST

START_TEST(nobody_needs_to_read_an_answer)
{
	close(answers);
	control_answer(&control);
	control_close(&control);
	control_answer(&control);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("control");
	TCase *tc = tcase_create("control");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_loop_test(tc, commands_are_lines, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, a_command_may_come_in_parts);
	tcase_add_test(tc, a_long_line_is_one_wrong_command);
	tcase_add_test(tc,
		       the_end_of_the_other_program_is_told_after_its_commands);
	tcase_add_test(tc, an_answer_is_a_line_and_never_waited_for);
	tcase_add_test(tc, nobody_needs_to_read_an_answer);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
