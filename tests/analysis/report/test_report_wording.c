/* SPDX-License-Identifier: MIT */
/*
 * test_report_wording - the report leads with what matters, claims no share
 * from a few detections, gives advice that can be followed, and adds up the
 * lines of a variable
 */
#include "analysis/base/util.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;

#define LINE UINT64_C(0x7f0000001000)

enum {
	ARRAY_LINES = 30
};

uint64_t wide_array[ARRAY_LINES * 8] __attribute__((aligned(64)));

static void begin(void)
{
	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
}

/* The text up to the first table, in one line. */
static char *lead_of_report(void)
{
	char *text, *end;

	fake_end(&fake);
	text = report_text_of(fake.dir);
	end = strstr(text, "\n\n");
	if (end)
		*end = '\0';
	for (char *s = text; *s; s++)
		if (*s == '\n')
			*s = ' ';
	return text;
}

static const int few[] = { 1, 2, 9 };

START_TEST(fewer_than_10_detections_give_no_share)
{
	char words[200], *lead;
	int n = few[_i];

	begin();
	fake_pair(&fake, 0, 1, LINE, LINE + 8, n);
	lead = lead_of_report();
	snprintf(words, sizeof(words),
		 "Threads share cache lines: %d detection%s, %d of false and 0 "
		 "of true sharing. That is too few to tell shares. %d of %d "
		 "detection%s of false sharing %s on one line",
		 n, n == 1 ? "" : "s", n, n, n, n == 1 ? "" : "s",
		 n == 1 ? "is" : "are");
	ASSERT_SAYS(lead, words);
	ck_assert(!strchr(lead, '%'));
	free(lead);
}
END_TEST

/* Wilson's interval of 90 of 100 is 82.6 to 94.5 %. */
START_TEST(the_kind_that_most_detections_are_of_leads)
{
	char *lead;

	begin();
	fake_pair(&fake, 0, 1, LINE, LINE, _i ? 10 : 90);
	fake_pair(&fake, 0, 1, LINE + 64, LINE + 72, _i ? 90 : 10);
	lead = lead_of_report();
	ASSERT_SAYS(lead, _i ? "90 % of the cache-line sharing detected "
			       "between threads is false sharing (95 % "
			       "interval 83 to 94 %, 100 detections). 100 % of "
			       "the false sharing is on one line"
			     : "90 % of the cache-line sharing detected "
			       "between threads is true sharing (95 % interval "
			       "83 to 94 %, 100 detections). 100 % of the true "
			       "sharing is on one line");
	/* A tenth matters too. */
	ASSERT_SAYS(lead, _i ? "100 % of the true sharing is on one line"
			     : "100 % of the false sharing is on one line");
	free(lead);
}
END_TEST

START_TEST(a_small_part_of_the_other_kind_is_not_in_the_lead)
{
	char *lead;

	begin();
	fake_pair(&fake, 0, 1, LINE, LINE, 95);
	fake_pair(&fake, 0, 1, LINE + 64, LINE + 72, 5);
	lead = lead_of_report();
	ASSERT_SAYS(lead, "95 % of the cache-line sharing");
	ck_assert(!verb_says(lead, "false"));
	free(lead);
}
END_TEST

/* The fake threads have 960 samples; a sure answer takes 5,000. */
static const struct {
	uint64_t period;
	const char *unit;
	uint32_t state;
	int samples;
	const char *advice;
	uint64_t handler_ns; /* of a sample */
} recordings[] = {
	{ 5000000, "ns", CDP_ENDED, 480,
	  "A sure answer takes about 5,000: sample more often (record -F "
	  "1100) or repeat the work 6 times, in a loop.",
	  0 },
	{ 5000000, "ns", CDP_ENDED, 21,
	  "sample more often (record -F 20000) and repeat the work twice, in "
	  "a loop.",
	  0 },
	/* An eighth of the time is enough for 2,500 such samples a second. */
	{ 5000000, "ns", CDP_ENDED, 21,
	  "sample more often (record -F 2500) and repeat the work 10 times, in "
	  "a loop.",
	  50000 },
	{ 2000000, "ns", CDP_ENDED, 480, "5,000: repeat the work 6 times.",
	  300000 },
	{ 50000, "ns", CDP_ENDED, 100, "5,000: repeat the work 25 times.", 0 },
	{ 1000000, "accesses", CDP_ENDED, 480,
	  "sample more often (record -p 192000) or repeat the work 6 times, in "
	  "a loop.",
	  0 },
};

START_TEST(the_advice_fits_a_short_program)
{
	struct cdp_header *h = fake_begin(&fake);
	char *lead;

	h->period = recordings[_i].period;
	strcpy(h->period_unit, recordings[_i].unit);
	for (int i = 0; i < 2; i++) {
		struct cdp_thread *t = fake_thread(&fake, "a");

		t->samples[SAMPLE_UNIFORM] = recordings[_i].samples;
		t->samples[SAMPLE_STALLED] = 0;
		t->interrupts = 1000;
		t->handler_ns = 1000 * recordings[_i].handler_ns;
	}
	lead = lead_of_report();
	ASSERT_SAYS(lead, recordings[_i].advice);
	ck_assert(!verb_says(lead, "Run at least"));
	free(lead);
}
END_TEST

/*
 * Where nothing is shared the clock is slow: 960 samples in 4 s of CPU time, at
 * a full rate of 500. A fixed rate of 1,250 takes 5,000. One detection at the
 * slow rate would count as four, so 4 * 3.69 of them may have been missed.
 */
