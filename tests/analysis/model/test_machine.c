/* SPDX-License-Identifier: MIT */
/*
 * test_machine - machine files, good and bad, and the verb that prints them
 */
#include <string.h>

#include "analysis/model/machine.h"
#include "analysis/model/machine_shipped.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

static char error[MACHINE_ERROR_BYTES];

/* @name in the scratch directory. */
static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", sandbox, name);
	return path;
}

static void reads(struct machine *m, const char *text)
{
	ck_assert_msg(!machine_parse(m, "f", text, error), "%s", error);
}

static void refuses(const char *text, const char *words)
{
	struct machine m;

	ck_assert_int_eq(machine_parse(&m, "f", text, error), -EINVAL);
	ck_assert_msg(strstr(error, words), "'%s' is not in: %s", words, error);
}

START_TEST(every_shipped_machine_is_good)
{
	const char *name, *words;
	struct machine m;
	size_t i = 0;

	for (; (name = machine_shipped_name(i, &words)); i++) {
		ck_assert_msg(!machine_read(&m, name, error), "%s: %s", name,
			      error);
		ck_assert_str_eq(m.name, name);
	}
	ck_assert_uint_eq(i, 16);
}
END_TEST

/* Table IV of the paper: GHz, width, ROB, issue queue. */
START_TEST(shipped_machines_have_the_sizes_of_table_iv)
{
	static const struct {
		double ghz;
		uint32_t width, rob, iq;
	} row[] = { { 5, 2, 32, 16 },
		    { 3.33, 3, 72, 36 },
		    { 2.5, 4, 128, 64 },
		    { 2, 5, 200, 100 },
		    { 1.66, 6, 288, 144 } };
	struct machine m;
	char name[16];

	for (int i = 0; i < 10; i++) {
		int k = i % 5;

		snprintf(name, sizeof(name), "%s-c%d",
			 i < 5 ? "golden" : "rppm", k + 1);
		ck_assert(!machine_read(&m, name, error));
		ck_assert_double_eq(m.ghz, row[k].ghz);
		ck_assert_uint_eq(m.width, row[k].width);
		ck_assert_uint_eq(m.rob, row[k].rob);
		ck_assert_uint_eq(m.iq, row[k].iq);
		ck_assert_uint_eq(m.l2.size, 256 * 1024);
		ck_assert_uint_eq(m.llc.size, 8 << 20);
		ck_assert_uint_eq(m.predictor, i < 5 ? PREDICTOR_PENTIUM_M
						     : PREDICTOR_TOURNAMENT);
	}
}
END_TEST

START_TEST(loads_of_named_processors_take_what_their_files_say)
{
	/* cycles of a load from L1D, L2 and the LLC; ns from memory */
	static const struct {
		const char *name;
		uint32_t l1d, l2, llc;
		double memory_ns;
	} row[] = { { "skylake", 4, 12, 42, 61.5 },
		    { "zen2", 4, 13, 34, 113 },
		    { "neoverse-n1", 4, 11, 75, 81 },
		    { "golden-cove", 5, 15, 70, 90 } };
	struct machine m;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint32_t tags;

		ck_assert_msg(!machine_read(&m, row[i].name, error), "%s",
			      error);
		ck_assert_uint_eq(m.l1d.latency, row[i].l1d);
		ck_assert_uint_eq(m.l1d.tag + m.l2.latency, row[i].l2);
		ck_assert_uint_eq(m.l1d.tag + m.l2.tag + m.llc.latency,
				  row[i].llc);
		tags = m.l1d.tag + m.l2.tag + m.llc.tag + m.directory;
		ck_assert_double_eq_tol(tags / m.ghz + m.memory_ns +
						64 / m.memory_gbs,
					row[i].memory_ns, 1);
	}
}
END_TEST

START_TEST(a_file_may_be_like_another_and_change_values)
{
	struct machine m;

	reads(&m, "# mine\nlike = golden-c3\n  l2.size=1M # larger\n\n"
		  "uop.fadd = 4 on 0,1\nuop.div64 = 20 on 0 busy 18\n");
	ck_assert_uint_eq(m.l2.size, 1 << 20);
	ck_assert_uint_eq(m.rob, 128);
	ck_assert_uint_eq(m.uop[UOP_FADD].latency, 4);
	ck_assert_uint_eq(m.uop[UOP_FADD].ports, 3);
	ck_assert_uint_eq(m.uop[UOP_FADD].busy, 0);
	ck_assert_uint_eq(m.uop[UOP_DIV64].busy, 18);
}
END_TEST

START_TEST(what_is_printed_reads_as_the_same_machine)
{
	struct machine m, again;
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	reads(&m, "like = golden-c2\nmemory.bandwidth_gbs = 12.8\n");
	machine_print(&m, f);
	fclose(f);
	reads(&again, text);
	ck_assert_mem_eq(&m, &again, sizeof(m));
	free(text);
}
END_TEST

