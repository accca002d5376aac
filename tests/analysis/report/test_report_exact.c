/* SPDX-License-Identifier: MIT */
/*
 * test_report_exact - lines of exact counts are named by the bytes accessed
 *
 * The variables are this program's own, several of them on one line.
 */
#include <jansson.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

__asm__(".pushsection .data\n.balign 64\n"
	".globl first_word\n.type first_word, @object\n"
	".size first_word, 8\nfirst_word: .quad 1\n"
	".globl second_word\n.type second_word, @object\n"
	".size second_word, 8\nsecond_word: .quad 1\n"
	".globl third_word\n.type third_word, @object\n"
	".size third_word, 8\nthird_word: .quad 1\n"
	".globl fourth_word\n.type fourth_word, @object\n"
	".size fourth_word, 8\nfourth_word: .quad 1\n"
	".globl fifth_word\n.type fifth_word, @object\n"
	".size fifth_word, 32\nfifth_word: .quad 1, 2, 3, 4\n"
	".popsection");
extern char first_word[];

static struct fake fake;

static void put(const struct cdp_transfer *record)
{
	struct store_writer writer = { .section = CDP_TRANSFERS };
	struct cdp_transfer *t = store_record(&fake.store, &writer);

	ck_assert_ptr_nonnull(t);
	*t = *record;
	store_commit(&writer);
}

static void put_line(uint64_t line, uint64_t transfers, uint64_t bytes)
{
	put(&(struct cdp_transfer){
		.kind = CDP_EXACT_LINE,
		.value = { line, transfers, 0, 0, 0, bytes },
	});
}

static void begin(void)
{
	fake_begin(&fake);
	fake_own_maps(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
}

static char *text_of_report(void)
{
	struct verb v = VERB(cmd_report, "report", fake.dir);

	ck_assert_msg(v.status == 0, "status %d: %s", v.status, v.err);
	free(v.err);
	return v.out;
}

/* Accessed bytes, and the names that the line then gets. */
static const struct {
	uint64_t bytes;
	const char *object; /* the first of them */
	size_t objects;
	const char *text;
} lines[] = {
	{ 0, "first_word", 1, "first_word\n" }, /* unknown: the start */
	{ 0xff, "first_word", 1, "first_word\n" },
	{ 0xff00, "second_word", 1, "second_word\n" },
	{ 0xf000, "second_word+4", 1, "second_word+4\n" },
	{ 0xff00ff, "first_word", 2, "first_word, third_word\n" },
	{ 0x1800, "second_word+3", 1, "second_word+3\n" },
	{ 0x18000, "second_word+7", 2, "second_word+7, third_word\n" },
	{ UINT64_MAX, "first_word", 5, "first_word, second_word,\n" },
	{ 1ull << 63, "fifth_word+31", 1, "fifth_word+31\n" },
};

START_TEST(line_is_named_by_the_bytes_that_were_accessed)
{
	const json_t *objects;
	char *text;
	json_t *j;

	begin();
	put_line((uintptr_t)first_word, 10, lines[_i].bytes);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "exact.lines.0.object"), lines[_i].object);
	objects = at(j, "exact.lines.0.objects");
	ck_assert_uint_eq(json_array_size(objects), lines[_i].objects);
	ck_assert_str_eq(json_string_value(json_array_get(objects, 0)),
			 lines[_i].object);
	json_decref(j);
	text = text_of_report();
	ck_assert_msg(strstr(text, lines[_i].text), "%s", text);
	free(text);
}
END_TEST

START_TEST(more_variables_than_there_is_room_for_end_in_dots)
{
	char *text;

	begin();
	put_line((uintptr_t)first_word, 10, UINT64_MAX);
	fake_end(&fake);
	text = text_of_report();
	ck_assert_msg(strstr(text, "fourth_word, ...\n"), "%s", text);
	free(text);
}
END_TEST

START_TEST(memory_without_variables_is_named_once)
{
	json_t *j;

	begin();
	fake_map(&fake, 0x10000, 0x11000, 0, 3, "[heap]");
	put_line(0x10040, 10, 0xf0f0f0f0f0f0f0f0);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "exact.lines.0.object"), "heap");
	ck_assert_uint_eq(json_array_size(at(j, "exact.lines.0.objects")), 1);
	json_decref(j);
}
END_TEST

START_TEST(line_at_the_end_of_memory_is_named)
{
	json_t *j;

	begin();
	put_line(UINT64_MAX - 63, 10, UINT64_MAX);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "exact.lines.0.objects")), 1);
	json_decref(j);
}
END_TEST

static const char counted[] = "(each one counted)";

START_TEST(the_answer_begins_with_what_was_counted)
{
	char *text;

	begin();
	put(&(struct cdp_transfer){
		.kind = CDP_EXACT_CELL, .a = 0, .b = 1, .value = { 4, 1 } });
	put(&(struct cdp_transfer){
		.kind = CDP_EXACT_CELL, .a = 1, .b = 0, .value = { 1, 0 } });
	fake_end(&fake);
	text = text_of_report();
	ck_assert_ptr_eq(strstr(text, "Cache lines were moved between threads "
				      "5 times (each one counted), 20 % of"),
			 text);
	free(text);
}
END_TEST

