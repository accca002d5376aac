/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_scopes - what ends a use, in each scope
 *
 * The tables are those of the papers, one cell a check.
 */
#include "reuse_hand.h"
#include "tests/run_suite.h"

/* Order of accesses, then who: the same core, another one. */
struct cell {
	bool use, end; /* stores */
	int thread;    /* of the end; the use's is 0 */
	enum reuse_outcome outcome;
};

static const struct cell table_6_2[] = {
	{ false, false, 0, REUSE_REUSED },
	{ false, false, 2, REUSE_NOTHING },
	{ false, true, 0, REUSE_REUSED },
	{ false, true, 2, REUSE_INVALIDATED },
	{ true, true, 0, REUSE_REUSED },
	{ true, true, 2, REUSE_INVALIDATED },
	{ true, false, 0, REUSE_REUSED },
	{ true, false, 2, REUSE_NOTHING },
	/* any socket */
	{ false, false, 3, REUSE_NOTHING },
	{ false, true, 3, REUSE_INVALIDATED },
	{ true, true, 3, REUSE_INVALIDATED },
	{ true, false, 3, REUSE_NOTHING },
};

/* "No reuse" is the core's own on the same core, else nothing. */
static const struct cell table_6_3[] = {
	{ false, false, 0, REUSE_SAME_CORE },
	{ false, false, 1, REUSE_SAME_CORE },
	{ false, false, 2, REUSE_REUSED },
	{ false, false, 3, REUSE_NOTHING },
	{ false, true, 0, REUSE_SAME_CORE },
	{ false, true, 1, REUSE_SAME_CORE },
	{ false, true, 2, REUSE_REUSED },
	{ false, true, 3, REUSE_INVALIDATED },
	{ true, true, 0, REUSE_SAME_CORE },
	{ true, true, 1, REUSE_SAME_CORE },
	{ true, true, 2, REUSE_REUSED },
	{ true, true, 3, REUSE_INVALIDATED },
	{ true, false, 0, REUSE_SAME_CORE },
	{ true, false, 1, REUSE_SAME_CORE },
	{ true, false, 2, REUSE_REUSED },
	{ true, false, 3, REUSE_NOTHING },
};

static const struct cell any_thread[] = {
	{ false, false, 0, REUSE_REUSED },    { false, false, 2, REUSE_REUSED },
	{ false, true, 1, REUSE_REUSED },     { true, true, 2, REUSE_REUSED },
	{ true, false, 2, REUSE_REUSED },     { true, false, 3, REUSE_NOTHING },
	{ true, true, 3, REUSE_INVALIDATED },
};

enum {
	CELLS_6_2 = sizeof(table_6_2) / sizeof(table_6_2[0]),
	CELLS_6_3 = sizeof(table_6_3) / sizeof(table_6_3[0]),
	CELLS_ANY = sizeof(any_thread) / sizeof(any_thread[0]),
};

static void check_cell(enum reuse_scope scope, const struct cell *c)
{
	struct hand *h = start(config(scope, REUSE_ADDRESS, 1), 1);
	static const enum reuse_pairing pairing[2][2] = {
		{ REUSE_RAR, REUSE_WAR }, { REUSE_RAW, REUSE_WAW }
	};

	h->count = 15;
	sample(h, 0, BASE, c->use, 10);
	trap(h, c->thread, BASE, c->end, 30);
	if (c->outcome == REUSE_NOTHING) {
		ck_assert_int_eq(h->events, 0);
		ck_assert(h->live[0]);
		/* The use goes on: its own thread's access still ends it. */
		trap(h, 0, BASE, false, 40);
		ck_assert_int_eq(h->events, 1);
		ck_assert_uint_eq(h->event.time, 30);
		return;
	}
	ck_assert_int_eq(h->events, 1);
	ck_assert(!h->live[0]);
	ck_assert_int_eq(h->event.outcome, c->outcome);
	ck_assert_int_eq(h->event.pairing, pairing[c->use][c->end]);
	ck_assert_uint_eq(h->event.use_place.thread, 0);
	ck_assert_uint_eq(h->event.end_place.thread, c->thread);
	ck_assert_uint_eq(h->event.use.ip, c->use ? 0x5707e : 0x10ad);
	ck_assert_uint_eq(h->event.end.ip, c->end ? 0x5707e : 0x10ad);
	ck_assert_uint_eq(h->event.time,
			  c->outcome == REUSE_INVALIDATED ? 6 : 20);
	/* It is over: nothing ends it twice. */
	trap(h, 0, BASE, true, 50);
	ck_assert_int_eq(h->events, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).stale, 1);
}

START_TEST(reuse_in_a_thread_is_as_in_table_6_2)
{
	check_cell(REUSE_PRIVATE, &table_6_2[_i]);
}
END_TEST

START_TEST(reuse_in_a_shared_cache_is_as_in_table_6_3)
{
	check_cell(REUSE_SHARED, &table_6_3[_i]);
}
END_TEST

START_TEST(a_shared_cache_sees_the_next_access_of_any_thread_under_it)
{
	check_cell(REUSE_GLOBAL, &any_thread[_i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reuse_scopes");
	TCase *tc = tcase_create("reuse_scopes");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, reuse_in_a_thread_is_as_in_table_6_2, 0,
			    CELLS_6_2);
	tcase_add_loop_test(tc, reuse_in_a_shared_cache_is_as_in_table_6_3, 0,
			    CELLS_6_3);
	tcase_add_loop_test(
		tc, a_shared_cache_sees_the_next_access_of_any_thread_under_it,
		0, CELLS_ANY);
	return run_suite(suite);
}
