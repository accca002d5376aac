/* SPDX-License-Identifier: MIT */
/*
 * test_last_walk - a path is met again only if all that it follows from is
 * there
 *
 * Whole walks are compared with those of libgcc in test_unwind.c and of
 * libunwind in tests/e2e/check_unwind.sh.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/unwind/last_walk.h"
#include "tests/run_suite.h"

enum {
	WORDS = 16,
	FRAMES = 5,
	CODE = 0x1000,
};

/*
 * Frame i is at CODE + 100 * i. Frame 1 saves %rbp, frame 2 is counted from it
 * and saves another, which nobody needs. Frame 4 has no caller.
 */
static uint64_t word[WORDS];
static const struct unwind_frame path[FRAMES] = {
	{ .ip = CODE, .sp = 0 },        { .ip = CODE + 100, .sp = 16 },
	{ .ip = CODE + 200, .sp = 48 }, { .ip = CODE + 300, .sp = 80 },
	{ .ip = CODE + 400, .sp = 96 },
};
static const int saved_rbp_at[FRAMES] = { 0, 32, 64, 0, 0 };
static uint64_t rbp_of[FRAMES] = { 3, 3, 72, 7, 7 };
static uint64_t identity[FRAMES];
static unsigned finds;

static int read_word(void *ctx, uint64_t addr, void *buf, size_t n)
{
	if (addr > sizeof(word) || n > sizeof(word) - addr)
		return -EFAULT;
	memcpy(buf, (const char *)word + addr, n);
	return 0;
}

/* Each frame's code is an object of its own. */
static bool find(void *ctx, uint64_t pc, struct unwind_module *out)
{
	uint64_t i = (pc - CODE) / 100;

	finds++;
	*out = (struct unwind_module){ .low = CODE + i * 100,
				       .high = CODE + i * 100 + 100,
				       .identity = identity[i] };
	return i < FRAMES;
}

static const struct unwind_space space = { .memory = { read_word, NULL },
					   .find = find };
static struct last_walk last;

static void set_up(void)
{
	memset(&last, 0, sizeof(last));
	for (unsigned i = 0; i < FRAMES; i++)
		identity[i] = i + 1;
	for (unsigned i = 0; i + 1 < FRAMES; i++) {
		word[path[i + 1].sp / 8 - 1] = path[i + 1].ip + 1;
		if (saved_rbp_at[i])
			word[saved_rbp_at[i] / 8] = rbp_of[i + 1];
	}
}

static struct unwind_registers registers_of(unsigned i)
{
	struct unwind_registers r = { .known = 0 };

	register_set(&r, FRAME_PC, path[i].ip + 1);
	register_set(&r, FRAME_RSP, path[i].sp);
	register_set(&r, FRAME_RBP, rbp_of[i]);
	return r;
}

/* What the rules say of frame @i, as its place in struct above has it. */
static struct cfi_row row_of(unsigned i)
{
	struct cfi_row row = { .signal = false };
	uint64_t cfa = i + 1 < FRAMES ? path[i + 1].sp : 0;

	row.cfa.rule = RULE_VAL_OFFSET;
	row.cfa.base = i == 2 ? FRAME_RBP : FRAME_RSP;
	row.reg[FRAME_PC].rule = i + 1 < FRAMES ? RULE_OFFSET : RULE_UNDEFINED;
	row.reg[FRAME_PC].value = -8;
	if (saved_rbp_at[i]) {
		row.reg[FRAME_RBP].rule = RULE_OFFSET;
		row.reg[FRAME_RBP].value =
			(int32_t)(saved_rbp_at[i] - (int64_t)cfa);
	}
	return row;
}

static void walk_whole(void)
{
	last_walk_begin(&last);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct unwind_registers r = registers_of(i);
		struct cfi_row row = row_of(i);

		last_walk_add(&last, i, &path[i]);
		last_walk_note(&last, i, &row, identity[i],
			       i + 1 < FRAMES ? path[i + 1].sp : 0, &r);
	}
	last_walk_end(&last, FRAMES, true);
}

/* A walk that comes to frame @i first. Returns its frames. */
static unsigned meet(unsigned i, const struct unwind_registers *r, unsigned max)
{
	struct unwind_frame frame[FRAMES] = { path[i] };
	struct reader stack;
	unsigned n;

	reader_begin(&stack, &space.memory, 8);
	last_walk_begin(&last);
	last_walk_add(&last, 0, &path[i]);
	n = last_walk_meet(&last, &space, &stack, r, frame, 1, max);
	for (unsigned k = 0; k < n; k++) {
		ck_assert_uint_eq(frame[k].ip, path[i + k].ip);
		ck_assert_uint_eq(frame[k].sp, path[i + k].sp);
	}
	last_walk_end(&last, n ? n : 1, n);
	return n;
}

static unsigned meet_after_walk(unsigned i)
{
	struct unwind_registers r = registers_of(i);

	walk_whole();
	return meet(i, &r, FRAMES);
}

START_TEST(what_is_as_it_was_is_met_from_every_frame_on)
{
	for (unsigned i = 0; i < FRAMES; i++)
		ck_assert_uint_eq(meet_after_walk(i), FRAMES - i);
}
END_TEST

START_TEST(what_was_met_is_met_again)
{
	struct unwind_registers first = registers_of(1);
	struct unwind_registers second = registers_of(2);

	walk_whole();
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(meet(1, &first, FRAMES), FRAMES - 1);
	ck_assert_uint_eq(meet(2, &second, FRAMES), FRAMES - 2);
	ck_assert_uint_eq(meet(1, &first, FRAMES), 0);
}
END_TEST

