/* SPDX-License-Identifier: MIT */
/*
 * test_list - what reusetrack list says about this machine
 *
 * The oracle is /proc/cpuinfo, and whether the kernel lists a PMU.
 */
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static unsigned int cpuinfo(const char *key)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];
	unsigned int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) &&
		    (line[strlen(key)] == '\t' || line[strlen(key)] == ':') &&
		    sscanf(strchr(line, ':') + 1, "%u", &n) == 1)
			break;
	fclose(f);
	return n;
}

static const char *row(const json_t *j, const char *what)
{
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(j, "rows"), i, r)
	{
		if (!strcmp(json_string_value(json_object_get(r, "what")),
			    what))
			return json_string_value(json_object_get(r, "value"));
	}
	return "";
}

START_TEST(the_processor_is_the_one_of_proc_cpuinfo)
{
	struct verb v = VERB(cmd_list, "list", "--json");
	json_t *j = json_loads(v.out, 0, NULL);

	ck_assert_int_eq(v.status, 0);
	ck_assert_ptr_nonnull(j);
	ck_assert_uint_eq(json_integer_value(json_object_get(j, "family")),
			  cpuinfo("cpu family"));
	ck_assert_uint_eq(json_integer_value(json_object_get(j, "model")),
			  cpuinfo("model"));
	ck_assert_str_ne(row(j, "counters"), "");
	ck_assert_str_ne(row(j, "clock"), "");
	json_decref(j);
	verb_free(&v);
}
END_TEST

START_TEST(a_pmu_that_the_kernel_does_not_list_is_not_promised)
{
	struct verb v = VERB(cmd_list, "list", "--json");
	json_t *j = json_loads(v.out, 0, NULL);
	bool there =
		!access("/sys/bus/event_source/devices/ibs_op/type", F_OK) ||
		!access("/sys/bus/event_source/devices/cpu/type", F_OK) ||
		!access("/sys/bus/event_source/devices/cpu_core/type", F_OK);

	ck_assert(there || !strncmp(row(j, "PMU"), "the kernel lists no", 19) ||
		  !row(j, "PMU")[0]);
	ck_assert(there || !row(j, "sampled")[0] || row(j, "loads")[0]);
	json_decref(j);
	verb_free(&v);
}
END_TEST

START_TEST(the_text_has_the_same_rows)
{
	struct verb text = VERB(cmd_list, "list");
	struct verb v = VERB(cmd_list, "list", "--json");
	json_t *j = json_loads(v.out, 0, NULL), *r;
	size_t i;

	json_array_foreach(json_object_get(j, "rows"), i, r)
	{
		ASSERT_SAYS(text.out,
			    json_string_value(json_object_get(r, "what")));
		ASSERT_SAYS(text.out,
			    json_string_value(json_object_get(r, "value")));
	}
	ck_assert_uint_ge(i, 4);
	json_decref(j);
	verb_free(&v);
	verb_free(&text);
}
END_TEST

START_TEST(arguments_and_unknown_options_are_refused)
{
	struct verb v = VERB(cmd_list, "list", "everything");

	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "list takes no argument");
	verb_free(&v);
	v = VERB(cmd_list, "list", "--frob");
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "no option '--frob'");
	verb_free(&v);
}
END_TEST

/* As libpfm4 lists them for a Skylake server, in which it is made to believe.
 */
START_TEST(events_are_listed_by_the_names_that_record_takes)
{
	struct verb v = VERB(cmd_list, "list", "events");

	ck_assert_int_eq(v.status, 0);
	ck_assert_ptr_nonnull(strstr(v.out, "MEM_INST_RETIRED.ALL_LOADS\n"));
	ck_assert_ptr_nonnull(strstr(v.out, "MEM_LOAD_RETIRED.L3_MISS\n"));
	ck_assert_ptr_null(strstr(v.out, "INST_RETIRED.ANY"));
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("list");
	TCase *tc = tcase_create("list");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	tcase_add_test(tc, events_are_listed_by_the_names_that_record_takes);
	tcase_add_test(tc, the_processor_is_the_one_of_proc_cpuinfo);
	tcase_add_test(tc, a_pmu_that_the_kernel_does_not_list_is_not_promised);
	tcase_add_test(tc, the_text_has_the_same_rows);
	tcase_add_test(tc, arguments_and_unknown_options_are_refused);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
