/* SPDX-License-Identifier: MIT */
/*
 * test_recall - a path is recalled if all words that its walk met are there
 */
#include <stdint.h>

#include "preload/heap/recall.h"
#include "src/base/rng.h"
#include "tests/preload/heap/four_threads.h"
#include "tests/run_suite.h"

enum {
	WORDS = 1024,
	INNERMOST = 700,
	STEP = 9, /* words from one return address to the next */
	ROUNDS = 200000,
};

struct stack {
	uint64_t word[WORDS];
	struct own_stack bounds;
};

static struct stack mine;

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Return addresses from @first on, @calls of them, and %rbp below each. */
static uint64_t *make(struct stack *s, unsigned calls, uint64_t first)
{
	uint64_t *frame = &s->word[INNERMOST];

	s->bounds = (struct own_stack){ .low = address_of(s->word),
					.high = address_of(s->word + WORDS) };
	for (unsigned i = 0; i < WORDS; i++)
		s->word[i] = 0;
	for (unsigned i = 0; i < calls; i++) {
		frame[STEP * i + 1] = first + i;
		frame[STEP * i] = address_of(&frame[STEP * (i + 1)]);
	}
	return frame;
}

/* Walk it, with %rbp at the calls of which @rbps has a bit. */
static struct recall_path walk(const uint64_t *frame, unsigned calls,
			       unsigned rbps)
{
	struct recall_path p;

	recall_path_begin(&p, frame[1], frame);
	for (unsigned i = 1; i < calls; i++) {
		const uint64_t *at = &frame[STEP * i];

		if (rbps >> i & 1)
			recall_path_rbp(&p, address_of(at - STEP), at[-STEP]);
		recall_path_call(&p, address_of(at + 1), at[1]);
	}
	return p;
}

static uint32_t look(const struct stack *s)
{
	const uint64_t *frame = &s->word[INNERMOST];

	return recall(&s->bounds, frame[1], frame);
}

static void put(unsigned calls, unsigned rbps, uint32_t number)
{
	struct recall_path p = walk(&mine.word[INNERMOST], calls, rbps);

	recall_put(&mine.bounds, &p, number);
}

/* The walk of @calls met the words of @rbps and of all return addresses. */
static bool was_met(unsigned word, unsigned calls, unsigned rbps)
{
	unsigned call = (word - INNERMOST) / STEP;

	if (word < INNERMOST)
		return false;
	switch ((word - INNERMOST) % STEP) {
	case 0:
		return call + 1 < calls && rbps >> (call + 1) & 1;
	case 1:
		return call < calls;
	default:
		return false;
	}
}

START_TEST(any_other_word_that_the_walk_met_is_another_path)
{
	for (unsigned calls = 1; calls <= HEAP_PATH_MAX; calls++) {
		unsigned rbps = calls % 2 ? 0xff : 0x24;

		recall_forget();
		make(&mine, calls, 0x1000 * calls);
		put(calls, rbps, calls);
		ck_assert_uint_eq(look(&mine), calls);
		for (unsigned i = 0; i < WORDS; i++) {
			mine.word[i] ^= 8;
			ck_assert_uint_eq(look(&mine),
					  was_met(i, calls, rbps) ? 0 : calls);
			mine.word[i] ^= 8;
		}
	}
}
END_TEST

START_TEST(other_threads_have_the_same_paths_at_other_addresses)
{
	static struct stack theirs;

	recall_forget();
	make(&mine, 5, 0x9000);
	make(&theirs, 5, 0x9000);
	put(5, 0xff, 7);
	ck_assert_uint_eq(look(&theirs), 7);
}
END_TEST

START_TEST(several_paths_of_one_call_and_depth_are_told_apart)
{
	recall_forget();
	for (uint32_t i = 1; i <= 4; i++) {
		make(&mine, 6, 0xa000);
		mine.word[INNERMOST + STEP * 5 + 1] += i;
		put(6, 0, i);
	}
	for (uint32_t i = 1; i <= 4; i++) {
		make(&mine, 6, 0xa000);
		mine.word[INNERMOST + STEP * 5 + 1] += i;
		ck_assert_uint_eq(look(&mine), i);
	}
}
END_TEST

START_TEST(an_unloaded_library_and_a_walk_by_other_means_are_not_recalled)
{
	struct recall_path p;

	make(&mine, 6, 0xb000);
	p = walk(&mine.word[INNERMOST], 6, 0);
	recall_forget(); /* while it was walked */
	recall_put(&mine.bounds, &p, 9);
	ck_assert_uint_eq(look(&mine), 0);
	p = walk(&mine.word[INNERMOST], 6, 0);
	p.lasting = false;
	recall_put(&mine.bounds, &p, 9);
	ck_assert_uint_eq(look(&mine), 0);
	put(6, 0, 9);
	ck_assert_uint_eq(look(&mine), 9);
	recall_forget();
	ck_assert_uint_eq(look(&mine), 0);
}
END_TEST

/* The words beyond are right, but may not be there the next time. */
START_TEST(nothing_beyond_the_stack_counts)
{
	recall_forget();
	make(&mine, 6, 0xc000);
	mine.bounds.high = address_of(&mine.word[INNERMOST + STEP * 5]);
	put(6, 0, 3);
	ck_assert_uint_eq(look(&mine), 0);
	mine.bounds.high = address_of(mine.word + WORDS);
	put(6, 0, 3);
	ck_assert_uint_eq(look(&mine), 3);
	mine.bounds.low = address_of(&mine.word[INNERMOST + 3]);
	ck_assert_uint_eq(look(&mine), 0);
}
END_TEST

/* All in one set, so that threads replace each other's paths all the time. */
static void *churn(void *seed)
{
	static const unsigned met[] = { 1, 3, 5 };
	struct stack s;
	struct rng rng;

	rng_seed(&rng, (uintptr_t)seed, 3);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t number = 1 + (uint32_t)rng_below(&rng, 27), n = number;
		uint64_t *frame = make(&s, 6, 0xd000);
		struct recall_path p;
		uint32_t got;

		for (unsigned k = 0; k < 3; k++, n /= 3)
			frame[STEP * met[k] + 1] += 0x100 * (n % 3);
		got = recall(&s.bounds, frame[1], frame);
		ck_assert(!got || got == number);
		p = walk(frame, 6, number % 2 ? 0xff : 0);
		if (!got)
			recall_put(&s.bounds, &p, number);
	}
	return NULL;
}

START_TEST(threads_that_replace_paths_never_recall_another)
{
	recall_forget();
	in_four_threads(churn);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recall");
	TCase *t = tcase_create("recall");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, any_other_word_that_the_walk_met_is_another_path);
	tcase_add_test(t, other_threads_have_the_same_paths_at_other_addresses);
	tcase_add_test(t, several_paths_of_one_call_and_depth_are_told_apart);
	tcase_add_test(
		t,
		an_unloaded_library_and_a_walk_by_other_means_are_not_recalled);
	tcase_add_test(t, nothing_beyond_the_stack_counts);
	tcase_add_test(t, threads_that_replace_paths_never_recall_another);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
