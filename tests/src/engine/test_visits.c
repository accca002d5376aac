/* SPDX-License-Identifier: MIT */
/*
 * test_visits - what padding avoids, of lines whose cure is known
 */
#include <check.h>

#include "src/engine/visits.h"
#include "tests/run_suite.h"

enum {
	LINE = 0x1000,
	A = 7,
	B = 9,
};

static struct visit_table table;

static struct access to(uint32_t byte, uint32_t len, uint16_t flags)
{
	return (struct access){ .addr = LINE + byte,
				.len = len,
				.flags = flags };
}

static struct visit visit(void)
{
	return (struct visit){ .line = LINE };
}

static void touch(struct visit *v, uint32_t byte, uint16_t flags)
{
	struct access a = to(byte, 8, flags);

	visit_add(v, &a);
}

static enum padding judge(const struct visit *v, uint32_t thread,
			  uint32_t published, uint32_t publisher)
{
	struct access a = to(published, 8, ACCESS_STORE);

	return visit_judge(&table, v, thread, &a, publisher);
}

static void forget(void)
{
	table = (struct visit_table){ 0 };
}

START_TEST(bytes_are_those_on_the_line)
{
	struct access a = to(8, 8, ACCESS_LOAD), over = to(60, 8, ACCESS_LOAD),
		      before = { .addr = LINE - 4, .len = 6 },
		      all = { .addr = LINE - 64, .len = 256 },
		      beside = { .addr = LINE + 64, .len = 8 },
		      none = { .addr = LINE };

	ck_assert_uint_eq(visit_bytes(LINE, &a), 0xff00);
	ck_assert_uint_eq(visit_bytes(LINE, &over), 0xfull << 60);
	ck_assert_uint_eq(visit_bytes(LINE, &before), 3);
	ck_assert_uint_eq(visit_bytes(LINE, &all), UINT64_MAX);
	ck_assert_uint_eq(visit_bytes(LINE, &beside), 0);
	ck_assert_uint_eq(visit_bytes(LINE, &none), 0);
}
END_TEST

START_TEST(a_struct_for_each_thread_wants_padding)
{
	struct visit a = visit(), b = visit();

	forget();
	touch(&a, 0, ACCESS_LOAD);
	touch(&a, 0, ACCESS_STORE);
	touch(&b, 8, ACCESS_STORE);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(judge(&a, A, 8, B), PADDING_AVOIDS);
		ck_assert_int_eq(judge(&b, B, 0, A), PADDING_AVOIDS);
	}
}
END_TEST

/* The first access is to the lock, the published store to the counter. */
START_TEST(a_lock_and_what_it_protects_do_not)
{
	struct visit v = visit();

	forget();
	touch(&v, 0, ACCESS_LOAD | ACCESS_STORE);
	touch(&v, 8, ACCESS_LOAD | ACCESS_STORE);
	ck_assert_int_eq(judge(&v, A, 8, B), PADDING_KEEPS);
	ck_assert_int_eq(judge(&v, B, 8, A), PADDING_KEEPS);
}
END_TEST

START_TEST(readers_beside_a_counter_want_padding_and_who_counts_does_not)
{
	struct visit reads = visit(), counts = visit();

	forget();
	touch(&reads, 16, ACCESS_LOAD);
	touch(&counts, 0, ACCESS_LOAD | ACCESS_STORE);
	ck_assert_int_eq(judge(&reads, A, 0, B), PADDING_AVOIDS);
	ck_assert_int_eq(judge(&counts, A, 0, B), PADDING_KEEPS);
	ck_assert_int_eq(judge(&reads, B, 0, A), PADDING_AVOIDS);
}
END_TEST

/* What several threads store is shared even if one of them visits. */
START_TEST(bytes_that_many_store_stay_shared)
{
	struct visit v = visit();

	forget();
	touch(&v, 0, ACCESS_STORE);
	ck_assert_int_eq(judge(&v, A, 8, B), PADDING_AVOIDS);
	ck_assert_int_eq(judge(&v, B, 8, B), PADDING_KEEPS);
	ck_assert_int_eq(judge(&v, A, 8, B), PADDING_KEEPS);
}
END_TEST

/*
 * A message of 64 bytes: the writer is never detected on its line, because the
 * reader does not store there. Its sampled stores tell what it stores.
 */
START_TEST(sampled_stores_of_known_lines_are_remembered)
{
	struct access load = to(0, 16, ACCESS_LOAD),
		      store = to(0, 16, ACCESS_STORE);
	struct visit reads = visit();

	forget();
	touch(&reads, 0, ACCESS_LOAD);
	/* Nothing is known of the line yet. */
	visit_sampled(&table, A, &store);
	ck_assert_int_eq(judge(&reads, B, 48, A), PADDING_AVOIDS);
	visit_sampled(&table, A, &load);
	visit_sampled(&table, B, &store);
	ck_assert_int_eq(judge(&reads, B, 48, A), PADDING_AVOIDS);
	visit_sampled(&table, A, &store);
	ck_assert_int_eq(judge(&reads, B, 48, A), PADDING_KEEPS);
}
END_TEST

START_TEST(nothing_seen_is_not_judged)
{
	struct visit v = visit();

	forget();
	ck_assert_int_eq(judge(&v, A, 0, B), PADDING_UNKNOWN);
}
END_TEST

/* A line that takes the place of another begins afresh, and ends it. */
START_TEST(lines_do_not_mix)
{
	struct access a = to(0, 8, ACCESS_STORE);
	struct visit v = visit(), other;

	forget();
	touch(&v, 0, ACCESS_STORE);
	ck_assert_int_eq(judge(&v, A, 0, B), PADDING_KEEPS);
	for (uint64_t line = LINE + 64; line < LINE + 64 * 20000; line += 64) {
		other = (struct visit){ line, 0xff, 0xff };
		a.addr = line + 8;
		ck_assert_int_eq(visit_judge(&table, &other, A, &a, B),
				 PADDING_AVOIDS);
	}
	ck_assert_int_eq(judge(&v, A, 8, B), PADDING_AVOIDS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("visits");
	TCase *t = tcase_create("visits");

	tcase_add_test(t, bytes_are_those_on_the_line);
	tcase_add_test(t, a_struct_for_each_thread_wants_padding);
	tcase_add_test(t, a_lock_and_what_it_protects_do_not);
	tcase_add_test(
		t,
		readers_beside_a_counter_want_padding_and_who_counts_does_not);
	tcase_add_test(t, bytes_that_many_store_stay_shared);
	tcase_add_test(t, sampled_stores_of_known_lines_are_remembered);
	tcase_add_test(t, nothing_seen_is_not_judged);
	tcase_add_test(t, lines_do_not_mix);
	suite_add_tcase(s, t);
	return run_suite(s);
}