static const struct {
	const char *text, *words;
} bad[] = {
	{ "like = golden-c3\nl2.sise = 1M\n",
	  "f, line 2: there is no key 'l2.sise'; did you mean l2.size?" },
	{ "like = golden-c3\nrob = 3\n", "did you mean core.rob?" },
	{ "like = golden-c3\nxyzzy.plugh = 3\n",
	  "line 2: there is no key 'xyzzy.plugh'" },
	{ "like = golden-c3\nl2.size = 0\n",
	  "line 2: l2.size must be a whole number from 64 to 4294967296" },
	{ "like = golden-c3\nl2.ways = 0\n", "l2.ways must be" },
	{ "like = golden-c3\nl2.ways = 7\n",
	  "f, line 2: l2.size = 262144 and l2.ways = 7 do not fit" },
	{ "like = golden-c3\nl2.size = 192K\ncores = 3\n",
	  "f, line 2: l2.size = 196608 and l2.ways = 8 do not fit" },
	{ "like = golden-c3\n\nl2.size = 16K\n",
	  "f, line 3: a cache holds all lines" },
	{ "like = golden-c3\nl1d.size = 64M\n", "f, line 2: a cache holds" },
	{ "like = golden-c3\ncore.issue_queue = 129\n",
	  "f, line 2: core.issue_queue = 129 is larger than" },
	{ "like = golden-c3\ncores = 0\n", "cores must be" },
	{ "like = golden-c3\ncores = 4.5\n", "cores must be" },
	{ "like = golden-c3\nfrequency_ghz = fast\n", "not 'fast'" },
	{ "like = golden-c3\nfrequency_ghz = nan\n", "not 'nan'" },
	{ "like = golden-c3\ncore.predictor = oracle\n",
	  "one of perfect, one_bit, tournament, pentium_m, tage, not "
	  "'oracle'" },
	{ "like = golden-c3\nuop.alu = 1\n", "uop.alu must be" },
	{ "like = golden-c3\nuop.alu = 1 on 16\n", "uop.alu must be" },
	{ "like = golden-c3\nuop.alu = 1 on 0,\n", "uop.alu must be" },
	{ "like = golden-c3\nuop.alu = 1 on 0 lazy 3\n", "uop.alu must be" },
	{ "like = golden-c3\nuop.alu = 1 on 0 busy 3 x\n", "uop.alu must be" },
	{ "like = golden-c3\nuop.alu = -1 on 0\n", "uop.alu must be" },
	{ "like = golden-c3\njust words\n", "needs KEY = VALUE" },
	{ "like = golden-c3\ncores =\n", "cores has no value" },
	{ "cores = 4\nlike = golden-c3\n", "line 2: 'like' must come before" },
	{ "like = nowhere\n", "no machine and no file 'nowhere'" },
	{ "cores = 4\n", "f lacks the key frequency_ghz" },
};

START_TEST(bad_files_are_refused_with_line_and_reason)
{
	refuses(bad[_i].text, bad[_i].words);
}
END_TEST

START_TEST(a_machine_that_is_like_itself_is_refused)
{
	struct machine m;
	FILE *f;

	f = fopen(path_of("circle"), "w");
	fprintf(f, "like = %s\n", path_of("circle"));
	fclose(f);
	ck_assert_int_eq(machine_read(&m, path_of("circle"), error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "in a circle"));
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	struct machine m;
	FILE *f;

	f = fopen(path_of("foreign"), "w");
	fwrite("a\0b", 1, 3, f);
	fclose(f);
	ck_assert_int_eq(machine_read(&m, path_of("foreign"), error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "is not a machine file"));
	ck_assert_int_eq(machine_read(&m, "/", error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "Is a directory"));
}
END_TEST

START_TEST(one_value_can_be_changed)
{
	struct machine m;

	reads(&m, "like = golden-c3\n");
	ck_assert_int_eq(machine_set(&m, "l2.size=1M", error), 0);
	ck_assert_uint_eq(m.l2.size, 1 << 20);
	ck_assert_int_eq(machine_set(&m, "l2.size", error), -EINVAL);
	ck_assert_int_eq(machine_set(&m, "l3.size=1M", error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "there is no key 'l3.size'"));
}
END_TEST

START_TEST(the_verb_lists_prints_and_changes)
{
	struct verb v;

	v = VERB(cmd_machine, "machine", "--list");
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "golden-c1");
	ASSERT_SAYS(v.out, "rppm-c5");
	verb_free(&v);
	v = VERB(cmd_machine, "machine", "--set", "l2.size=1M", "golden-c3");
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "l2.size = 1M");
	ASSERT_SAYS(v.out, "uop.div64 = 28 on 0 busy 28");
	verb_free(&v);
	v = VERB(cmd_machine, "machine", "--host");
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "# host frequency_ghz = ");
	verb_free(&v);
}
END_TEST

START_TEST(the_verb_fails_with_one_line)
{
	static const char *const wrong[][3] = {
		{ "golden-c9", NULL, "no machine and no file 'golden-c9'" },
		{ "--set=l2.sise=1M", "golden-c3", "did you mean l2.size" },
		{ "--set=l2.ways=7", "golden-c3", "do not fit" },
		{ NULL, NULL, "name one machine" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct verb v =
			VERB(cmd_machine, "machine", wrong[i][0], wrong[i][1]);

		ck_assert_int_eq(v.status, 1);
		ASSERT_SAYS(v.err, wrong[i][2]);
		ck_assert_int_eq(verb_lines(v.err), 1);
		verb_free(&v);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("machine");
	TCase *t = tcase_create("machine");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, every_shipped_machine_is_good);
	tcase_add_test(t, shipped_machines_have_the_sizes_of_table_iv);
	tcase_add_test(t, loads_of_named_processors_take_what_their_files_say);
	tcase_add_test(t, a_file_may_be_like_another_and_change_values);
	tcase_add_test(t, what_is_printed_reads_as_the_same_machine);
	tcase_add_loop_test(t, bad_files_are_refused_with_line_and_reason, 0,
			    sizeof(bad) / sizeof(*bad));
	tcase_add_test(t, a_machine_that_is_like_itself_is_refused);
	tcase_add_test(t, foreign_files_are_refused);
	tcase_add_test(t, one_value_can_be_changed);
	tcase_add_test(t, the_verb_lists_prints_and_changes);
	tcase_add_test(t, the_verb_fails_with_one_line);
	suite_add_tcase(s, t);
	return run_suite(s);
}
