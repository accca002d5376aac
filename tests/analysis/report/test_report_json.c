/* SPDX-License-Identifier: MIT */
/*
 * test_report_json - the JSON report against sums made independently
 *
 * The oracle is a dense matrix, filled while the fake detections are written.
 */
#include <math.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

#define BASE UINT64_C(0x7f0000000000)

enum {
	THREADS_MAX = 64,
	LINES = 40
};

static struct fake fake;
static uint64_t directed[THREADS_MAX][THREADS_MAX];
static uint64_t kinds[THREADS_MAX][THREADS_MAX][SHARING_KINDS];
static uint64_t traps[THREADS_MAX][THREADS_MAX];
static uint64_t line_kinds[LINES][SHARING_KINDS];

static void random_detections(struct rng *r, int threads, int records)
{
	for (int i = 0; i < records; i++) {
		uint32_t from = rng_below(r, threads);
		uint32_t to = (from + 1 + rng_below(r, threads - 1)) % threads;
		int line = rng_below(r, LINES);
		uint64_t n = 1 + rng_below(r, 1000), at = BASE + 64 * line;
		enum sharing kind =
			rng_below(r, 2) ? SHARING_TRUE : SHARING_FALSE;
		struct cdp_pair *p =
			fake_pair(&fake, from, to, at, kind ? at + 32 : at, n);
		uint32_t a = from < to ? from : to, b = from < to ? to : from;

		p->by = rng_below(r, 2) ? DETECTED_BY_TRAP : DETECTED_BY_BOARD;
		p->publisher_ip = 0x400000 + rng_below(r, 20);
		p->detector_ip = 0x400000 + rng_below(r, 20);
		directed[from][to] += n;
		kinds[a][b][kind] += n;
		line_kinds[line][kind] += n;
		if (p->by == DETECTED_BY_TRAP)
			traps[a][b] += n;
	}
}

static void check_cells(json_t *cells, int threads)
{
	size_t expected = 0;

	for (int a = 0; a < threads; a++) {
		for (int b = a + 1; b < threads; b++) {
			uint64_t all = kinds[a][b][0] + kinds[a][b][1];
			json_t *c = find_cell(cells, a, b);

			if (!all)
				continue;
			expected++;
			ck_assert_ptr_nonnull(c);
			ck_assert_int_eq(int_at(c, "all"), all);
			ck_assert_int_eq(int_at(c, "true"),
					 kinds[a][b][SHARING_TRUE]);
			ck_assert_int_eq(int_at(c, "false"),
					 kinds[a][b][SHARING_FALSE]);
			ck_assert_int_eq(int_at(c, "a_to_b"), directed[a][b]);
			ck_assert_int_eq(int_at(c, "b_to_a"), directed[b][a]);
			ck_assert_int_eq(int_at(c, "traps"), traps[a][b]);
			ck_assert(json_real_value(at(c, "low")) < all);
			ck_assert(json_real_value(at(c, "high")) > all);
		}
	}
	ck_assert_uint_eq(json_array_size(cells), expected);
}

static void check_lines(json_t *lines)
{
	json_t *l;
	size_t i;
	json_int_t before = INT64_MAX;

	json_array_foreach(lines, i, l)
	{
		uint64_t n =
			(strtoull(text_at(l, "line"), NULL, 0) - BASE) / 64;
		json_int_t all = int_at(l, "true") + int_at(l, "false");

		ck_assert_uint_lt(n, LINES);
		ck_assert_int_eq(int_at(l, "true"),
				 line_kinds[n][SHARING_TRUE]);
		ck_assert_int_eq(int_at(l, "false"),
				 line_kinds[n][SHARING_FALSE]);
		ck_assert_int_le(all, before);
		before = all;
		line_kinds[n][0] = line_kinds[n][1] = 0;
	}
	for (int n = 0; n < LINES; n++)
		ck_assert_uint_eq(line_kinds[n][0] + line_kinds[n][1], 0);
}

