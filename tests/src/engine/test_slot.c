/* SPDX-License-Identifier: MIT */
/*
 * test_slot - the protocol by which threads change what a slot watches
 */
#include <check.h>
#include <errno.h>

#include "src/engine/slot.h"
#include "tests/run_suite.h"

enum {
	HELD = SLOT_FREE + 1
};

static struct slot slot;
static struct slot_turn turn;

static void setup(void)
{
	slot = (struct slot){ .state = SLOT_FREE };
}

/* A thread takes the slot. */
static void take(void)
{
	spin_lock(&slot.lock);
	slot_change(&slot, HELD);
	ck_assert(slot_begin_turn(&slot, &turn));
	spin_unlock(&slot.lock);
}

/* Another thread changes the slot meanwhile. */
static void change_meanwhile(uint32_t state)
{
	struct slot_turn other;

	spin_lock(&slot.lock);
	slot_change(&slot, state);
	ck_assert(!slot_begin_turn(&slot, &other));
	spin_unlock(&slot.lock);
}

START_TEST(a_trap_of_what_is_armed_gets_the_lock)
{
	take();
	ck_assert_int_eq(slot_lock_armed(&slot, turn.generation, 1), 0);
	ck_assert_int_eq(slot_lock_armed(&slot, turn.generation, 1), -EBUSY);
	spin_unlock(&slot.lock);
}
END_TEST

START_TEST(a_trap_of_what_was_armed_before_is_stale)
{
	uint32_t before;

	take();
	before = turn.generation;
	change_meanwhile(HELD);
	ck_assert_int_eq(slot_lock_armed(&slot, before, 1), -ESTALE);
	/* Without the lock. */
	ck_assert(spin_try_lock(&slot.lock, 1));
}
END_TEST

START_TEST(a_free_slot_traps_for_nobody)
{
	ck_assert_int_eq(slot_lock_armed(&slot, 0, 1), -ESTALE);
	ck_assert(slot_lock_if_free(&slot));
	ck_assert(!slot_lock_if_free(&slot));
	spin_unlock(&slot.lock);
	take();
	ck_assert(!slot_lock_if_free(&slot));
}
END_TEST

START_TEST(the_programmer_sees_what_changed_while_it_armed)
{
	take();
	ck_assert(turn.arm);
	change_meanwhile(SLOT_FREE);
	ck_assert_int_eq(slot_check_turn(&slot, &turn, 0), SLOT_AGAIN);
	ck_assert(!turn.arm);
	ck_assert_uint_eq(turn.generation, slot_generation(&slot));
	spin_unlock(&slot.lock);
	ck_assert_int_eq(slot_check_turn(&slot, &turn, 0), SLOT_DONE);
	slot_end_turn(&slot);
	take(); /* the next programmer */
}
END_TEST

START_TEST(arming_that_fails_is_not_tried_again)
{
	take();
	ck_assert_int_eq(slot_check_turn(&slot, &turn, -EBUSY), SLOT_FAILED);
	slot_change(&slot, SLOT_FREE);
	slot_end_turn(&slot);
	ck_assert(slot_lock_if_free(&slot));
}
END_TEST

START_TEST(a_slot_that_changes_too_often_is_given_up)
{
	enum slot_progress p = SLOT_AGAIN;
	int rounds;

	take();
	for (rounds = 0; p == SLOT_AGAIN; rounds++) {
		change_meanwhile(HELD);
		p = slot_check_turn(&slot, &turn, 0);
		if (p == SLOT_AGAIN)
			spin_unlock(&slot.lock);
	}
	ck_assert_int_eq(p, SLOT_FAILED);
	ck_assert_int_eq(rounds, SLOT_ROUNDS_MAX + 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slot");
	TCase *tc = tcase_create("slot");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_trap_of_what_is_armed_gets_the_lock);
	tcase_add_test(tc, a_trap_of_what_was_armed_before_is_stale);
	tcase_add_test(tc, a_free_slot_traps_for_nobody);
	tcase_add_test(tc, the_programmer_sees_what_changed_while_it_armed);
	tcase_add_test(tc, arming_that_fails_is_not_tried_again);
	tcase_add_test(tc, a_slot_that_changes_too_often_is_given_up);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
