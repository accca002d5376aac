/* SPDX-License-Identifier: MIT */
/*
 * test_report - the sentences and drawings of the report for people
 */
#include <ctype.h>

#include "analysis/base/util.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;

#define LINE UINT64_C(0x7f0000001000)

START_TEST(false_sharing_is_answered_with_share_interval_line_and_count)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "main");
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	/* 288 of 400 are 72 %; Wilson's interval is 67.4 to 76.2 %. */
	fake_pair(&fake, 1, 2, LINE, LINE + 8, 288);
	fake_pair(&fake, 1, 2, LINE + 64, LINE + 64, 112);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "72 % of the cache-line sharing detected between "
			  "threads is false sharing (95 % interval 67 to 76 "
			  "%, 400 detections).");
	ASSERT_SAYS(text, "100 % of the false sharing is on one line");
	ASSERT_SAYS(text, "not a count of cache line transfers");
	free(text);
}
END_TEST

START_TEST(what_padding_avoids_comes_first)
{
	struct cdp_pair *p;
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "main");
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	p = fake_pair(&fake, 1, 2, LINE, LINE + 8, 300);
	p->avoidable = 20;
	p->unavoidable = 180;
	p = fake_pair(&fake, 1, 2, LINE + 64, LINE + 72, 100);
	p->avoidable = 80; /* more than there are: not believed */
	p->unavoidable = 80;
	fake_end(&fake);
	text = report_text_of(fake.dir);
	/*
	 * 20 of 200 are 10 %; Wilson's interval is 6.2 to 14.9 %, the low limit
	 * that of 19, since the first one may be a guess.
	 */
	ASSERT_SAYS(text, "Padding would avoid 10 % of the cache-line sharing "
			  "detected between threads (95 % interval 6 to 15 %, "
			  "200 of 400 detections judged). By the bytes of two "
			  "accesses, 100 % of the");
	ASSERT_SAYS(text, "padding avoids 20 of 200;");
	free(text);
}
END_TEST

START_TEST(few_samples_without_sharing_ask_for_more_samples)
{
	char *text;

	fake_begin(&fake); /* 2 s long */
	fake_thread(&fake, "a")->samples[SAMPLE_STALLED] = 0;
	fake_thread(&fake, "b")->samples[SAMPLE_STALLED] = 0;
	fake_end(&fake);
	text = report_text_of(fake.dir);
	/* 500 samples a second gave 960; 5,000 take 2,604. */
	ASSERT_SAYS(text, "No sharing between threads found in 960 samples "
			  "(2.0 s). A sure answer takes about 5,000: sample "
			  "more often (record -F 2700) or repeat the work 6 "
			  "times, in a loop.");
	free(text);
}
END_TEST

START_TEST(many_samples_without_sharing_are_a_sure_answer)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "a")->samples[SAMPLE_UNIFORM] = 5530;
	fake_thread(&fake, "b")->samples[SAMPLE_UNIFORM] = 5530;
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "No sharing between threads found in 12,000 samples. "
			  "With 95 % confidence fewer than one sample in "
			  "4,000 would detect any.");
	free(text);
}
END_TEST

START_TEST(one_thread_cannot_share)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "main");
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "No sharing between threads: there was only one "
			  "thread (950 samples");
	free(text);
}
END_TEST

START_TEST(no_sample_is_not_no_sharing)
{
	struct cdp_thread *t;
	char *text;

	fake_begin(&fake);
	for (int i = 0; i < 2; i++) {
		t = fake_thread(&fake, "main");
		t->samples[SAMPLE_UNIFORM] = t->samples[SAMPLE_STALLED] = 0;
		t->loss[LOSS_UNDECODED] = 250;
	}
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "Nothing can be said: no memory access was sampled");
	ASSERT_SAYS(text, "500 25 % an instruction could not be decoded");
	free(text);
}
END_TEST

START_TEST(a_run_that_was_not_profiled_begins_with_the_reason)
{
	struct cdp_header *h = fake_begin(&fake);
	char *text;

	h->state = CDP_STOPPED;
	h->source[0] = '\0';
	strcpy(h->note, "not profiled: no clock");
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert_ptr_eq(strstr(text, "Nothing was measured: not profiled: no "
				      "clock.\n"),
			 text);
	ASSERT_SAYS(text, "source none was opened");
	free(text);
}
END_TEST