/* The words that a walk reads: four return addresses, and %rbp of frame 2. */
START_TEST(any_word_that_matters_prevents_it_and_no_other_does)
{
	unsigned matter = 0;

	for (unsigned w = 0; w < WORDS; w++) {
		struct unwind_registers r = registers_of(0);
		unsigned n;

		set_up();
		walk_whole();
		word[w] ^= 8;
		n = meet(0, &r, FRAMES);
		ck_assert(n == 0 || n == FRAMES);
		matter += !n;
	}
	ck_assert_uint_eq(matter, 5);
}
END_TEST

START_TEST(rbp_matters_where_a_frame_is_counted_from_it)
{
	for (unsigned i = 0; i < FRAMES; i++) {
		struct unwind_registers r = registers_of(i);

		set_up();
		walk_whole();
		register_set(&r, FRAME_RBP, 1234);
		ck_assert_uint_eq(meet(i, &r, FRAMES), i == 2 ? 0 : FRAMES - i);
		walk_whole();
		r.known &= ~(1u << FRAME_RBP);
		ck_assert_uint_eq(meet(i, &r, FRAMES), i == 2 ? 0 : FRAMES - i);
	}
}
END_TEST

START_TEST(another_object_at_the_same_place_is_not_met)
{
	for (unsigned i = 0; i < FRAMES; i++) {
		struct unwind_registers r = registers_of(0);

		set_up();
		walk_whole();
		identity[i]++;
		ck_assert_uint_eq(meet(0, &r, FRAMES), 0);
	}
}
END_TEST

START_TEST(another_place_or_depth_is_not_met)
{
	struct unwind_registers r = registers_of(2);
	struct unwind_frame frame[FRAMES] = { path[2] };
	struct reader stack;

	reader_begin(&stack, &space.memory, 8);
	for (int other = 0; other < 2; other++) {
		walk_whole();
		frame[0].ip = path[2].ip + (other ? 0 : 4);
		frame[0].sp = path[2].sp + (other ? 8 : 0);
		last_walk_begin(&last);
		last_walk_add(&last, 0, &frame[0]);
		ck_assert_uint_eq(last_walk_meet(&last, &space, &stack, &r,
						 frame, 1, FRAMES),
				  0);
	}
}
END_TEST

START_TEST(a_walk_that_ended_early_is_not_met)
{
	struct unwind_registers r = registers_of(1);

	walk_whole();
	last_walk_end(&last, FRAMES, false);
	ck_assert_uint_eq(meet(1, &r, FRAMES), 0);
}
END_TEST

START_TEST(a_frame_of_another_kind_is_walked_each_time)
{
	struct unwind_registers r = registers_of(3);
	struct cfi_row row = row_of(3);

	walk_whole();
	row.cfa.base = FRAME_RBX;
	last_walk_add(&last, 3, &path[3]);
	last_walk_note(&last, 3, &row, identity[3], path[4].sp, &r);
	last_walk_end(&last, FRAMES, true);
	ck_assert_uint_eq(meet(3, &r, FRAMES), 0);
	ck_assert_uint_eq(meet_after_walk(3), 2);
}
END_TEST

START_TEST(there_is_room_or_it_is_not_met)
{
	struct unwind_registers r = registers_of(0);

	walk_whole();
	ck_assert_uint_eq(meet(0, &r, FRAMES - 1), 0);
	walk_whole();
	ck_assert_uint_eq(meet(0, &r, FRAMES), FRAMES);
}
END_TEST

START_TEST(tags_stay_with_frames_until_another_user_comes)
{
	struct unwind_registers r = registers_of(1);

	last_walk_use(&last, 1);
	walk_whole();
	for (unsigned i = 0; i < FRAMES; i++)
		*last_walk_tag(&last, i) = 10 + i;
	ck_assert_ptr_null(last_walk_tag(&last, FRAMES));
	ck_assert_uint_eq(meet(1, &r, FRAMES), FRAMES - 1);
	for (unsigned i = 0; i + 1 < FRAMES; i++)
		ck_assert_uint_eq(*last_walk_tag(&last, i), 11 + i);
	last_walk_use(&last, 1);
	ck_assert_uint_eq(meet(1, &r, FRAMES), FRAMES - 1);
	last_walk_use(&last, 2);
	ck_assert_uint_eq(meet(1, &r, FRAMES), 0);
}
END_TEST

int main(void)
{
	TCase *c = tcase_create("last_walk");
	Suite *s = suite_create("last_walk");

	tcase_add_checked_fixture(c, set_up, NULL);
	tcase_add_test(c, what_is_as_it_was_is_met_from_every_frame_on);
	tcase_add_test(c, what_was_met_is_met_again);
	tcase_add_test(c, any_word_that_matters_prevents_it_and_no_other_does);
	tcase_add_test(c, rbp_matters_where_a_frame_is_counted_from_it);
	tcase_add_test(c, another_object_at_the_same_place_is_not_met);
	tcase_add_test(c, another_place_or_depth_is_not_met);
	tcase_add_test(c, a_walk_that_ended_early_is_not_met);
	tcase_add_test(c, a_frame_of_another_kind_is_walked_each_time);
	tcase_add_test(c, there_is_room_or_it_is_not_met);
	tcase_add_test(c, tags_stay_with_frames_until_another_user_comes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
