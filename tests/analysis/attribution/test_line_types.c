/* SPDX-License-Identifier: MIT */
/*
 * test_line_types - objects on a line, from accesses of this program
 *
 * The compiler is the oracle: it knows where the members are. Labels in the
 * code say which instructions access them.
 */
#include "analysis/attribution/line_types.h"
#include "tests/fake/fake_profile.h"
#include "tests/fake/touched.h"
#include "tests/run_suite.h"

static struct fake fake;
static struct profile profile;
static struct symbols *symbols;
static struct tally tally;
static struct line_types types;

static void begin(void)
{
	fake_begin(&fake);
	fake_own_maps(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
}

static void build(void)
{
	fake_end(&fake);
	ck_assert_int_eq(profile_load(&profile, fake.dir), 0);
	symbols = symbols_new(true, fake.dir);
	tally_init(&tally, &profile, symbols, -1);
	ck_assert_uint_eq(tally.lines, 1);
	line_types_build(&types, &tally, symbols, &tally.line[0]);
}

static void end(void)
{
	line_types_release(&types);
	tally_release(&tally);
	symbols_free(symbols);
	profile_release(&profile);
}

static void check_name(uint64_t addr, const char *expected)
{
	struct line_field field;
	char *name;

	ck_assert(line_types_field(&types, addr, &field));
	name = line_field_name(&field);
	ck_assert_str_eq(name, expected);
	free(name);
	free(field.path);
}

START_TEST(an_access_tells_where_its_object_begins)
{
	uint64_t misses = offsetof(struct worker, part.misses);

	begin();
	touched_by(&fake, touches_misses, LINE + misses,
		   LINE + sizeof(struct worker) + misses, 5);
	build();
	ck_assert_uint_eq(types.n, 2);
	ck_assert_uint_eq(types.instance[0].start, LINE);
	ck_assert_uint_eq(types.instance[1].start,
			  LINE + sizeof(struct worker));
	check_name(LINE + misses, "struct worker #1.part.misses");
	check_name(LINE + sizeof(struct worker) + misses + 7,
		   "struct worker #2.part.misses");
	/* What nobody accessed is known too. */
	check_name(LINE, "struct worker #1.id");
	end();
}
END_TEST

START_TEST(a_member_that_others_point_to_belongs_to_its_object)
{
	uint64_t part = offsetof(struct worker, part);

	begin();
	touched_by(&fake, touches_part, LINE + part, LINE + part, 50);
	touched_by(&fake, touches_misses, LINE + part + 8, LINE + part + 8, 5);
	build();
	ck_assert_uint_eq(types.n, 1);
	check_name(LINE + part, "struct worker.part.hits");
	end();
}
END_TEST

START_TEST(of_objects_that_overlap_the_one_with_most_detections_is_there)
{
	uint64_t misses = offsetof(struct worker, part.misses);

	begin();
	touched_by(&fake, touches_misses, LINE + misses, LINE + misses, 50);
	touched_by(&fake, touches_misses, LINE + misses + 8, LINE + misses + 8,
		   5);
	build();
	ck_assert_uint_eq(types.n, 1);
	ck_assert_uint_eq(types.instance[0].start, LINE);
	end();
}
END_TEST

/* malloc had the memory before, and its chunks are larger. */
START_TEST(of_two_with_equally_many_the_program_s_own_is_there)
{
	uint64_t misses = offsetof(struct worker, part.misses);
	uint64_t size = offsetof(struct stat, st_size);

	begin();
	touched_by(&fake, touches_library, LINE + size, LINE + size, 5);
	touched_by(&fake, touches_misses, LINE + misses, LINE + misses, 5);
	build();
	ck_assert_uint_eq(types.n, 1);
	check_name(LINE + misses, "struct worker.part.misses");
	end();
	/* With more detections, it is the library's. */
	begin();
	touched_by(&fake, touches_library, LINE + size, LINE + size, 6);
	touched_by(&fake, touches_misses, LINE + misses, LINE + misses, 5);
	build();
	ck_assert_uint_eq(types.n, 1);
	check_name(LINE + size, "struct stat");
	end();
}
END_TEST

START_TEST(a_static_variable_is_where_it_is)
{
	uint64_t at = (uintptr_t)&variable[2];

	begin();
	touched_by(&fake, touches_misses, at, at, 50);
	touched_by(&fake, touches_variable, at, at, 5);
	build();
	ck_assert_uint_eq(types.n, 1);
	ck_assert_str_eq(types.instance[0].variable, "variable");
	check_name(at + 8, "variable[2].misses");
	end();
}
END_TEST

START_TEST(without_debug_information_nothing_is_named)
{
	struct line_field field;

	begin();
	touched_by(&fake, (const char *)(uintptr_t)malloc, LINE, LINE + 8, 5);
	build();
	ck_assert_uint_eq(types.n, 0);
	ck_assert(!line_types_field(&types, LINE, &field));
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line_types");
	TCase *t = tcase_create("line_types");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, an_access_tells_where_its_object_begins);
	tcase_add_test(t, a_member_that_others_point_to_belongs_to_its_object);
	tcase_add_test(
		t,
		of_objects_that_overlap_the_one_with_most_detections_is_there);
	tcase_add_test(t, of_two_with_equally_many_the_program_s_own_is_there);
	tcase_add_test(t, a_static_variable_is_where_it_is);
	tcase_add_test(t, without_debug_information_nothing_is_named);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