START_TEST(cells_lines_and_totals_are_the_sums_of_the_detections)
{
	static const int counts[] = { 2, 3, 8, 32, 64 };
	int threads = counts[_i];
	uint64_t sum[SHARING_KINDS] = { 0 };
	struct rng r;
	json_t *j;

	rng_seed(&r, 1, _i);
	fake_begin(&fake);
	for (int i = 0; i < threads; i++)
		fake_thread(&fake, "t");
	random_detections(&r, threads, 500);
	fake_end(&fake);
	for (int a = 0; a < threads; a++)
		for (int b = 0; b < threads; b++)
			for (int k = 0; k < SHARING_KINDS; k++)
				sum[k] += kinds[a][b][k];
	j = report_of(fake.dir);
	check_cells(at(j, "communication.cells"), threads);
	check_lines(at(j, "communication.lines"));
	ck_assert_int_eq(int_at(j, "communication.total.estimate"),
			 sum[0] + sum[1]);
	ck_assert_int_eq(int_at(j, "communication.true_sharing.estimate"),
			 sum[SHARING_TRUE]);
	ck_assert_int_eq(int_at(j, "communication.false_sharing.estimate"),
			 sum[SHARING_FALSE]);
	json_decref(j);
}
END_TEST

START_TEST(a_detection_counts_once_at_each_of_its_sites)
{
	struct cdp_pair *p;
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	p = fake_pair(&fake, 0, 1, BASE, BASE, 10);
	p->publisher_ip = 0x1000;
	p->detector_ip = 0x2000;
	p = fake_pair(&fake, 0, 1, BASE, BASE + 8, 7);
	p->publisher_ip = p->detector_ip = 0x1000;
	p = fake_pair(&fake, 0, 1, BASE, BASE + 8, 1);
	p->publisher_ip = 0; /* unknown */
	p->detector_ip = 0x2000;
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "communication.sites")), 2);
	ck_assert_str_eq(text_at(j, "communication.sites.0.offset"), "0x1000");
	ck_assert_int_eq(int_at(j, "communication.sites.0.true"), 10);
	ck_assert_int_eq(int_at(j, "communication.sites.0.false"), 7);
	ck_assert_str_eq(text_at(j, "communication.sites.1.offset"), "0x2000");
	ck_assert_int_eq(int_at(j, "communication.sites.1.true"), 10);
	ck_assert_int_eq(int_at(j, "communication.sites.1.false"), 1);
	ck_assert_uint_eq(json_array_size(at(j, "communication.lines.0.sites")),
			  2);
	json_decref(j);
}
END_TEST