static void put_avoidable(uint64_t line, uint64_t avoids, uint64_t contended,
			  uint64_t turns, uint64_t groups)
{
	put(&(struct cdp_transfer){
		.kind = CDP_AVOIDABLE_LINE,
		.a = CDP_AVOIDABLE_COUNTED,
		.value = { line, avoids + 1, avoids, contended, turns, groups },
	});
}

/* A line of 100 transfers, 30 of them avoidable; 10 more lie elsewhere. */
static void put_a_judged_line(uint64_t contended)
{
	begin();
	put(&(struct cdp_transfer){ .kind = CDP_EXACT_CELL,
				    .a = 0,
				    .b = 1,
				    .value = { 110, 83, 31 } });
	put_line((uintptr_t)first_word, 100, 0xffff);
	put_avoidable((uintptr_t)first_word, 30, contended, 500, 2);
	for (uint32_t i = 0; i < 3; i++) /* the last is of an earlier writing */
		put(&(struct cdp_transfer){ .kind = CDP_AVOIDABLE_GROUP,
					    .a = CDP_AVOIDABLE_COUNTED,
					    .b = i,
					    .value = { (uintptr_t)first_word,
						       i ? 0xff00 : 0xff00f,
						       60 + i } });
	put_avoidable(0, 3, 0, 0, 0);
	fake_end(&fake);
}

START_TEST(the_answer_leads_with_what_padding_avoids)
{
	char *text;
	json_t *j;

	put_a_judged_line(0);
	text = text_of_report();
	ck_assert_msg(strstr(text, "Padding\nwould avoid 30 % of that"), "%s",
		      text);
	ck_assert(strstr(text, "published definition 75 %"));
	ck_assert(!strstr(text, "contended"));
	free(text);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "exact.avoidable"), 33);
	ck_assert_int_eq(int_at(j, "exact.useless"), 31);
	ck_assert_int_eq(int_at(j, "exact.false"), 83);
	ck_assert_int_eq(int_at(j, "exact.lines.0.avoidable"), 30);
	ck_assert_int_eq(int_at(j, "exact.lines.0.useless"), 31);
	ck_assert_str_eq(text_at(j, "exact.lines.0.avoidable_by"), "log");
	ck_assert(json_is_null(at(j, "exact.lines.0.contended")));
	ck_assert_uint_eq(json_array_size(at(j, "exact.lines.0.groups")), 2);
	ck_assert_str_eq(text_at(j, "exact.lines.0.groups.0.bytes"),
			 "0-3,12-19");
	ck_assert_int_eq(int_at(j, "exact.lines.0.groups.1.all"), 61);
	json_decref(j);
}
END_TEST

START_TEST(a_contended_lock_is_named_as_such)
{
	char *text;
	json_t *j;

	put_a_judged_line(0xf00);
	text = text_of_report();
	ck_assert_msg(strstr(text, "contended\nlock or counter (second_word)"),
		      "%s", text);
	ck_assert(strstr(text, "  contended lock or counter at second_word\n"));
	free(text);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "exact.lines.0.contended"), "second_word");
	json_decref(j);
}
END_TEST

START_TEST(older_recordings_do_not_say_what_padding_avoids)
{
	char *text;
	json_t *j;

	begin();
	put(&(struct cdp_transfer){
		.kind = CDP_EXACT_CELL, .a = 0, .b = 1, .value = { 4, 1 } });
	put_line((uintptr_t)first_word, 4, 0xff);
	fake_end(&fake);
	text = text_of_report();
	ck_assert(!strstr(text, "adding would"));
	free(text);
	j = report_of(fake.dir);
	ck_assert_ptr_null(json_object_get(at(j, "exact"), "avoidable"));
	ck_assert_ptr_null(
		json_object_get(at(j, "exact.lines.0"), "avoidable"));
	json_decref(j);
}
END_TEST

START_TEST(no_transfer_and_nothing_counted_are_told_apart)
{
	char *text;

	begin();
	if (_i)
		put(&(struct cdp_transfer){ .kind = CDP_EXACT_THREAD });
	fake_end(&fake);
	text = text_of_report();
	ck_assert(!strstr(text, counted));
	ck_assert_int_eq(strstr(text, "No cache line was moved") != NULL, _i);
	ck_assert_int_eq(strstr(text, "No sharing") != NULL, !_i);
	free(text);
}
END_TEST

START_TEST(sharing_of_one_thread_is_not_answered_for_all)
{
	struct verb v;

	begin();
	put(&(struct cdp_transfer){
		.kind = CDP_EXACT_CELL, .a = 0, .b = 1, .value = { 4, 1 } });
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--thread", "1", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ck_assert(!strstr(v.out, counted));
	free(v.out);
	free(v.err);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_exact");
	TCase *t = tcase_create("lines");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, line_is_named_by_the_bytes_that_were_accessed, 0,
			    sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(t, more_variables_than_there_is_room_for_end_in_dots);
	tcase_add_test(t, memory_without_variables_is_named_once);
	tcase_add_test(t, line_at_the_end_of_memory_is_named);
	tcase_add_test(t, the_answer_begins_with_what_was_counted);
	tcase_add_test(t, the_answer_leads_with_what_padding_avoids);
	tcase_add_test(t, a_contended_lock_is_named_as_such);
	tcase_add_test(t, older_recordings_do_not_say_what_padding_avoids);
	tcase_add_loop_test(t, no_transfer_and_nothing_counted_are_told_apart,
			    0, 2);
	tcase_add_test(t, sharing_of_one_thread_is_not_answered_for_all);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
