/* SPDX-License-Identifier: MIT */
/*
 * test_predictor - which patterns each predictor learns
 */
#include "analysis/model/predictor.h"
#include "analysis/model/predictor_tage.h"
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

enum {
	TABLES = 4,
	MIXED = 600000, /* branches; the useful ones age every 2^18 */
};

/* A second TAGE, which folds its histories anew for each branch. */
static struct {
	struct {
		int tag, counter, useful; /* tag 0: empty */
	} entry[TABLES][1024], *at[TABLES];
	int base[4096], tag[TABLES], trust;
} slow;
static bool past[MIXED];

/* The last @n outcomes before branch @now, the one of age a at bit a % @bits.
 */
static uint64_t folded(int now, int n, int bits)
{
	uint64_t sum = 0;

	for (int age = 0; age < n && age < now; age++)
		sum ^= (uint64_t)past[now - 1 - age] << age % bits;
	return sum;
}

static void step(int *counter, bool up, int max)
{
	*counter += up ? *counter < max : -(*counter > 0);
}

static bool slow_says(int table, uint64_t ip)
{
	return table < 0 ? slow.base[ip % 4096] > 1
			 : slow.at[table]->counter > 3;
}

static void slow_allocate(int provider, bool taken)
{
	for (int i = provider + 1; i < TABLES; i++)
		if (!slow.at[i]->useful) {
			slow.at[i]->tag = slow.tag[i];
			slow.at[i]->counter = taken ? 4 : 3;
			return;
		}
	for (int i = provider + 1; i < TABLES; i++)
		slow.at[i]->useful--;
}

static void slow_age(int now)
{
	for (int i = 0; i < TABLES && !((now + 1) % (1 << 18)); i++)
		for (int k = 0; k < 1024; k++)
			slow.entry[i][k].useful /= 2;
}

static bool slow_right(int now, uint64_t ip, bool taken)
{
	static const int length[TABLES] = { 5, 15, 44, 130 };
	int provider = -1, other = -1;
	bool says, otherwise, new = false, predicted;

	for (int i = 0; i < TABLES; i++) {
		uint64_t index = ip ^ ip >> 10 ^ folded(now, length[i], 10);
		uint64_t tag = ip ^ folded(now, length[i], 9) ^
			       folded(now, length[i], 8) << 1;

		slow.at[i] = &slow.entry[i][index % 1024];
		slow.tag[i] = (int)(tag % 512) + 1;
		if (slow.at[i]->tag != slow.tag[i])
			continue;
		other = provider;
		provider = i;
	}
	says = slow_says(provider, ip);
	otherwise = slow_says(other, ip);
	if (provider >= 0)
		new = !slow.at[provider]->useful &&
		      (slow.at[provider]->counter == 3 ||
		       slow.at[provider]->counter == 4);
	predicted = new &&slow.trust > 7 ? otherwise : says;
	if (provider < 0) {
		step(&slow.base[ip % 4096], taken, 3);
	} else {
		if (says != otherwise && new)
			step(&slow.trust, otherwise == taken, 15);
		if (says != otherwise)
			step(&slow.at[provider]->useful, says == taken, 3);
		step(&slow.at[provider]->counter, taken, 7);
	}
	if (predicted != taken)
		slow_allocate(provider, taken);
	slow_age(now);
	return predicted == taken;
}

/* A few branches that repeat, follow others, or are random; some far apart. */
START_TEST(tage_is_one_that_folds_its_histories_anew)
{
	struct tage *fast = tage_new();

	for (int i = 0; i < MIXED; i++) {
		uint64_t branch = rng_below(&rng, 12);
		uint64_t ip = branch < 6
				      ? IP + 7 * branch
				      : branch * UINT64_C(0x9e3779b97f4a7c15);
		bool taken = branch % 3 == 0   ? pattern[i % PERIOD]
			     : branch % 3 == 1 ? i > 20 && past[i - 20]
					       : rng_below(&rng, 8) == 0;

		ck_assert_int_eq(tage_right(fast, ip, taken),
				 slow_right(i, ip, taken));
		past[i] = taken;
	}
	free(fast);
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
	tcase_add_test(t, tage_is_one_that_folds_its_histories_anew);
	suite_add_tcase(s, t);
	return run_suite(s);
}