/* Names and types that programs rely on. */
static const struct {
	const char *path;
	json_type type;
} schema[] = {
	{ "schema", JSON_INTEGER },
	{ "run.source", JSON_STRING },
	{ "run.source_reason", JSON_STRING },
	{ "run.modes.0", JSON_STRING },
	{ "run.algorithm", JSON_STRING },
	{ "run.period", JSON_INTEGER },
	{ "run.period_unit", JSON_STRING },
	{ "run.complete", JSON_TRUE },
	{ "run.wall_ns", JSON_INTEGER },
	{ "run.cpu_ns", JSON_INTEGER },
	{ "run.host", JSON_STRING },
	{ "run.kernel", JSON_STRING },
	{ "run.cpu", JSON_STRING },
	{ "processes.0.pid", JSON_INTEGER },
	{ "processes.0.exe", JSON_STRING },
	{ "processes.0.command", JSON_STRING },
	{ "processes.0.complete", JSON_TRUE },
	{ "threads.0.id", JSON_INTEGER },
	{ "threads.0.process", JSON_INTEGER },
	{ "threads.0.tid", JSON_INTEGER },
	{ "threads.0.name", JSON_STRING },
	{ "threads.0.count", JSON_INTEGER },
	{ "threads.0.cpu_ns", JSON_INTEGER },
	{ "threads.0.samples.uniform", JSON_INTEGER },
	{ "threads.0.samples.stalled", JSON_INTEGER },
	{ "threads.0.traps", JSON_INTEGER },
	{ "loss.undecoded", JSON_INTEGER },
	{ "loss.exiting", JSON_INTEGER },
	{ "communication.quantity", JSON_STRING },
	{ "communication.estimator", JSON_STRING },
	{ "communication.unit", JSON_STRING },
	{ "communication.interval_covers", JSON_STRING },
	{ "communication.total.estimate", JSON_INTEGER },
	{ "communication.total.low", JSON_REAL },
	{ "communication.total.high", JSON_REAL },
	{ "communication.true_sharing.low", JSON_REAL },
	{ "communication.false_sharing.high", JSON_REAL },
	{ "communication.cells.0.low", JSON_REAL },
	{ "communication.core_cells.0.a", JSON_INTEGER },
	{ "communication.core_cells.0.a_to_b", JSON_INTEGER },
	{ "communication.lines.0.line", JSON_STRING },
	{ "communication.lines.0.object", JSON_STRING },
	{ "communication.lines.0.sites.0", JSON_INTEGER },
	{ "communication.sites.0.id", JSON_INTEGER },
	{ "communication.sites.0.module", JSON_STRING },
	{ "communication.sites.0.offset", JSON_STRING },
	{ "communication.objects.0.object", JSON_STRING },
	{ "communication.objects.0.kind", JSON_STRING },
};

static json_t *small_report(void)
{
	fake_begin(&fake);
	fake_thread(&fake, "a")->loss[LOSS_UNDECODED] = 4;
	fake_thread(&fake, "b")->loss[LOSS_UNDECODED] = 5;
	fake.store.header->loss[LOSS_UNDECODED] = 6;
	fake_pair(&fake, 0, 1, BASE, BASE + 8, 9);
	fake_core(&fake, 1, 0, 0, 9);
	fake_end(&fake);
	return report_of(fake.dir);
}

START_TEST(every_name_of_the_schema_is_there_with_its_type)
{
	json_t *j = small_report(), *value = at(j, schema[_i].path);

	ck_assert_msg(json_typeof(value) == schema[_i].type, "%s is type %d",
		      schema[_i].path, json_typeof(value));
	json_decref(j);
}
END_TEST

START_TEST(a_map_says_that_it_is_one)
{
	json_t *j = small_report();

	ck_assert_int_eq(int_at(j, "schema"), 1);
	ck_assert_str_eq(text_at(j, "communication.quantity"), "map");
	ck_assert_str_eq(text_at(j, "communication.unit"), "detections");
	ck_assert_str_eq(text_at(j, "communication.interval_covers"),
			 "sampling");
	ck_assert_str_eq(text_at(j, "communication.estimator"), "comdetective");
	/* Losses of threads and losses without a thread add up. */
	ck_assert_int_eq(int_at(j, "loss.undecoded"), 15);
	ck_assert_int_eq(int_at(j, "communication.core_cells.0.a"), 0);
	ck_assert_int_eq(int_at(j, "communication.core_cells.0.b_to_a"), 9);
	/* The interval of a Poisson count of 9: 4.115 to 17.085 (Garwood). */
	ck_assert_double_eq_tol(
		json_real_value(at(j, "communication.total.low")), 4.115, .001);
	ck_assert_double_eq_tol(
		json_real_value(at(j, "communication.total.high")), 17.085,
		.001);
	json_decref(j);
}
END_TEST