START_TEST(the_map_of_a_line_shows_who_touches_which_byte)
{
	struct cdp_pair *p;
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	p = fake_pair(&fake, 0, 1, LINE + 4, LINE + 12, 40);
	p->publisher_len = 4;
	p->detector_len = 2;
	p->detector_flags = ACCESS_LOAD;
	/* It begins 8 bytes before the line and ends after it. */
	p = fake_pair(&fake, 1, 0, LINE + 60, LINE - 8, 3);
	p->line = LINE;
	p->publisher_len = 16;
	p->publisher_flags = ACCESS_STORE | ACCESS_LOAD;
	p->detector_len = 9;
	p->detector_flags = ACCESS_LOAD;
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "thr 0 r...WWWW....................................."
			  "...................");
	ASSERT_SAYS(text, "thr 1 ............rr..............................."
			  "...............BBBB");
	free(text);
}
END_TEST

START_TEST(a_source_line_counts_the_detections_it_has_a_part_in)
{
	struct cdp_pair *p;
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/nowhere/fake");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 30);
	p = fake_pair(&fake, 0, 1, LINE + 64, LINE + 64, 5);
	p->detector_ip = 0x1002;
	p->detector_flags = ACCESS_LOAD;
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "false true access location function "
			  "30 5 store fake+0x0 ? "
			  "30 0 store fake+0x1 ? "
			  "0 5 load fake+0x2 ?");
	free(text);
}
END_TEST

START_TEST(the_matrix_has_each_pair_on_both_sides)
{
	char *text;

	fake_begin(&fake);
	for (int i = 0; i < 4; i++)
		fake_thread(&fake, "t");
	fake_pair(&fake, 0, 1, LINE, LINE, 700);
	fake_pair(&fake, 3, 2, LINE + 64, LINE + 64, 30);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, " 0 1 2 3 0 . 700 . . 1 700 . . . 2 . . . 30 3 . . "
			  "30 .");
	ASSERT_SAYS(text, "0 1 700 649 to 754 96 % 0 % 700 0");
	ASSERT_SAYS(text, "2 3 30 20 to 43 4.1 % 0 % 0 30");
	free(text);
}
END_TEST

/*
 * 128 threads, each sharing with its neighbour, two to a character: a diagonal.
 */
START_TEST(many_threads_are_drawn_in_blocks)
{
	char *text, line[80];

	fake_begin(&fake);
	for (int i = 0; i < 128; i++)
		fake_thread(&fake, "t");
	for (int i = 0; i < 128; i += 2)
		fake_pair(&fake, i, i + 1, LINE, LINE, i == 64 ? 9 : 90);
	fake_pair(&fake, 127, 0, LINE, LINE, 90);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	memset(line, 0, sizeof(line));
	sprintf(line, "     0 |@%*s@|\n", 62, "");
	ck_assert_msg(strstr(text, line) != NULL, "'%s' not in %s", line, text);
	sprintf(line, "    64 |%*s.%*s|\n", 32, "", 31, "");
	ck_assert_msg(strstr(text, line) != NULL, "'%s' not in %s", line, text);
	sprintf(line, "   126 |@%*s@|\n", 62, "");
	ck_assert_msg(strstr(text, line) != NULL, "'%s' not in %s", line, text);
	ASSERT_SAYS(text, "A row and a column stand for 2 threads each");
	free(text);
}
END_TEST

START_TEST(text_for_people_fits_80_columns)
{
	static const int threads[] = { 2, 3, 12, 13, 64, 65, 300, 600 };
	int n = threads[_i];
	char *text, *line, *rest;

	fake_begin(&fake);
	for (int i = 0; i < n; i++) {
		struct cdp_thread *t =
			fake_thread(&fake, n % 2 ? "fifteen letters"
						 : "\033\033\033\033\033");

		t->tid = 4194303;
		t->samples[0] = t->samples[1] = 999999;
		t->traps = 99999;
		t->start_routine = i;
		t->cpu_ns = UINT64_C(7200000000000);
	}
	for (int i = 1; i < n; i++)
		fake_pair(&fake, i - 1, i, LINE + 64 * i, LINE + 64 * i + 8,
			  99999);
	fake_end(&fake);
	text = rest = report_text_of(fake.dir);
	while ((line = strsep(&rest, "\n")))
		ck_assert_msg(text_columns(line) <= 80, "%zu columns: %s",
			      text_columns(line), line);
	free(text);
}
END_TEST

