/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_needed - false sharing that padding does not avoid
 *
 * By hand, and over a stream in which lines are used once, against the exact
 * directory.
 */
#include <math.h>

#include "transfer_hand.h"
#include "transfer_patterns.h"
#include "tests/run_suite.h"

enum {
	MESSAGE = 4, /* words */
	SIM_STEPS = 200000,
	SIM_PERIOD = 50,
	SIM_SEEDS = 20,
};

/* Thread 0's store to word @n of the line is sampled. */
static struct hand *start_with(uint32_t n)
{
	struct hand *h = start(config(TRANSFER_NEEDED), 1);

	sample(h, 0, word(0, n, ACCESS_STORE), 100);
	return h;
}

static void stores(struct hand *h, uint32_t thread, uint32_t n)
{
	trap(h, thread, word(0, n, ACCESS_STORE), 200);
}

static void loads(struct hand *h, uint32_t thread, uint32_t n)
{
	trap(h, thread, word(0, n, ACCESS_LOAD), 200);
}

/* Transfers that the sample stands for. */
static double credited(struct hand *h)
{
	double sum = 0;

	transfer_finish(h->transfer, &h->thread[0]);
	for (uint32_t i = 0; h->chains && i < h->chain.n; i++)
		sum += h->event[i].weight / PERIOD;
	return sum;
}

START_TEST(an_earlier_store_that_is_needed_counts)
{
	struct hand *h = start_with(0);

	stores(h, 0, 1);
	loads(h, 1, 0);
	loads(h, 2, 0);
	ck_assert_double_eq(credited(h), 2);
	ck_assert_uint_eq(h->event[0].from, 0);
	ck_assert_uint_eq(h->event[0].to, 1);
}
END_TEST

START_TEST(the_last_store_of_all_is_true_sharing)
{
	struct hand *h = start_with(0);

	loads(h, 1, 0);
	stores(h, 0, 1);
	ck_assert_double_eq(credited(h), 0);
}
END_TEST

/* The later store of the turn stands for the visit, in any order of loads. */
START_TEST(of_a_turn_one_store_counts)
{
	struct hand *h = start_with(0);

	stores(h, 0, 1);
	stores(h, 0, 2);
	loads(h, 1, _i);
	loads(h, 1, 1 - _i);
	ck_assert_double_eq(credited(h), 0);
	h = start_with(1);
	stores(h, 0, 2);
	loads(h, 1, _i);
	loads(h, 1, 1 - _i);
	ck_assert_double_eq(credited(h), 1);
}
END_TEST

/* Thread 1 took back its visit; thread 2 did not. */
START_TEST(each_thread_has_a_visit_of_its_own)
{
	struct hand *h = start_with(0);

	stores(h, 0, 1);
	loads(h, 1, 0);
	loads(h, 2, 0);
	loads(h, 1, 1);
	ck_assert_double_eq(credited(h), 1);
}
END_TEST

START_TEST(a_visit_ends_with_the_store_of_another_thread)
{
	struct hand *h = start_with(0);

	stores(h, 0, 1);
	loads(h, 1, 0);
	stores(h, 1, 7);
	loads(h, 1, 7);
	stores(h, 2, 6);
	loads(h, 1, 1);
	ck_assert_double_eq(credited(h), 1);
}
END_TEST

/* Lines of their own would be two lines to fetch. */
START_TEST(stores_of_two_turns_count_twice)
{
	struct hand *h = start_with(0);

	stores(h, 2, 1);
	loads(h, 1, 1);
	loads(h, 1, 0);
	ck_assert_double_eq(credited(h), 1);
}
END_TEST

START_TEST(bytes_that_are_stored_again_end_the_sample)
{
	struct hand *h = start_with(0);

	stores(h, 2, 1);
	stores(h, 0, 0);
	ck_assert(!h->live[0]);
	/* Nor is it followed for ever. */
	h = start_with(0);
	for (int i = 0; i < 100000 && h->live[0]; i++)
		loads(h, 0, 1);
	ck_assert(!h->live[0]);
}
END_TEST

