/* SPDX-License-Identifier: MIT */
/*
 * test_report_needed - what padding avoids, where samples tell what is needed
 */
#include <jansson.h>
#include <math.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/engine/transfer_tally.h"
#include "tests/run_suite.h"

enum {
	PERIOD = 1000,
	ALL = 500, /* samples of a transfer each */
	FALSE = 200,
	LOGGED = 50, /* of these, avoidable by a log; the rest has none */
	UNLOGGED = 150,
};

#define LINE UINT64_C(0x7f0000001000)

/* The sum of @n samples, and that of their squares. */
#define SUMS(n) (n) * PERIOD, (double)(n)*PERIOD *PERIOD

static struct fake fake;

static void put_line(uint64_t line, uint64_t turns, double transfers,
		     double avoidable)
{
	uint64_t words[6] = { line, 0, 0, 0, turns, 0 };
	double sums[] = { transfers * PERIOD, avoidable * PERIOD };

	memcpy(&words[1], sums, sizeof(sums));
	fake_transfer(&fake, CDP_AVOIDABLE_LINE, CDP_AVOIDABLE_SAMPLED, 0,
		      words, 6);
}

/* Of the transfers without a log that are false sharing, @needed bring what
 * the receiver needs. */
static json_t *report_with(double needed)
{
	const double sampling[] = { 10000, 1 / 12.0 },
		     all[] = { SUMS(ALL), SUMS(ALL - FALSE), SUMS(FALSE) },
		     more[] = { 0, ALL, ALL },
		     told[] = { SUMS(UNLOGGED), SUMS(needed) };
	struct cdp_header *h = fake_begin(&fake);

	strcpy(h->algorithm, "epoch");
	strcpy(h->source, "emu");
	h->period = PERIOD;
	fake_thread(&fake, "worker");
	fake_thread(&fake, "worker");
	fake_transfer(&fake, CDP_ESTIMATE_SAMPLING, 0, 0, sampling, 2);
	fake_transfer(&fake, CDP_ESTIMATE_CELL, UINT32_MAX, UINT32_MAX, all, 6);
	fake_transfer(&fake, CDP_ESTIMATE_MORE, UINT32_MAX, UINT32_MAX, more,
		      3);
	put_line(LINE, 128, 300, LOGGED);
	put_line(LINE + 64, 0, 200, UNLOGGED);
	fake_transfer(&fake, CDP_ESTIMATE_NEEDED, 0, 0, told, 4);
	fake_end(&fake);
	return report_of(fake.dir);
}

static double avoidable(json_t *report, const char *what)
{
	json_t *share = at(report, "communication.avoidable_share");

	return json_number_value(at(share, what));
}

START_TEST(what_is_needed_is_not_avoidable)
{
	static const double needed[] = { 0, 100, 500 };
	static const double left[] = { 150, 50, 0 };
	json_t *j = report_with(needed[_i]);

	ck_assert_double_eq_tol(avoidable(j, "estimate"),
				(LOGGED + left[_i]) / ALL, 1e-9);
	ck_assert_uint_eq(json_array_size(at(j, "communication.warnings")), 0);
	/* Not below what logs tell, nor above what is false sharing. */
	ck_assert_double_ge(avoidable(j, "low"),
			    interval_share(LOGGED, ALL).low - 1e-6);
	ck_assert_double_le(avoidable(j, "high"),
			    interval_share(FALSE, ALL).high + 1e-6);
	json_decref(j);
}
END_TEST

START_TEST(the_interval_has_two_independent_errors)
{
	const struct transfer_sampling by = { 10000, 1 / 12.0, 0, 0 };
	const struct transfer_moment needed = { SUMS(100) };
	struct interval n = transfer_interval(&needed, &by),
			v = interval_share(100, ALL);
	json_t *j = report_with(100);

	ck_assert_double_eq_tol(
		avoidable(j, "low"),
		0.2 - hypot(0.2 - v.low, n.high / (ALL * PERIOD) - 0.2), 1e-6);
	ck_assert_double_eq_tol(
		avoidable(j, "high"),
		0.2 + hypot(v.high - 0.2, 0.2 - n.low / (ALL * PERIOD)), 1e-6);
	json_decref(j);
}
END_TEST

/* No sample of what is needed is no proof that nothing is. */
START_TEST(nothing_seen_to_be_needed_leaves_a_doubt)
{
	json_t *j = report_with(0);

	ck_assert_double_eq_tol(avoidable(j, "high"),
				interval_share(FALSE, ALL).high, 1e-6);
	ck_assert_double_lt(avoidable(j, "low"),
			    interval_share(FALSE, ALL).low);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_needed");
	TCase *tc = tcase_create("report_needed");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_add_loop_test(tc, what_is_needed_is_not_avoidable, 0, 3);
	tcase_add_test(tc, the_interval_has_two_independent_errors);
	tcase_add_test(tc, nothing_seen_to_be_needed_leaves_a_doubt);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