static const char *const hostile[] = {
	"\033[31mred",
	"a\nb",
	"\xff\xfe",
	"\xe2\x80\xae"
	"evil",
	"\xc2\x9b"
	"31m",
	"tab\there",
	"\x7f"
	"del",
	"caf\xc3\xa9",
};

START_TEST(no_name_can_send_a_control_character)
{
	const char *name = hostile[_i];
	struct cdp_header *h = fake_begin(&fake);
	char *text;

	snprintf(h->exe, sizeof(h->exe), "/bin/%s", name);
	snprintf(h->command, sizeof(h->command), "%s", name);
	snprintf(h->host, sizeof(h->host), "%s", name);
	snprintf(h->kernel, sizeof(h->kernel), "%s", name);
	snprintf(h->cpu, sizeof(h->cpu), "%s", name);
	snprintf(h->source, sizeof(h->source), "%s", name);
	snprintf(h->source_reason, sizeof(h->source_reason), "%s", name);
	snprintf(h->registers_reason, sizeof(h->registers_reason), "%s", name);
	snprintf(h->note, sizeof(h->note), "%s", name);
	snprintf(h->delivery, sizeof(h->delivery), "%s", name);
	snprintf(h->algorithm, sizeof(h->algorithm), "%s", name);
	snprintf(h->period_unit, sizeof(h->period_unit), "%s", name);
	h->state = CDP_STOPPED;
	fake_thread(&fake, name);
	fake_thread(&fake, name);
	fake_pair(&fake, 0, 1, LINE, LINE, 5);
	fake_map(&fake, LINE & ~4095ull, (LINE & ~4095ull) + 4096, 0, 3, name);
	fake_map(&fake, 0x1000, 0x2000, 0, 5, name);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	for (const char *p = text; *p; p++)
		ck_assert_msg(*p == '\n' || (*p & 0x80) || isprint(*p),
			      "byte %02x in: %s", *p & 0xff, text);
	/* The only bytes left above ASCII are in the one harmless name. */
	ck_assert(!strstr(text, "\xe2\x80\xae"));
	ck_assert(!strstr(text, "\xc2\x9b"));
	ck_assert_int_eq(strstr(text, "\xc3\xa9") != NULL,
			 strstr(name, "\xc3\xa9") != NULL);
	free(text);
}
END_TEST

START_TEST(a_bad_file_is_named_and_the_others_are_reported)
{
	struct verb v;
	int fd;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE, 77);
	fd = openat(fake.dirfd, "broken.1.1.cdp", O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "not one", 7), 7);
	close(fd);
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, "broken.1.1.cdp");
	ASSERT_SAYS(v.out, "77 detections");
	verb_free(&v);
}
END_TEST

static const struct {
	const char *args[4];
	const char *says;
} mistakes[] = {
	{ { "no-such-directory" }, "cannot open no-such-directory: No such" },
	{ { "/" }, "is not an output directory" },
	{ { "--top", "0" }, "--top must be a whole number" },
	{ { "--top", "x" }, "--top must be a whole number" },
	{ { "--thread", "-1" }, "--thread must be a whole number" },
	{ { "--color", "blue" }, "--color is auto, always or never" },
	{ { "--frobnicate" }, "has no option '--frobnicate'" },
	{ { "--htlm=x" }, "did you mean '--html'?" },
	{ { "--top" }, "'--top' needs a value" },
	{ { "a", "b" }, "takes one directory" },
};

START_TEST(a_mistake_is_one_clear_line_and_status_1)
{
	const char *const *a = mistakes[_i].args;
	struct verb v = VERB(cmd_report, "report", a[0], a[1], a[2]);

	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ck_assert_str_eq(v.out, "");
	ASSERT_SAYS(v.err, mistakes[_i].says);
	verb_free(&v);
}
END_TEST