START_TEST(nothing_found_at_the_slow_rate_says_less)
{
	struct cdp_header *h = fake_begin(&fake);
	char *lead;
	json_t *j;

	h->slow_period = _i ? 4 * h->period : 0;
	for (int i = 0; i < 2; i++) {
		struct cdp_thread *t = fake_thread(&fake, "a");

		t->samples[SAMPLE_UNIFORM] = 480;
		t->samples[SAMPLE_STALLED] = 0;
		t->samples_skipped = _i ? 520 : 0;
	}
	lead = lead_of_report();
	ASSERT_SAYS(lead, _i ? "sample more often (record -F 1300) or repeat "
			       "the work 6 times"
			     : "sample more often (record -F 2700) or repeat "
			       "the work 6 times");
	free(lead);
	j = report_of(fake.dir);
	ck_assert_double_eq_tol(
		json_number_value(at(j, "communication.total.high")),
		(_i ? 4 : 1) * 3.688879454113936, 1e-6);
	json_decref(j);
}
END_TEST

/* The work of a service cannot be repeated, but it goes on: 2 s so far. */
START_TEST(a_program_that_still_runs_is_to_go_on)
{
	struct cdp_header *h = fake_begin(&fake);
	char stat[1024], *at, *lead;

	ck_assert(read_line("/proc/self/stat", stat, sizeof(stat)));
	at = strrchr(stat, ')');
	for (int field = 2; field < 22; field++)
		at = strchr(at + 1, ' ');
	h->process_start = strtoull(at, NULL, 10);
	ck_assert(read_line("/proc/sys/kernel/random/boot_id", h->boot_id,
			    sizeof(h->boot_id)));
	h->state = CDP_RUNNING;
	h->pid = getpid();
	for (int i = 0; i < 2; i++)
		fake_thread(&fake, "a")->samples[SAMPLE_STALLED] = 0;
	lead = lead_of_report();
	ASSERT_SAYS(lead, "takes about 5,000: let it run for 11 s.");
	free(lead);
}
END_TEST

static void detections_on_array(int lines, int each)
{
	fake_own_maps(&fake);
	for (int i = 0; i < lines; i++) {
		uint64_t at = (uintptr_t)&wide_array[8 * i];

		fake_pair(&fake, 0, 1, at, at + 8, each);
	}
}

START_TEST(the_lines_of_one_variable_add_up)
{
	char *text;
	json_t *j;

	begin();
	detections_on_array(ARRAY_LINES, 8);
	fake_pair(&fake, 0, 1, LINE, LINE, 60);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "wide_array (test_report_wording): 240 false, 0 true "
			  "(80 % of all) on 30 lines:");
	/* A third of ten rows is shown; the rest is summed. */
	ASSERT_SAYS(text, "... and 26 more lines of wide_array: 208 false, 0 "
			  "true");
	ASSERT_SAYS(text, "100 % of the false sharing is on 30 lines of one "
			  "variable (wide_array)");
	/* The single line follows, though none of the 30 has as many. */
	ck_assert_ptr_nonnull(strstr(text, "60 true"));
	ck_assert(strstr(text, "60 true") > strstr(text, "on 30 lines:"));
	free(text);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.objects.0.object"),
			 "wide_array");
	ck_assert_int_eq(
		json_integer_value(at(j, "communication.objects.0.lines")),
		ARRAY_LINES);
	ck_assert_int_eq(
		json_integer_value(at(j, "communication.objects.0.false")),
		240);
	json_decref(j);
}
END_TEST

START_TEST(a_variable_on_one_line_has_one_row)
{
	char *text;

	begin();
	detections_on_array(1, 50);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert(!verb_says(text, "lines of wide_array"));
	ck_assert(!verb_says(text, "on 1 lines"));
	ASSERT_SAYS(text, "50 false, 0 true (100 % of all); 2 threads; "
			  "wide_array");
	free(text);
}
END_TEST

START_TEST(shares_at_a_high_rate_of_the_clock_are_in_doubt)
{
	static const struct {
		const char *source;
		uint64_t period;
		bool says;
	} cases[] = { { "clock", 250000, true },
		      { "clock", 1000000, true },
		      { "clock", 5000000, false },
		      { "pebs", 250000, false } };
	char *text;
	json_t *j;

	begin();
	strcpy(fake.store.header->source, cases[_i].source);
	fake.store.header->period = cases[_i].period;
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert_int_eq(verb_says(text, "samples a second, shares of false"),
			 cases[_i].says);
	ck_assert_int_eq(verb_says(text, "At 4000 samples"),
			 cases[_i].period == 250000 && cases[_i].says);
	free(text);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "communication.warnings")),
			  cases[_i].says);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_wording");
	TCase *t = tcase_create("wording");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, fewer_than_10_detections_give_no_share, 0,
			    sizeof(few) / sizeof(few[0]));
	tcase_add_loop_test(t, the_kind_that_most_detections_are_of_leads, 0,
			    2);
	tcase_add_test(t, a_small_part_of_the_other_kind_is_not_in_the_lead);
	tcase_add_loop_test(t, the_advice_fits_a_short_program, 0,
			    sizeof(recordings) / sizeof(recordings[0]));
	tcase_add_loop_test(t, nothing_found_at_the_slow_rate_says_less, 0, 2);
	tcase_add_test(t, a_program_that_still_runs_is_to_go_on);
	tcase_add_test(t, the_lines_of_one_variable_add_up);
	tcase_add_test(t, a_variable_on_one_line_has_one_row);
	tcase_add_loop_test(t, shares_at_a_high_rate_of_the_clock_are_in_doubt,
			    0, 4);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