/* The receiver stores to the bytes itself, and then needs a later store. */
START_TEST(an_open_visit_may_be_taken_back_after_the_last_byte)
{
	struct hand *h = start_with(0);

	stores(h, 0, 1);
	stores(h, 1, 0);
	ck_assert(h->live[0]);
	loads(h, 1, 1);
	ck_assert_double_eq(credited(h), 0);
}
END_TEST

START_TEST(it_needs_whole_lines)
{
	struct transfer_config c = config(TRANSFER_NEEDED);

	ck_assert_uint_ne(transfer_size(&c), 0);
	c.chunk_bytes = 8;
	c.ranges = 4;
	ck_assert_uint_eq(transfer_size(&c), 0);
}
END_TEST

/*
 * Thread 0 stores a message of four words to a fresh line, thread 1 the words
 * behind it. Later thread 2 reads one or two words of the message, or none.
 */
static void messages(struct tsim *s, uint32_t thread, struct access *a)
{
	uint32_t *line = &s->state[thread][0], *step = &s->state[thread][1];
	uint32_t ahead = s->state[thread ? thread - 1 : 0][0];
	uint32_t first = *line * 2654435761u >> 30, n = *line % 3;

	pattern_private(s, thread, a);
	if (thread > 2 || (thread && *line + 1 >= ahead))
		return;
	if (thread < 2)
		pattern_word(a, *line, thread * MESSAGE + *step, ACCESS_STORE);
	else if (*step < n)
		pattern_word(a, *line, (first + *step) % MESSAGE, ACCESS_LOAD);
	if (++*step == MESSAGE) {
		*step = 0;
		++*line;
	}
}

/* All lines are used once: the directory judges each visit as it is. */
START_TEST(over_lines_used_once_it_finds_all_that_is_needed)
{
	double sum = 0, squares = 0, mean, error;

	for (uint64_t seed = 1; seed <= SIM_SEEDS; seed++) {
		struct transfer_config c = { .kind = TRANSFER_NEEDED,
					     .slots = TRANSFER_SLOTS_MAX,
					     .chunk_bytes = TSIM_LINE,
					     .ranges = 1 };
		struct tsim *s = tsim_new(messages, 4, SIM_PERIOD, seed);
		const struct transfer_cell *total;
		struct exact_cell truth;
		double found;

		tsim_add(s, c, 0);
		tsim_run(s, SIM_STEPS);
		truth = exact_total(s->exact);
		total = transfer_tally_total(s->estimator[0]->tally);
		found = total->share[TRANSFER_ALL].sum /
			(double)(truth.false_sharing - truth.useless);
		ck_assert_uint_gt(truth.useless, 1000);
		ck_assert_uint_gt(truth.false_sharing - truth.useless, 1000);
		sum += found;
		squares += found * found;
		tsim_free(s);
	}
	mean = sum / SIM_SEEDS;
	error = sqrt((squares / SIM_SEEDS - mean * mean) / (SIM_SEEDS - 1));
	ck_assert_msg(fabs(mean - 1) <= 3.5 * error && error <= 0.05,
		      "%.3f +- %.3f", mean, error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_needed");
	TCase *tc = tcase_create("transfer_needed");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, an_earlier_store_that_is_needed_counts);
	tcase_add_test(tc, the_last_store_of_all_is_true_sharing);
	tcase_add_loop_test(tc, of_a_turn_one_store_counts, 0, 2);
	tcase_add_test(tc, each_thread_has_a_visit_of_its_own);
	tcase_add_test(tc, a_visit_ends_with_the_store_of_another_thread);
	tcase_add_test(tc, stores_of_two_turns_count_twice);
	tcase_add_test(tc, bytes_that_are_stored_again_end_the_sample);
	tcase_add_test(tc, an_open_visit_may_be_taken_back_after_the_last_byte);
	tcase_add_test(tc, it_needs_whole_lines);
	tcase_add_test(tc, over_lines_used_once_it_finds_all_that_is_needed);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
