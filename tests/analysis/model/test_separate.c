/* SPDX-License-Identifier: MIT */
/*
 * test_separate - which bytes come to lines of their own
 */
#include "analysis/model/separate.h"
#include "src/base/rng.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	CODE = 0x401000,
	LINE = 64,
	FIRST = 0x10000000,
	THREADS = 4,
	OFTEN = 40,
};

/* Loads and stores of 1, 4 and 8 bytes: a block each. */
static const struct access_code {
	const char *code;
	uint32_t length, bytes;
	bool store;
} codes[] = {
	{ "\x8a\x08", 2, 1, false },     { "\x88\x08", 2, 1, true },
	{ "\x8b\x08", 2, 4, false },     { "\x89\x08", 2, 4, true },
	{ "\x48\x8b\x08", 3, 8, false }, { "\x48\x89\x08", 3, 8, true },
};
enum {
	CODES = sizeof(codes) / sizeof(codes[0])
};

static struct fake_trace fake;
static struct trace trace;
static struct separate *separate;
static char path[128], error[TRACE_ERROR_BYTES];

static void begin_trace(void)
{
	fake_trace_init(&fake);
	for (int i = 0; i < CODES; i++) {
		fake_trace_block(&fake, CODE + 16 * (uint64_t)i);
		fake_trace_insn(&fake, codes[i].code, codes[i].length);
	}
}

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	begin_trace();
}

static void end(void)
{
	fake_trace_release(&fake);
	sandbox_teardown();
}

static int code_of(uint32_t bytes, bool store)
{
	for (int i = 0; i < CODES; i++)
		if (codes[i].bytes == bytes && codes[i].store == store)
			return i;
	ck_abort_msg("no such code");
}

static void access_by(int thread, uint64_t addr, uint32_t bytes, bool store)
{
	fake_trace_run(&fake, thread, (uint32_t)code_of(bytes, store));
	fake_trace_access(&fake, thread, 0, store, addr);
}

static void work_out(void)
{
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	separate = separate_new(&trace);
	trace_close(&trace);
}

static uint64_t line_of(uint64_t addr, uint32_t bytes)
{
	uint64_t moved = separate_address(separate, addr, bytes);

	ck_assert_uint_eq(moved % LINE, addr % LINE);
	return moved / LINE;
}

/* Often enough to count. */
static void access_often(int thread, uint64_t addr, uint32_t bytes, bool store)
{
	for (int i = 0; i < OFTEN; i++)
		access_by(thread, addr, bytes, store);
}

START_TEST(neighbours_of_four_bytes_come_apart)
{
	access_often(0, FIRST, 4, true);
	access_often(1, FIRST + 4, 4, true);
	access_often(1, FIRST + LINE, 4, true);
	access_often(1, FIRST + LINE + 4, 4, true);
	work_out();
	ck_assert(separate);
	ck_assert_uint_ne(line_of(FIRST, 4), line_of(FIRST + 4, 4));
	/* one thread's line is left alone, and so is what nobody uses */
	ck_assert_uint_eq(line_of(FIRST + LINE, 4), FIRST / LINE + 1);
	ck_assert_uint_eq(line_of(FIRST + 2 * LINE, 4), FIRST / LINE + 2);
	separate_free(separate);
}
END_TEST

START_TEST(bytes_that_several_threads_write_stay_together)
{
	access_often(0, FIRST, 8, true);
	access_often(1, FIRST, 8, true);
	access_often(0, FIRST + 8, 8, true);
	access_often(2, FIRST + 20, 4, false); /* a part of what 1 stores to */
	access_often(1, FIRST + 16, 8, true);
	work_out();
	ck_assert(separate);
	ck_assert_uint_eq(line_of(FIRST, 8), FIRST / LINE);
	ck_assert_uint_eq(line_of(FIRST + 16, 8), FIRST / LINE);
	ck_assert_uint_eq(line_of(FIRST + 20, 4), FIRST / LINE);
	ck_assert_uint_ne(line_of(FIRST + 8, 8), FIRST / LINE);
	separate_free(separate);
}
END_TEST

