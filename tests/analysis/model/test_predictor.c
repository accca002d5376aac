/* SPDX-License-Identifier: MIT */
/*
 * test_predictor - which patterns each predictor learns
 */
#include "analysis/model/predictor.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	BRANCHES = 40000,
	WARM = 20000,
	PERIOD = 60,
	APART = 24,
	IP = 0x401000,
};

static struct rng rng;
static struct predictor *predictor;
static bool pattern[PERIOD], history[BRANCHES];

static void begin(void)
{
	rng_seed(&rng, 1, 0);
	for (int i = 0; i < PERIOD; i++)
		pattern[i] = rng_below(&rng, 2);
}

/* How many of the last branches are mispredicted, in percent. */
static double wrong(enum machine_predictor kind,
		    bool (*outcome)(int i, uint64_t *ip))
{
	int n = 0;

	predictor = predictor_new(kind);
	for (int i = 0; i < BRANCHES; i++) {
		uint64_t ip = IP;

		history[i] = outcome(i, &ip);
		if (!predictor_right(predictor, ip, history[i]) && i >= WARM)
			n++;
	}
	predictor_free(predictor);
	return 100.0 * n / (BRANCHES - WARM);
}

static bool always(int i, uint64_t *ip)
{
	(void)i;
	(void)ip;
	return true;
}

static bool nine_of_ten(int i, uint64_t *ip)
{
	(void)i;
	(void)ip;
	return rng_below(&rng, 10) != 0;
}

static bool random_outcome(int i, uint64_t *ip)
{
	(void)i;
	(void)ip;
	return rng_below(&rng, 2);
}

static bool long_period(int i, uint64_t *ip)
{
	(void)ip;
	return pattern[i % PERIOD];
}

/* A random branch, others, and one that does what the first did. */
static bool repeated_later(int i, uint64_t *ip)
{
	*ip = IP + 16 * (uint64_t)(i % APART);
	if (i % APART == 0)
		return rng_below(&rng, 2);
	return i % APART == APART - 1 ? history[i - (APART - 1)] : i % 2;
}

START_TEST(tage_learns_a_period_longer_than_other_histories)
{
	ck_assert_double_lt(wrong(PREDICTOR_TAGE, long_period), 0.5);
	ck_assert_double_gt(wrong(PREDICTOR_TOURNAMENT, long_period), 0.5);
	ck_assert_double_gt(wrong(PREDICTOR_ONE_BIT, long_period), 30);
}
END_TEST

START_TEST(tage_sees_what_a_branch_long_before_did)
{
	/* One in 24 is random, and cannot be predicted. */
	ck_assert_double_lt(wrong(PREDICTOR_TAGE, repeated_later),
			    100.0 / APART * 0.65);
	ck_assert_double_gt(wrong(PREDICTOR_TOURNAMENT, repeated_later),
			    100.0 / APART * 0.85);
}
END_TEST

START_TEST(tage_is_not_led_astray_by_what_is_random)
{
	ck_assert_double_eq(wrong(PREDICTOR_TAGE, always), 0);
	ck_assert_double_eq_tol(wrong(PREDICTOR_TAGE, random_outcome), 50, 3);
	ck_assert_double_lt(wrong(PREDICTOR_TAGE, nine_of_ten), 15);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("predictor");
	TCase *t = tcase_create("predictor");

	tcase_add_checked_fixture(t, begin, NULL);
	tcase_add_test(t, tage_learns_a_period_longer_than_other_histories);
	tcase_add_test(t, tage_sees_what_a_branch_long_before_did);
	tcase_add_test(t, tage_is_not_led_astray_by_what_is_random);
	suite_add_tcase(s, t);
	return run_suite(s);
}
