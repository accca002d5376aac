/* SPDX-License-Identifier: MIT */
/*
 * test_sweep - design spaces, and predictions on all of their machines
 */
#include <errno.h>
#include <math.h>

#include "analysis/base/util.h"
#include "analysis/predict/sweep.h"
#include "src/base/rng.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	ROUNDS = 3000,
	CODE = 0x401000,
};

static char error[MACHINE_ERROR_BYTES], space_path[128], trace_path[128];
static struct fake_trace fake;

static void begin(void)
{
	sandbox_setup();
	snprintf(space_path, sizeof(space_path), "%s/space", sandbox);
	snprintf(trace_path, sizeof(trace_path), "%s/x.trace", sandbox);
}

static void write_space(const char *text)
{
	FILE *f = fopen(space_path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* Independent additions: the width is all that matters. */
static void write_trace(void)
{
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	for (int i = 0; i < 6; i++)
		fake_trace_insn(&fake, "\xb8\x00\x00\x00\x00", 5);
	for (int i = 0; i < ROUNDS; i++)
		fake_trace_run(&fake, 0, 0);
	fake_trace_write(&fake, trace_path);
	fake_trace_release(&fake);
}

static const char spaces[] = "# widths and caches\n"
			     "like = golden-c3\n"
			     "core.width + core.rob = 1 + 64 | 2 + 128 | 3 + "
			     "32\n"
			     "l2.size = 128K | 256K # small\n";

START_TEST(the_designs_are_all_combinations)
{
	struct machine m;
	struct designs s;
	int seen = 0;

	write_space(spaces);
	ck_assert_msg(!designs_read(&s, space_path, error), "%s", error);
	ck_assert_uint_eq(s.count, 6);
	for (uint64_t i = 0; i < s.count; i++) {
		int err = designs_machine(&s, i, &m, error);

		/* A ROB of 32 has no room for an issue queue of 64. */
		ck_assert_int_eq(!err, m.width != 3);
		ck_assert_uint_eq(m.rob, m.width == 3 ? 32 : 64 * m.width);
		seen |= 1 << (2 * (m.width - 1) + (m.l2.size == 256 * 1024));
	}
	ck_assert_int_eq(seen, 63);
	designs_release(&s);
}
END_TEST

static void is_refused(const char *text, const char *why)
{
	struct designs s;

	write_space(text);
	error[0] = 0;
	ck_assert_int_eq(designs_read(&s, space_path, error), -EINVAL);
	ck_assert_msg(strstr(error, why), "%s", error);
}

START_TEST(what_is_wrong_with_a_space_names_the_line)
{
	is_refused("", "no line 'like'");
	is_refused("core.width = 2\n", "line 1: the first line must be");
	is_refused("\nlike = nonesuch\n", "line 2: ");
	is_refused("like = golden-c3\ncore.wdth = 2 | 3\n", "core.width");
	is_refused("like = golden-c3\n\nl2.size = 1M | 0\n", "line 3: l2.size");
	is_refused("like = golden-c3\ncore.width\n", "line 2: must be");
	is_refused("like = golden-c3\ncore.width + core.rob = 1 + 2 | 3\n",
		   "a value for each key");
}
END_TEST

static double cost_of(const char *text)
{
	struct machine m;
	double x;

	ck_assert(!machine_read(&m, "golden-c3", error));
	ck_assert_msg(!designs_cost(text, &m, &x, error), "%s", error);
	return x;
}

START_TEST(costs_are_computed)
{
	struct machine m;
	double x;

	ck_assert_double_eq(cost_of("1 + 2 * 3"), 7);
	ck_assert_double_eq(cost_of("(1+2)*3 - 8/4"), 7);
	ck_assert_double_eq(cost_of("core.width*core.width"), 16);
	ck_assert_double_eq(cost_of("l2.size / 65536"), 4);
	ck_assert_double_eq(cost_of("llc.size"), 8 << 20);
	ck_assert_double_eq(cost_of("frequency_ghz"), 2.5);
	ck_assert(!machine_read(&m, "golden-c3", error));
	ck_assert_int_eq(designs_cost("1 +", &m, &x, error), -EINVAL);
	ck_assert_int_eq(designs_cost("core.wdth", &m, &x, error), -EINVAL);
	ck_assert_int_eq(designs_cost("core.predictor", &m, &x, error),
			 -EINVAL);
	ck_assert_int_eq(designs_cost("(1", &m, &x, error), -EINVAL);
	ck_assert_int_eq(designs_cost("1/0", &m, &x, error), -EINVAL);
	ck_assert_int_eq(designs_cost("1 2", &m, &x, error), -EINVAL);
}
END_TEST

static struct verb sweep(const char *option, const char *value)
{
	return VERB(cmd_sweep, "sweep", "--json", "--space", space_path, option,
		    value, trace_path);
}

static json_t *json_of(struct verb *v)
{
	json_error_t wrong;
	json_t *j = json_loads(v->out, 0, &wrong);

	ck_assert_msg(!v->status, "%s", v->err);
	ck_assert_msg(j != NULL, "%s", v->out);
	verb_free(v);
	return j;
}

/* Key names have dots, so paths through the JSON do not reach them. */
static const char *value_of(json_t *row, const char *key)
{
	return json_string_value(
		json_object_get(json_object_get(row, "values"), key));
}

START_TEST(the_table_of_all_parts_is_that_of_the_whole)
{
	char whole[160], part[2][160];
	struct sweep a = { 0 }, b = { 0 };
	json_t *j, *best, *front;
	struct verb v;

	write_space(spaces);
	write_trace();
	snprintf(whole, sizeof(whole), "%s/whole", sandbox);
	v = VERB(cmd_sweep, "sweep", "--json", "--space", space_path, "--cost",
		 "core.width + l2.size / 65536", "--csv", whole, trace_path);
	j = json_of(&v);
	ck_assert_int_eq(int_at(j, "designs"), 4);
	ck_assert_int_eq(int_at(j, "impossible"), 2);
	best = json_object_get(j, "best");
	ck_assert_str_eq(value_of(best, "core.width"), "2");
	/* The cheapest of the slow ones, and of the fast ones. */
	front = json_object_get(j, "front");
	ck_assert_uint_eq(json_array_size(front), 2);
	for (size_t i = 0; i < 2; i++)
		ck_assert_str_eq(value_of(json_array_get(front, i), "l2.size"),
				 "128K");
	ck_assert_uint_eq(json_array_size(json_object_get(j, "within")), 2);
	json_decref(j);
	for (int i = 0; i < 2; i++) {
		snprintf(part[i], sizeof(part[i]), "%s/part%d", sandbox, i);
		v = VERB(cmd_sweep, "sweep", "--space", space_path, "--cost",
			 "core.width + l2.size / 65536", "--csv", part[i],
			 "--shard", i ? "2/2" : "1/2", trace_path);
		ck_assert_msg(!v.status, "%s", v.err);
		verb_free(&v);
	}
	ck_assert_msg(!sweep_read(&a, whole, error), "%s", error);
	for (int i = 0; i < 2; i++)
		ck_assert_msg(!sweep_read(&b, part[i], error), "%s", error);
	sweep_sort(&b);
	ck_assert_uint_eq(a.rows, b.rows);
	for (size_t i = 0; i < a.rows; i++) {
		ck_assert_uint_eq(a.row[i].design, b.row[i].design);
		ck_assert_double_eq_tol(a.row[i].ns, b.row[i].ns, 1e-6);
		ck_assert_double_eq(a.row[i].cost, b.row[i].cost);
		ck_assert_str_eq(a.row[i].values, b.row[i].values);
	}
	sweep_release(&a);
	sweep_release(&b);
	v = VERB(cmd_sweep, "sweep", "--merge", part[0], part[1]);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "4 designs");
	ASSERT_SAYS(v.out, "core.width,core.rob,l2.size");
	verb_free(&v);
}
END_TEST

START_TEST(random_designs_are_the_same_again)
{
	struct verb v, w;

	write_space(spaces);
	write_trace();
	v = sweep("--samples", "5");
	w = sweep("--samples", "5");
	ck_assert_str_eq(v.out, w.out);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
	verb_free(&w);
}
END_TEST

START_TEST(the_front_is_what_nothing_beats)
{
	struct sweep s = { 0 };
	struct rng rng;

	rng_seed(&rng, 1, 1);
	for (int i = 0; i < 300; i++) {
		s.row = grow(s.row, s.rows, &s.room, sizeof(*s.row));
		s.row[s.rows++] = (struct sweep_row){
			.design = (uint64_t)i,
			.ns = (double)rng_below(&rng, 1000),
			.cost = (double)rng_below(&rng, 1000),
			.values = xstrdup(""),
		};
	}
	sweep_sort(&s);
	for (size_t i = 0; i < s.rows; i++) {
		bool beaten = false;

		/* As fast and no dearer, or faster and as cheap. */
		for (size_t k = 0; k < s.rows; k++)
			beaten |= k != i && s.row[k].ns <= s.row[i].ns &&
				  s.row[k].cost <= s.row[i].cost &&
				  (k < i || s.row[k].ns < s.row[i].ns ||
				   s.row[k].cost < s.row[i].cost);
		ck_assert_int_eq(sweep_is_front(&s, i), !beaten);
		ck_assert(!i || s.row[i - 1].ns <= s.row[i].ns);
	}
	ck_assert(sweep_is_front(&s, 0));
	sweep_release(&s);
}
END_TEST

static void refuses(const char *const *arguments, const char *words)
{
	struct verb v = verb_run(&cmd_sweep, arguments);

	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, words);
	verb_free(&v);
}
#define REFUSES(words, ...)                                                    \
	refuses((const char *const[]){ "sweep", __VA_ARGS__, NULL }, words)

