/* SPDX-License-Identifier: MIT */
/*
 * test_report_answer - what the first paragraph says, and what it must not
 * claim
 */
#include "analysis/base/util.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;

#define LINE UINT64_C(0x7f0000001000)

static void silent_thread(const char *name)
{
	struct cdp_thread *t = fake_thread(&fake, name);

	t->samples[SAMPLE_UNIFORM] = t->samples[SAMPLE_STALLED] = 0;
	t->interrupts = t->loads = t->stores = 0;
	t->cpu_ns = 3000000;
}

static char *text_of(const char *option, const char *value)
{
	struct verb v =
		option ? VERB(cmd_report, "report", option, value, fake.dir)
		       : VERB(cmd_report, "report", fake.dir);

	ck_assert_msg(v.status == 0, "status %d: %s", v.status, v.err);
	free(v.err);
	return v.out;
}

static const struct {
	int detections;
	bool weak;
} amounts[] = { { 1, true }, { 29, true }, { 30, false }, { 400, false } };

START_TEST(below_30_detections_the_answer_is_called_weak)
{
	char words[64], *text;
	int n = amounts[_i].detections;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, n);
	fake_end(&fake);
	text = text_of(NULL, NULL);
	snprintf(words, sizeof(words), "%d detections%s)", n,
		 amounts[_i].weak ? ": few, a weak answer" : "");
	ck_assert(verb_says(text, words) == (n > 1));
	ck_assert(verb_says(text, "For more detections and a narrower "
				  "interval, sample more often (record -F") ==
		  amounts[_i].weak);
	free(text);
}
END_TEST

/* With ten detections, all false, Wilson's interval is 72.2 to 100 %. */
START_TEST(ten_detections_have_a_wide_interval)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 10);
	fake_end(&fake);
	text = text_of(NULL, NULL);
	ASSERT_SAYS(text, "(95 % interval 72 to 100 %, 10 detections:");
	free(text);
}
END_TEST

START_TEST(a_program_that_sleeps_is_not_told_to_run_longer)
{
	char *text;

	fake_begin(&fake)->cpu_ns = 3000000;
	silent_thread("main");
	fake_end(&fake);
	text = text_of(NULL, NULL);
	ASSERT_SAYS(text, "used 3 ms of CPU time in 2.0 s, and a sample is "
			  "taken every 2 ms");
	ck_assert(!verb_says(text, "run at least"));
	free(text);
}
END_TEST

static const struct {
	uint64_t kernel_ns;
	const char *says;
} kernels[] = {
	{ 0, NULL },
	{ 500000000, NULL },
	{ 850000000, "The kernel took 85 % of the CPU time for the program" },
};

/* The report of a second, of which the kernel took @kernel_ns. */
static char *kernel_text(uint64_t kernel_ns, const char *source,
			 const char *delivery)
{
	struct cdp_header *h = fake_begin(&fake);

	h->cpu_ns = 1000000000;
	h->kernel_ns = kernel_ns;
	strcpy(h->source, source);
	strcpy(h->delivery, delivery);
	fake_thread(&fake, "a")->cpu_ns = 0;
	fake_thread(&fake, "b")->cpu_ns = 0;
	fake_end(&fake);
	return text_of(NULL, NULL);
}

START_TEST(what_the_kernel_took_is_told_from_a_half_on)
{
	char *text = kernel_text(kernels[_i].kernel_ns, "clock", "sigtrap");

	ck_assert(verb_says(text, "The kernel took") == !!kernels[_i].says);
	if (kernels[_i].says)
		ASSERT_SAYS(text, kernels[_i].says);
	ck_assert(verb_says(text, "of it in the kernel") ==
		  !!kernels[_i].kernel_ns);
	free(text);
}
END_TEST

static const struct {
	const char *source, *delivery;
	bool told;
} clocks[] = {
	{ "clock", "sigtrap", true },
	{ "clock", "rtsig", false },
	{ "pebs", "sigtrap", false },
	{ "emu", "", false },
};

START_TEST(what_the_clock_takes_of_the_kernels_time_is_told)
{
	char *text =
		kernel_text(850000000, clocks[_i].source, clocks[_i].delivery);

	ASSERT_SAYS(text, "The kernel took 85 %");
	ck_assert(verb_says(text, "COMDET_CLOCK=timer") == clocks[_i].told);
	free(text);
}
END_TEST

