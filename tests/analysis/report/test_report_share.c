/* SPDX-License-Identifier: MIT */
/*
 * test_report_share - shares of false sharing that few samples tell of
 */
#include <jansson.h>
#include <string.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/engine/transfer_tally.h"
#include "tests/run_suite.h"

enum {
	NO_CELL = UINT32_MAX,
	PERIOD = 1000,
};

#define LINE UINT64_C(0x7f0000001000)

static struct fake fake;

/* @share has the moments of all transfers, of true and of false sharing. */
static json_t *report_of_chains(const double share[6])
{
	double sampling[] = { 50000, 1 / 12.0 };
	double more[] = { share[0] / 4, 50000, 50000 };
	struct cdp_header *h = fake_begin(&fake);

	strcpy(h->algorithm, "chain");
	strcpy(h->source, "emu");
	strcpy(h->period_unit, "accesses");
	h->period = PERIOD;
	for (int i = 0; i < 3; i++)
		fake_thread(&fake, "worker");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	fake_transfer(&fake, CDP_ESTIMATE_SAMPLING, 0, 0, sampling, 2);
	fake_transfer(&fake, CDP_ESTIMATE_CELL, NO_CELL, NO_CELL, share, 6);
	fake_transfer(&fake, CDP_ESTIMATE_MORE, NO_CELL, NO_CELL, more, 3);
	fake_end(&fake);
	return report_of(fake.dir);
}

static void same_interval(json_t *found, double low, double high)
{
	ck_assert_double_eq_tol(json_number_value(at(found, "low")), low, 1e-6);
	ck_assert_double_eq_tol(json_number_value(at(found, "high")), high,
				1e-6);
}

/*
 * 50,000 samples of chains found 500 periods of transfers on lines in steady
 * use, all of one kind. Of the other kind none was met, but 3.69 periods of it
 * may be there, as where nothing was seen at all.
 */
START_TEST(what_no_sample_met_may_be_of_the_other_kind)
{
	double all = 500 * PERIOD, square = all * all / 50000;
	double other = 3.688879454113936 * PERIOD;
	double share[] = { all, square, _i ? 0 : all, _i ? 0 : square,
			   _i ? all : 0, _i ? square : 0 };
	json_t *j = report_of_chains(share);

	if (_i)
		same_interval(at(j, "communication.false_share"),
			      all / (all + other), 1);
	else
		same_interval(at(j, "communication.false_share"), 0,
			      other / (all + other));
	json_decref(j);
}
END_TEST

/* The same, but one sample found four transfers of the other kind. */
START_TEST(what_one_sample_met_may_be_much_less)
{
	double all = 500 * PERIOD, square = all * all / 50000;
	double other = 4 * PERIOD, low;
	double share[] = { all + other, square + other * other, all, square,
			   other, other * other };
	struct transfer_sampling s = { 50000, 1 / 12.0, 0, 0 };
	struct transfer_moment one = { other, other * other };
	json_t *j = report_of_chains(share);

	low = transfer_interval(&one, &s).low;
	ck_assert_double_lt(low, PERIOD);
	ck_assert_double_eq_tol(
		json_number_value(at(j, "communication.false_share.low")),
		low / (low + all), 1e-9);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_share");
	TCase *tc = tcase_create("report_share");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_add_loop_test(tc, what_no_sample_met_may_be_of_the_other_kind, 0,
			    2);
	tcase_add_test(tc, what_one_sample_met_may_be_much_less);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