START_TEST(the_verb_says_in_a_line_what_is_wrong)
{
	write_space(spaces);
	write_trace();
	REFUSES("say which machines", trace_path);
	REFUSES("--shard must be I/N", "--space", space_path, "--shard", "3/2",
		trace_path);
	REFUSES("the cost 'x' is not understood", "--space", space_path,
		"--cost", "x", trace_path);
	REFUSES("not a table", "--merge", space_path);
	REFUSES("No such file", "--space", "/nonesuch", trace_path);
	REFUSES("--merge needs tables", "--merge");
	write_space("like = golden-c3\ncore.rob = 8 | 16\n");
	REFUSES("no design fit", "--space", space_path, trace_path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sweep");
	TCase *t = tcase_create("sweep");

	tcase_add_checked_fixture(t, begin, sandbox_teardown);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, the_designs_are_all_combinations);
	tcase_add_test(t, what_is_wrong_with_a_space_names_the_line);
	tcase_add_test(t, costs_are_computed);
	tcase_add_test(t, the_table_of_all_parts_is_that_of_the_whole);
	tcase_add_test(t, random_designs_are_the_same_again);
	tcase_add_test(t, the_front_is_what_nothing_beats);
	tcase_add_test(t, the_verb_says_in_a_line_what_is_wrong);
	suite_add_tcase(s, t);
	return run_suite(s);
}
