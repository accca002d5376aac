/* SPDX-License-Identifier: MIT */
/*
 * test_row_cache - what is remembered is what was found
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/base/rng.h"
#include "src/unwind/row_cache.h"
#include "tests/run_suite.h"

enum {
	ROWS = 64,
	THREADS = 4,
	ROUNDS = 30000,
};

static struct row_cache *new_cache(void)
{
	size_t bytes = row_cache_size(ROWS);
	void *mem = aligned_alloc(64, (bytes + 63) / 64 * 64);

	memset(mem, 0, bytes);
	return row_cache_init(mem, ROWS);
}

/* A row that depends on @n alone. */
static struct cfi_row row_of(uint64_t n)
{
	struct cfi_row r;

	memset(&r, 0, sizeof(r));
	r.cfa = (struct cfi_where){ .rule = RULE_VAL_OFFSET,
				    .base = n & 1 ? FRAME_RBP : FRAME_RSP,
				    .value = (int32_t)(n * 8) };
	r.reg[FRAME_PC] =
		(struct cfi_where){ .rule = RULE_OFFSET, .value = -8 };
	r.reg[FRAME_RBX] = (struct cfi_where){ .rule = RULE_OFFSET,
					       .value = -(int32_t)(n % 1000) };
	if (n & 2)
		r.reg[15] =
			(struct cfi_where){ .rule = RULE_OFFSET, .value = 16 };
	r.signal = n & 4;
	return r;
}

START_TEST(a_common_row_comes_back_as_it_was)
{
	struct row_cache *c = new_cache();

	for (uint64_t n = 1; n < 5000; n++) {
		struct cfi_row put = row_of(n), got;

		ck_assert(!row_cache_find(c, n, 5, &got));
		row_cache_put(c, n, 5, &put);
		ck_assert(row_cache_find(c, n, 5, &got));
		ck_assert_mem_eq(&put, &got, sizeof(got));
		ck_assert(!row_cache_find(c, n, 6, &got));
		ck_assert(!row_cache_find(c, n + 1, 5, &got));
	}
	free(c);
}
END_TEST

START_TEST(nothing_is_there_at_first)
{
	struct row_cache *c = new_cache();
	struct cfi_row got;

	for (uint64_t pc = 0; pc < 1000; pc++)
		ck_assert(!row_cache_find(c, pc, 0, &got));
	free(c);
}
END_TEST

START_TEST(a_first_frame_stays_one)
{
	struct row_cache *c = new_cache();
	struct cfi_row put = row_of(8), got;

	put.reg[FRAME_PC] = (struct cfi_where){ .rule = RULE_UNDEFINED };
	row_cache_put(c, 3, 3, &put);
	ck_assert(row_cache_find(c, 3, 3, &got));
	ck_assert_uint_eq(got.reg[FRAME_PC].rule, RULE_UNDEFINED);
	free(c);
}
END_TEST

static void is_not_kept(struct cfi_row put)
{
	struct row_cache *c = new_cache();
	struct cfi_row got;

	row_cache_put(c, 3, 3, &put);
	ck_assert(!row_cache_find(c, 3, 3, &got));
	free(c);
}

START_TEST(rows_of_other_kinds_are_not_kept)
{
	struct cfi_row r = row_of(8);

	r.cfa.rule = RULE_VAL_EXPRESSION;
	is_not_kept(r);
	r = row_of(8);
	r.reg[FRAME_PC].value = -16;
	is_not_kept(r);
	r = row_of(8);
	r.reg[FRAME_RBX].value = INT16_MIN;
	is_not_kept(r);
	r = row_of(8);
	r.reg[FRAME_RBX].value = 40000;
	is_not_kept(r);
	r = row_of(8);
	r.reg[FRAME_RBX].rule = RULE_REGISTER;
	is_not_kept(r);
	r = row_of(8);
	r.reg[FRAME_R8] = (struct cfi_where){ .rule = RULE_OFFSET };
	is_not_kept(r);
	r = row_of(8);
	r.reg[FRAME_RSP] = (struct cfi_where){ .rule = RULE_OFFSET };
	is_not_kept(r);
	ck_assert_uint_eq(row_cache_size(0), 0);
	ck_assert_uint_eq(row_cache_size(48), 0);
}
END_TEST

static struct row_cache *shared;

static void *put_and_find(void *arg)
{
	struct rng rng;
	uint64_t wrong = 0;

	rng_seed(&rng, 1, (uint64_t)(uintptr_t)arg);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t n = 1 + rng_below(&rng, 3 * ROWS);
		struct cfi_row want = row_of(n), got;

		if (row_cache_find(shared, n, 1, &got))
			wrong += !!memcmp(&want, &got, sizeof(got));
		else
			row_cache_put(shared, n, 1, &want);
	}
	return (void *)(uintptr_t)wrong;
}

START_TEST(threads_that_share_it_find_whole_rows)
{
	pthread_t thread[THREADS];
	void *wrong;

	shared = new_cache();
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, put_and_find,
						(void *)(uintptr_t)i),
				 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
	free(shared);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("row_cache");
	TCase *c = tcase_create("row_cache");

	tcase_set_timeout(c, 300);
	tcase_add_test(c, a_common_row_comes_back_as_it_was);
	tcase_add_test(c, nothing_is_there_at_first);
	tcase_add_test(c, a_first_frame_stays_one);
	tcase_add_test(c, rows_of_other_kinds_are_not_kept);
	tcase_add_test(c, threads_that_share_it_find_whole_rows);
	suite_add_tcase(s, c);
	return run_suite(s);
}
