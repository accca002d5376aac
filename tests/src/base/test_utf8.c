/* SPDX-License-Identifier: MIT */
/*
 * test_utf8 - what a terminal may see
 */
#include <check.h>
#include <string.h>

#include "src/base/utf8.h"
#include "tests/run_suite.h"

static const struct {
	const char *bytes;
	size_t n;
	uint32_t point;
} characters[] = {
	{ "a", 1, 'a' },
	{ "\303\251", 2, 0xe9 },
	{ "\342\202\254", 3, 0x20ac },
	{ "\360\237\230\200", 4, 0x1f600 },
	{ "\300\200", 0, 0 },         /* too long */
	{ "\355\240\200", 0, 0 },     /* half of a pair */
	{ "\364\220\200\200", 0, 0 }, /* above the last */
	{ "\342\202", 0, 0 },         /* cut */
	{ "\233", 0, 0 },
};

START_TEST(characters_are_decoded_and_nothing_else)
{
	uint32_t point = 0;

	ck_assert_int_eq(
		utf8_next((const unsigned char *)characters[_i].bytes, &point),
		characters[_i].n);
	if (characters[_i].n)
		ck_assert_int_eq(point, characters[_i].point);
}
END_TEST

static const uint32_t unsafe[] = {
	0,      0x1b,   '\n',   0x7f,   0x80,   0x9b,    0x9f,
	0xad,   0x61c,  0x200b, 0x200f, 0x2028, 0x202a,  0x202e,
	0x2060, 0x2066, 0x2069, 0xfeff, 0xfffb, 0xe0001,
};

START_TEST(controls_and_marks_of_direction_are_not_safe)
{
	ck_assert(!utf8_is_safe(unsafe[_i]));
}
END_TEST

START_TEST(letters_are_safe)
{
	ck_assert(utf8_is_safe(' ') && utf8_is_safe('~') &&
		  utf8_is_safe(0xa0) && utf8_is_safe(0xe9) &&
		  utf8_is_safe(0x5d0) && utf8_is_safe(0x1f600));
}
END_TEST

START_TEST(a_line_keeps_its_length_and_its_letters)
{
	char text[] = "\303\251\033[1m\302\233\342\200\256\377.";

	utf8_blot(text);
	ck_assert_str_eq(text, "\303\251?[1m??????.");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("utf8");
	TCase *t = tcase_create("utf8");

	tcase_add_loop_test(t, characters_are_decoded_and_nothing_else, 0,
			    sizeof(characters) / sizeof(characters[0]));
	tcase_add_loop_test(t, controls_and_marks_of_direction_are_not_safe, 0,
			    sizeof(unsafe) / sizeof(unsafe[0]));
	tcase_add_test(t, letters_are_safe);
	tcase_add_test(t, a_line_keeps_its_length_and_its_letters);
	suite_add_tcase(s, t);
	return run_suite(s);
}