START_TEST(a_launcher_is_told_of_the_programs_that_it_started)
{
	struct cdp_header *h;
	char *text;

	h = fake_begin(&fake);
	h->cpu_ns = 3000000;
	h->not_followed = 2;
	silent_thread("sh");
	fake_end(&fake);
	text = text_of(NULL, NULL);
	ASSERT_SAYS(text, "the programs that it started were not profiled; "
			  "record --children includes them");
	ASSERT_SAYS(text, "left out 2 programs");
	free(text);
}
END_TEST

START_TEST(threads_that_were_not_sampled_are_not_declared_innocent)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "busy");
	silent_thread("idle");
	silent_thread("idle");
	fake_end(&fake);
	text = text_of(NULL, NULL);
	ASSERT_SAYS(text, "No sharing between threads was seen: of 3 threads "
			  "only one was sampled");
	free(text);
}
END_TEST

START_TEST(a_thread_without_detections_is_no_sign_for_the_others)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	silent_thread("c");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 40);
	fake_end(&fake);
	text = text_of("--thread", "2");
	ASSERT_SAYS(text, "No sharing that thread 2 took part in was found (0 "
			  "samples of its own).");
	ck_assert(!verb_says(text, "sure answer"));
	free(text);
}
END_TEST

static const struct {
	int same, apart;
	bool told;
} turns[] = { { 0, 100, false }, { 50, 50, false }, { 76, 24, true } };

START_TEST(threads_that_took_turns_on_one_processor_are_told_apart)
{
	char words[64], *text;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	if (turns[_i].same)
		fake_core(&fake, 1, 1, 0, turns[_i].same);
	fake_core(&fake, 0, 1, 0, turns[_i].apart);
	fake_end(&fake);
	text = text_of(NULL, NULL);
	snprintf(words, sizeof(words),
		 "In %d %% of the detections both threads ran on the same",
		 turns[_i].same);
	ck_assert(verb_says(text, words) == turns[_i].told);
	ck_assert(verb_says(text, "a = b: both threads ran there") ==
		  !!turns[_i].same);
	free(text);
}
END_TEST

/*
 * At its first visit to a place nobody knows yet who else stores there, and
 * padding seems to help.
 */
START_TEST(first_judgements_at_a_place_are_not_relied_on)
{
	char *text;

	fake_begin(&fake);
	fake_thread(&fake, "main");
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	for (uint64_t at = 8; at <= 48; at += 8) {
		struct cdp_pair *p = fake_pair(&fake, 1, 2, LINE, LINE + at, 2);

		p->avoidable = 1;
		p->unavoidable = 1;
	}
	fake_end(&fake);
	text = report_text_of(fake.dir);
	/* Wilson's interval of 6 of 12 is 25 to 75 %. */
	ASSERT_SAYS(text, "Padding would avoid 50 % of the cache-line sharing "
			  "detected between threads (95 % interval 0 to 75 %, "
			  "12 of 12 detections judged)");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_answer");
	TCase *t = tcase_create("answer");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, below_30_detections_the_answer_is_called_weak, 0,
			    sizeof(amounts) / sizeof(amounts[0]));
	tcase_add_test(t, ten_detections_have_a_wide_interval);
	tcase_add_test(t, a_program_that_sleeps_is_not_told_to_run_longer);
	tcase_add_loop_test(t, what_the_kernel_took_is_told_from_a_half_on, 0,
			    sizeof(kernels) / sizeof(*kernels));
	tcase_add_loop_test(t, what_the_clock_takes_of_the_kernels_time_is_told,
			    0, sizeof(clocks) / sizeof(*clocks));
	tcase_add_test(t, a_launcher_is_told_of_the_programs_that_it_started);
	tcase_add_test(t,
		       threads_that_were_not_sampled_are_not_declared_innocent);
	tcase_add_test(t,
		       a_thread_without_detections_is_no_sign_for_the_others);
	tcase_add_loop_test(
		t, threads_that_took_turns_on_one_processor_are_told_apart, 0,
		sizeof(turns) / sizeof(turns[0]));
	tcase_add_test(t, first_judgements_at_a_place_are_not_relied_on);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