START_TEST(what_all_read_leaves_the_line_that_one_writes)
{
	access_by(0, FIRST + 8, 8, true); /* and is set once */
	access_often(0, FIRST, 8, true);
	for (int i = 0; i < THREADS; i++)
		access_often(i, FIRST + 8, 8, false);
	work_out();
	ck_assert(separate);
	ck_assert_uint_ne(line_of(FIRST, 8), line_of(FIRST + 8, 8));
	separate_free(separate);
}
END_TEST

/* The main thread sets all at the beginning, and adds it up at the end. */
START_TEST(who_sets_and_who_reads_a_result_does_not_matter)
{
	for (uint64_t i = 0; i < THREADS; i++) {
		access_by(0, FIRST + 8 * i, 8, true);
		access_often((int)i, FIRST + 8 * i, 8, true);
		access_by(0, FIRST + 8 * i, 8, false);
	}
	work_out();
	ck_assert(separate);
	for (uint64_t i = 1; i < THREADS; i++)
		ck_assert_uint_ne(line_of(FIRST + 8 * i - 8, 8),
				  line_of(FIRST + 8 * i, 8));
	separate_free(separate);
}
END_TEST

START_TEST(nothing_is_separated_where_nothing_is_avoidable)
{
	/* read by all; used by one; written by all; separate, but rarely */
	for (int i = 0; i < THREADS; i++) {
		access_often(i, FIRST, 8, false);
		access_often(i, FIRST + 8 * (uint64_t)i, 8, false);
		access_often(i, FIRST + (1 + (uint64_t)i) * LINE, 8, true);
		access_often(i, FIRST + 8 * LINE, 8, true);
		access_by(i, FIRST + 9 * LINE + 8 * (uint64_t)i, 8, true);
	}
	work_out();
	ck_assert_ptr_null(separate);
}
END_TEST

/* With all accesses moved, nothing is left to separate. */
START_TEST(separating_once_is_enough)
{
	enum {
		ACCESSES = 60000,
		WORDS = 40 * 8
	};
	static struct {
		int thread;
		uint32_t bytes;
		bool store;
		uint64_t addr;
	} a[ACCESSES];
	uint32_t bytes[WORDS];
	int owner[WORDS];
	struct rng r;

	rng_seed(&r, 15, 2);
	for (int i = 0; i < WORDS; i++) {
		bytes[i] = codes[rng_below(&r, CODES)].bytes;
		owner[i] = (int)rng_below(&r, 2 * THREADS);
	}
	for (int i = 0; i < ACCESSES; i++) {
		uint64_t word = rng_below(&r, WORDS);

		a[i].thread = owner[word] < THREADS && rng_below(&r, 30)
				      ? owner[word]
				      : (int)rng_below(&r, THREADS);
		a[i].bytes = bytes[word];
		a[i].store = !rng_below(&r, 1 + word % 30);
		a[i].addr = FIRST + 8 * word +
			    rng_below(&r, 8 / bytes[word]) * bytes[word];
		access_by(a[i].thread, a[i].addr, a[i].bytes, a[i].store);
	}
	work_out();
	ck_assert(separate);
	fake_trace_release(&fake);
	begin_trace();
	for (int i = 0; i < ACCESSES; i++)
		access_by(a[i].thread,
			  separate_address(separate, a[i].addr, a[i].bytes),
			  a[i].bytes, a[i].store);
	separate_free(separate);
	work_out();
	ck_assert_ptr_null(separate);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("separate");
	TCase *t = tcase_create("separate");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, neighbours_of_four_bytes_come_apart);
	tcase_add_test(t, bytes_that_several_threads_write_stay_together);
	tcase_add_test(t, what_all_read_leaves_the_line_that_one_writes);
	tcase_add_test(t, who_sets_and_who_reads_a_result_does_not_matter);
	tcase_add_test(t, nothing_is_separated_where_nothing_is_avoidable);
	tcase_add_test(t, separating_once_is_enough);
	suite_add_tcase(s, t);
	return run_suite(s);
}