START_TEST(absurd_counts_saturate)
{
	json_t *j;
	struct verb v;

	fake_begin(&fake);
	fake_thread(&fake, "a")->cpu_ns = UINT64_MAX;
	fake_thread(&fake, "d")->handler_ns = UINT64_MAX;
	fake_thread(&fake, "b")->samples[SAMPLE_UNIFORM] = UINT64_MAX;
	fake_thread(&fake, "c")->count = UINT32_MAX;
	fake_pair(&fake, 0, 1, UINT64_MAX - 3, 0, UINT64_MAX);
	fake_pair(&fake, 0, 1, UINT64_MAX - 3, 0, UINT64_MAX)->detector_len =
		UINT32_MAX;
	fake_pair(&fake, 1, 0, 5, 5, UINT64_MAX)->publisher_len = UINT32_MAX;
	/* Two halves of 2^64, whose plain sum would be 0. */
	fake_pair(&fake, 0, 2, BASE, BASE + 8, UINT64_C(1) << 63);
	fake_pair(&fake, 0, 2, BASE, BASE + 8, UINT64_C(1) << 63);
	fake_core(&fake, 0, 1, UINT64_MAX, UINT64_MAX);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert(int_at(j, "communication.total.estimate") == INT64_MAX);
	ck_assert(int_at(j, "communication.cells.0.all") == INT64_MAX);
	ck_assert(int_at(j, "communication.cells.1.false") == INT64_MAX);
	ck_assert(int_at(j, "communication.cells.1.a_to_b") == INT64_MAX);
	json_decref(j);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
}
END_TEST

START_TEST(handler_time_is_the_mean_of_all_interrupts)
{
	struct verb v;
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a")->handler_ns = 20 * 1000 * 1000;
	fake_thread(&fake, "b")->handler_ns = 70 * 1000 * 1000;
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "run.handler_ns"), 45000);
	json_decref(j);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_ptr_nonnull(strstr(v.out, "45 us a sample"));
	verb_free(&v);
}
END_TEST

START_TEST(no_handler_no_handler_time)
{
	struct verb v;
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_ptr_null(json_object_get(at(j, "run"), "handler_ns"));
	json_decref(j);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_ptr_null(strstr(v.out, "us a sample"));
	verb_free(&v);
}
END_TEST

START_TEST(names_survive_json_whatever_they_hold)
{
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a\033\"\\\n");
	fake_thread(&fake, "\xff"
			   "caf\xc3\xa9");
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "threads.0.name"), "a\033\"\\\n");
	ck_assert_str_eq(text_at(j, "threads.1.name"), "\xef\xbf\xbd"
						       "caf\xc3\xa9");
	json_decref(j);
}
END_TEST

START_TEST(what_was_not_kept_apart_is_in_the_totals_alone)
{
	struct cdp_pair *p;
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	p = fake_pair(&fake, 0, 1, 0, 0, 50);
	p->line = p->publisher_ip = p->detector_ip = 0;
	p->publisher_len = p->detector_len = 0;
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "communication.total.estimate"), 50);
	ck_assert_int_eq(int_at(j, "communication.cells.0.all"), 50);
	ck_assert_uint_eq(json_array_size(at(j, "communication.lines")), 0);
	ck_assert_uint_eq(json_array_size(at(j, "communication.sites")), 0);
	ck_assert_int_eq(int_at(j, "communication.lines_not_kept_apart.true"),
			 50);
	json_decref(j);
}
END_TEST

#define LENGTH(array) ((int)(sizeof(array) / sizeof(array[0])))

int main(void)
{
	Suite *suite = suite_create("report --json");
	TCase *t = tcase_create("json");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(
		t, cells_lines_and_totals_are_the_sums_of_the_detections, 0, 5);
	tcase_add_test(t, a_detection_counts_once_at_each_of_its_sites);
	tcase_add_loop_test(t, every_name_of_the_schema_is_there_with_its_type,
			    0, LENGTH(schema));
	tcase_add_test(t, a_map_says_that_it_is_one);
	tcase_add_test(t, absurd_counts_saturate);
	tcase_add_test(t, handler_time_is_the_mean_of_all_interrupts);
	tcase_add_test(t, no_handler_no_handler_time);
	tcase_add_test(t, names_survive_json_whatever_they_hold);
	tcase_add_test(t, what_was_not_kept_apart_is_in_the_totals_alone);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
