/* SPDX-License-Identifier: MIT */
/*
 * test_perf_data_hostile - recordings made to do harm
 */
#include "tests/fuzz/fuzz_perf_data.c"

#include "tests/fuzz/corpus.h"
#include "tests/run_suite.h"

enum {
	INPUTS_MIN = 200, /* the corpus has more files */
	SECONDS = 60,     /* a quadratic reader takes hours */
};

START_TEST(what_the_fuzzer_found_is_read_or_refused)
{
	ck_assert_uint_ge(corpus_play("perf_data", LLVMFuzzerTestOneInput),
			  INPUTS_MIN);
}
END_TEST

static void add_event(struct gen *g, uint64_t first_id, int ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.sample_type = TWIN_TYPE,
	};
	size_t at = gen_begin(g, PERF_DATA_ATTR, 0);

	gen_bytes(g, &attr, sizeof(attr));
	for (int i = 0; i < ids; i++)
		gen_u64(g, first_id + i);
	gen_end(g, at);
}

static void add_name(struct gen *g, uint64_t id)
{
	size_t at = gen_begin(g, PERF_DATA_EVENT_UPDATE, 0);

	gen_u64(g, 2); /* a name */
	gen_u64(g, id);
	gen_string(g, "mem-loads");
	gen_end(g, at);
}

static void add_pmus(struct gen *g, uint32_t n)
{
	size_t at = gen_begin(g, PERF_DATA_FEATURE, 0);

	gen_u64(g, 16);
	gen_u32(g, n);
	for (uint32_t i = 0; i < n; i++) {
		gen_u32(g, i);
		gen_u32(g, 0);
	}
	gen_pad(g, 8);
	gen_end(g, at);
}

/*
 * A million ids, and records that each change the meaning of later ones: work
 * that grows with the product of the two would not end.
 */
START_TEST(the_work_of_reading_grows_no_faster_than_the_file)
{
	enum {
		EVENTS = 4000,
		IDS = 250,
		CHANGES = 100000
	};
	struct gen_sample s = { .pid = 1, .tid = 1, .addr = 64, .id = 1 };
	struct perf_event_attr attr = { .sample_type = TWIN_TYPE };
	struct import im = { 0 };
	struct gen g = { 0 };

	gen_bytes(&g, "PERFILE2", 8);
	gen_u64(&g, 16);
	s.misc = PERF_RECORD_MISC_USER;
	s.data_src = PERF_MEM_S(OP, LOAD);
	for (int i = 0; i < EVENTS; i++) {
		add_event(&g, 1 + i * IDS, IDS);
		gen_sample(&g, &attr, &s);
	}
	for (int i = 0; i < 8; i++)
		add_pmus(&g, 500);
	for (int i = 0; i < CHANGES; i++) {
		add_name(&g, EVENTS * IDS);
		add_pmus(&g, 0);
		gen_sample(&g, &attr, &s);
	}
	ck_assert_int_eq(import_collect(&im, file_of(&g)), 0);
	ck_assert_uint_eq(im.samples, EVENTS + CHANGES);
	ck_assert_str_eq(im.data.event[EVENTS - 1].name, "mem-loads");
	import_release(&im);
	gen_release(&g);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_data_hostile");
	TCase *tc = tcase_create("perf_data_hostile");

	tcase_set_timeout(tc, SECONDS);
	tcase_add_test(tc, what_the_fuzzer_found_is_read_or_refused);
	tcase_add_test(tc, the_work_of_reading_grows_no_faster_than_the_file);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
