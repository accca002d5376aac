/* SPDX-License-Identifier: MIT */
/*
 * test_report_controls - no name can speak to the terminal
 *
 * Every text of a profile, the names of its files and the arguments hold ESC,
 * U+009B, U+202E and their like. None of them may come out raw, neither in the
 * text nor in JSON nor in a message.
 */
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/base/utf8.h"
#include "src/store/reuse_tally.h"
#include "tests/run_suite.h"

/* ESC [, CSI, right-to-left override, a byte order mark, DEL, no UTF-8. */
#define HOSTILE "\033[1m\302\233\342\200\256\357\273\277\177\377"

static struct fake fake;

static void assert_clean(const char *where, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		uint32_t point = 0;
		size_t n = utf8_next(s, &point);

		ck_assert_msg(n > 0, "%s is not UTF-8: %s", where, s);
		ck_assert_msg(*s == '\n' || *s == '\t' || utf8_is_safe(point),
			      "%s has U+%04x: %s", where, point, s);
		s += n;
	}
}

/* Run report in all its forms. */
static void assert_clean_reports(const char *dir, int status)
{
	static const char *const forms[] = { "--no-symbols", "--json" };

	for (size_t i = 0; i < 2; i++) {
		struct verb v = VERB(cmd_report, "report", forms[i], dir);

		ck_assert_int_eq(v.status, status);
		assert_clean(forms[i], v.out);
		assert_clean("a message", v.err);
		verb_free(&v);
	}
}

static void fill(char *text, size_t size)
{
	snprintf(text, size, "x%.*s", (int)size - 2, HOSTILE);
}

static void hostile_header(struct cdp_header *h)
{
	fill(h->host, sizeof(h->host));
	fill(h->kernel, sizeof(h->kernel));
	fill(h->cpu, sizeof(h->cpu));
	fill(h->source, sizeof(h->source));
	fill(h->source_reason, sizeof(h->source_reason));
	fill(h->delivery, sizeof(h->delivery));
	fill(h->algorithm, sizeof(h->algorithm));
	fill(h->period_unit, sizeof(h->period_unit));
	fill(h->registers_reason, sizeof(h->registers_reason));
	fill(h->exe, sizeof(h->exe));
	fill(h->command, sizeof(h->command));
	fill(h->note, sizeof(h->note));
	fill(h->run_id, sizeof(h->run_id));
}

START_TEST(texts_of_a_profile_come_out_escaped)
{
	struct cdp_reuse r = { .granularity = REUSE_LINE,
			       .weight = 100,
			       .count = 100,
			       .outcome = REUSE_REUSED,
			       .kind = CDP_REUSE_PAIR,
			       .bin = 5,
			       .use_ip = 0x1000,
			       .end_ip = 0x1000 };
	struct reuse_tally tally = { .writer.section = CDP_REUSE };
	struct cdp_header *h = fake_begin(&fake);

	hostile_header(h);
	h->state = _i ? CDP_RUNNING : CDP_ENDED;
	h->registers = _i;
	h->modes = CDP_MODE_COMM | CDP_MODE_REUSE;
	fill(fake_thread(&fake, "a")->name, 16);
	fill(fake_thread(&fake, "b")->name, 16);
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/no/such/" HOSTILE);
	fake_map(&fake, 0x10000, 0x20000, 0, 3, "/dev/shm/" HOSTILE);
	fake_pair(&fake, 0, 1, 0x10040, 0x10048, 50);
	fake_pair(&fake, 1, 0, 0x10040, 0x10040, 5);
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	reuse_tally_release(&tally);
	fake_end(&fake);
	assert_clean_reports(fake.dir, 0);
}
END_TEST

START_TEST(names_of_files_come_out_escaped)
{
	char path[PATH_MAX + 64];
	int fd;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fd = openat(fake.dirfd, HOSTILE ".cdp", O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/none" HOSTILE, fake.dir);
	fake_end(&fake);
	assert_clean_reports(fake.dir, 1);
	assert_clean_reports(path, 1);
}
END_TEST

static const char *const hostile_arguments[][4] = {
	{ "report", "--" HOSTILE },      { "report", "--top=" HOSTILE },
	{ "report", "--kind", HOSTILE }, { "report", "--json=" HOSTILE },
	{ "report", "-\033" },
};

START_TEST(arguments_come_out_escaped)
{
	struct verb v = verb_run(&cmd_report, hostile_arguments[_i]);

	ck_assert_int_eq(v.status, 1);
	ck_assert_int_gt(strlen(v.err), 0);
	assert_clean("a message", v.err);
	verb_free(&v);
}
END_TEST

START_TEST(json_keeps_what_it_escapes)
{
	struct verb v;
	json_t *j;

	strcpy(fake_begin(&fake)->host, "\302\233\342\200\256\303\251\177");
	fake_thread(&fake, "a");
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--json", fake.dir);
	ASSERT_SAYS(v.out, "\\u009b\\u202e\303\251\\u007f");
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "run.host"),
			 "\302\233\342\200\256\303\251\177");
	json_decref(j);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_controls");
	TCase *t = tcase_create("report_controls");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_loop_test(t, texts_of_a_profile_come_out_escaped, 0, 2);
	tcase_add_test(t, names_of_files_come_out_escaped);
	tcase_add_loop_test(t, arguments_come_out_escaped, 0, 5);
	tcase_add_test(t, json_keeps_what_it_escapes);
	suite_add_tcase(s, t);
	return run_suite(s);
}