START_TEST(a_dash_as_the_file_is_standard_output)
{
	struct verb plain, dash;

	fake_begin(&fake);
	fake_pair(&fake, 0, 1, LINE, LINE, 77);
	fake_end(&fake);
	plain = VERB(cmd_report, "report", fake.dir);
	dash = VERB(cmd_report, "report", "-o", "-", fake.dir);
	ck_assert_int_eq(dash.status, 0);
	ck_assert_str_eq(dash.out, plain.out);
	verb_free(&dash);
	dash = VERB(cmd_report, "report", "--html", "-", fake.dir);
	ck_assert_int_eq(dash.status, 0);
	ASSERT_SAYS(dash.out, "</html>");
	ck_assert_str_eq(dash.err, "");
	verb_free(&dash);
	verb_free(&plain);
}
END_TEST

START_TEST(a_directory_without_a_profile_is_an_error_with_advice)
{
	struct verb v;

	fake_begin(&fake);
	ck_assert_int_eq(unlinkat(fake.dirfd, fake.file, 0), 0);
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "has no profile in it");
	ASSERT_SAYS(v.err, "doctor");
	verb_free(&v);
}
END_TEST

START_TEST(a_thread_can_be_looked_at_alone)
{
	struct verb v;

	fake_begin(&fake);
	for (int i = 0; i < 4; i++)
		fake_thread(&fake, "t");
	fake_pair(&fake, 0, 1, LINE, LINE, 700);
	fake_pair(&fake, 3, 2, LINE + 64, LINE + 64, 30);
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--thread", "2", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "30 detections");
	ck_assert(!verb_says(v.out, "0x7f0000001000"));
	ck_assert(verb_says(v.out, "0x7f0000001040"));
	verb_free(&v);
	v = VERB(cmd_report, "report", "--thread", "4", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "the ids go from 0 to 3");
	verb_free(&v);
}
END_TEST

START_TEST(colours_are_asked_for_or_absent)
{
	struct verb v;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE, 7);
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_ptr_null(strchr(v.out, '\033'));
	verb_free(&v);
	setenv("NO_COLOR", "1", 1);
	v = VERB(cmd_report, "report", "--color=always", fake.dir);
	ck_assert_ptr_nonnull(strchr(v.out, '\033'));
	verb_free(&v);
}
END_TEST

#define LENGTH(array) ((int)(sizeof(array) / sizeof(array[0])))

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *t = tcase_create("text");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(
		t,
		false_sharing_is_answered_with_share_interval_line_and_count);
	tcase_add_test(t, what_padding_avoids_comes_first);
	tcase_add_test(t, few_samples_without_sharing_ask_for_more_samples);
	tcase_add_test(t, many_samples_without_sharing_are_a_sure_answer);
	tcase_add_test(t, one_thread_cannot_share);
	tcase_add_test(t, no_sample_is_not_no_sharing);
	tcase_add_test(t, a_run_that_was_not_profiled_begins_with_the_reason);
	tcase_add_test(t, the_map_of_a_line_shows_who_touches_which_byte);
	tcase_add_test(t, a_source_line_counts_the_detections_it_has_a_part_in);
	tcase_add_test(t, the_matrix_has_each_pair_on_both_sides);
	tcase_add_test(t, many_threads_are_drawn_in_blocks);
	tcase_add_loop_test(t, text_for_people_fits_80_columns, 0, 8);
	tcase_add_loop_test(t, no_name_can_send_a_control_character, 0,
			    LENGTH(hostile));
	tcase_add_test(t, a_bad_file_is_named_and_the_others_are_reported);
	tcase_add_loop_test(t, a_mistake_is_one_clear_line_and_status_1, 0,
			    LENGTH(mistakes));
	tcase_add_test(t, a_dash_as_the_file_is_standard_output);
	tcase_add_test(t,
		       a_directory_without_a_profile_is_an_error_with_advice);
	tcase_add_test(t, a_thread_can_be_looked_at_alone);
	tcase_add_test(t, colours_are_asked_for_or_absent);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
