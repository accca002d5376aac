/* SPDX-License-Identifier: MIT */
/*
 * test_report_html - the page holds the report, and hostile names stay text
 */
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define LINE UINT64_C(0x7f0000001000)
#define EVIL "</script><script>document.title='x'//<!--"

static struct fake fake;

static char *page_of(const char *dir)
{
	char path[PATH_MAX], *page;
	struct verb v;

	snprintf(path, sizeof(path), "%s/page.html", sandbox);
	v = VERB(cmd_report, "report", "--html", path, dir);
	ck_assert_msg(v.status == 0, "%s", v.err);
	ck_assert_str_eq(v.out, "");
	ASSERT_SAYS(v.err, "shows the report in a browser");
	verb_free(&v);
	page = verb_read("page.html");
	return page;
}

static int times(const char *text, const char *words)
{
	int n = 0;

	for (; (text = strstr(text, words)); text++)
		n++;
	return n;
}

/* The JSON between the element @id and the end of its script. */
static json_t *json_in(const char *page, const char *id)
{
	char begin[64], *json;
	const char *at, *end;
	json_error_t error;
	json_t *j;

	snprintf(begin, sizeof(begin),
		 "<script id=\"%s\" type=\"application/json\">", id);
	at = strstr(page, begin);
	ck_assert_ptr_nonnull(at);
	at += strlen(begin);
	end = strstr(at, "</script>");
	ck_assert_ptr_nonnull(end);
	json = strndup(at, (size_t)(end - at));
	j = json_loads(json, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(j != NULL, "%s", error.text);
	free(json);
	return j;
}

START_TEST(the_page_holds_the_whole_report)
{
	json_t *data, *report, *text;
	char *page, *plain;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 288);
	fake_pair(&fake, 0, 1, LINE + 64, LINE + 64, 112);
	fake_end(&fake);
	page = page_of(fake.dir);
	data = json_in(page, "data");
	report = report_of(fake.dir);
	ck_assert(json_equal(data, report));
	text = json_in(page, "text");
	plain = report_text_of(fake.dir);
	ck_assert_str_eq(json_string_value(json_object_get(text, "text")),
			 plain);
	ck_assert(!strncmp(
		plain, json_string_value(json_object_get(text, "answer")), 40));
	json_decref(data);
	json_decref(report);
	json_decref(text);
	free(plain);
	free(page);
}
END_TEST

START_TEST(hostile_names_stay_text)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *data, *first;
	char *page;

	strcpy(h->command, EVIL);
	strcpy(h->host, "<img src=x onerror=alert(1)>");
	fake_thread(&fake, "<b>&quot;\xff\xfe");
	fake_thread(&fake, "--></script>");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 288);
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/tmp/" EVIL);
	fake_end(&fake);
	page = page_of(fake.dir);
	/* Those of the page itself: two with data, one with code. */
	ck_assert_int_eq(times(page, "<script"), 3);
	ck_assert_int_eq(times(page, "</script>"), 3);
	ck_assert_int_eq(times(page, "<!--"), 0);
	ck_assert_int_eq(times(page, "<img"), 0);
	data = json_in(page, "data");
	first = json_array_get(json_object_get(data, "processes"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(first, "command")),
			 EVIL);
	json_decref(data);
	free(page);
}
END_TEST

START_TEST(the_page_loads_nothing)
{
	char *page;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_end(&fake);
	page = page_of(fake.dir);
	ck_assert_int_eq(times(page, "default-src 'none'"), 1);
	ck_assert_int_eq(times(page, "https://"), 0);
	/* The name of SVG is no address to load. */
	ck_assert_int_eq(times(page, "http://"),
			 times(page, "http://www.w3.org/2000/svg"));
	ck_assert_int_eq(times(page, " src="), 0);
	ck_assert_int_eq(times(page, "innerHTML"), 0);
	free(page);
}
END_TEST

START_TEST(a_page_that_cannot_be_written_is_one_line)
{
	struct verb v;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--html", "/nonexistent/page.html",
		 fake.dir);
	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, "cannot write /nonexistent/page.html");
	verb_free(&v);
	v = VERB(cmd_report, "report", "--html", "/dev/full", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_html");
	TCase *t = tcase_create("report_html");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, the_page_holds_the_whole_report);
	tcase_add_test(t, hostile_names_stay_text);
	tcase_add_test(t, the_page_loads_nothing);
	tcase_add_test(t, a_page_that_cannot_be_written_is_one_line);
	suite_add_tcase(s, t);
	return run_suite(s);
}
