/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_corpus - rings and records that a fuzzer made up
 */
#include "tests/fuzz/fuzz_perf_ring.c"

#include "tests/fuzz/corpus.h"
#include "tests/run_suite.h"

enum {
	INPUTS_MIN = 100, /* fewer: it is not the corpus */
	SECONDS = 60,
};

START_TEST(what_the_fuzzer_found_is_taken_or_counted_as_lost)
{
	ck_assert_uint_ge(corpus_play("perf_ring", LLVMFuzzerTestOneInput),
			  INPUTS_MIN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pmu_corpus");
	TCase *tc = tcase_create("pmu_corpus");

	tcase_set_timeout(tc, SECONDS);
	tcase_add_test(tc, what_the_fuzzer_found_is_taken_or_counted_as_lost);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
