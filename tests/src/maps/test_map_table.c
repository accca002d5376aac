/* SPDX-License-Identifier: MIT */
/*
 * test_map_table - which mappings are new, and where code is
 */
#include <check.h>
#include <string.h>
#include <sys/mman.h>

#include "src/maps/map_table.h"
#include "tests/run_suite.h"

enum {
	MAX = 8
};

static struct map_range ranges[2 * MAX];
static struct map_table table;

static void set_up(void)
{
	memset(ranges, 0xff, sizeof(ranges));
	map_table_init(&table, ranges, MAX);
}

static struct cdp_map mapping(uint64_t start, uint32_t prot, const char *path)
{
	struct cdp_map m = { .start = start,
			     .end = start + 0x1000,
			     .prot = prot,
			     .inode = path[0] == '/' ? 7 : 0 };

	strcpy(m.path, path);
	return m;
}

static bool take(uint64_t start, uint32_t prot, const char *path)
{
	struct cdp_map m = mapping(start, prot, path);

	return map_table_take(&table, &m);
}

enum {
	CODE = PROT_READ | PROT_EXEC,
	DATA = PROT_READ | PROT_WRITE
};

START_TEST(a_mapping_is_new_once)
{
	for (int reading = 0; reading < 3; reading++) {
		map_table_begin(&table);
		ck_assert(take(0x1000, CODE, "/a") == !reading);
		ck_assert(take(0x3000, DATA, "[heap]") == !reading);
		map_table_end(&table);
		ck_assert_uint_eq(table.generation, reading + 1);
	}
}
END_TEST

START_TEST(a_mapping_carries_the_generation_that_saw_it_first)
{
	struct cdp_map a = mapping(0x1000, CODE, "/a");
	struct cdp_map b = mapping(0x2000, CODE, "/b");

	map_table_begin(&table);
	ck_assert(map_table_take(&table, &a));
	map_table_end(&table);
	ck_assert_uint_eq(a.generation, 1);
	map_table_begin(&table);
	ck_assert(!map_table_take(&table, &a));
	ck_assert(map_table_take(&table, &b));
	map_table_end(&table);
	ck_assert_uint_eq(b.generation, 2);
}
END_TEST

static void other_file(struct cdp_map *m)
{
	m->path[1] = 'b';
}
static void other_inode(struct cdp_map *m)
{
	m->inode++;
}
static void other_device(struct cdp_map *m)
{
	m->dev_minor++;
}
static void other_offset(struct cdp_map *m)
{
	m->file_offset += 0x1000;
}
static void other_rights(struct cdp_map *m)
{
	m->prot |= PROT_WRITE;
}
static void other_end(struct cdp_map *m)
{
	m->end += 0x1000;
}
static void other_start(struct cdp_map *m)
{
	m->start -= 0x800;
}

static void (*const changes[])(struct cdp_map *) = {
	other_file,   other_inode, other_device, other_offset,
	other_rights, other_end,   other_start,
};

START_TEST(a_mapping_that_changed_is_new)
{
	struct cdp_map m = mapping(0x1000, CODE, "/a");

	map_table_begin(&table);
	ck_assert(map_table_take(&table, &m));
	map_table_end(&table);
	changes[_i](&m);
	map_table_begin(&table);
	ck_assert(map_table_take(&table, &m));
	map_table_end(&table);
}
END_TEST

START_TEST(a_mapping_that_comes_back_is_new_again)
{
	for (int reading = 0; reading < 4; reading++) {
		map_table_begin(&table);
		ck_assert(take(0x1000, CODE, reading % 2 ? "/b" : "/a"));
		map_table_end(&table);
	}
}
END_TEST

START_TEST(only_what_has_a_name_or_is_code_is_taken)
{
	map_table_begin(&table);
	ck_assert(!take(0x1000, DATA, ""));
	ck_assert(take(0x2000, CODE, "")); /* a JIT's */
	ck_assert(take(0x3000, DATA, "[stack]"));
	map_table_end(&table);
}
END_TEST

START_TEST(zero_filled_data_is_named_after_its_file)
{
	struct cdp_map data = mapping(0x1000, DATA, "/a");
	struct cdp_map bss = mapping(0x2000, DATA, "");

	data.file_offset = 0x5000;
	map_table_begin(&table);
	ck_assert(map_table_take(&table, &data));
	ck_assert(map_table_take(&table, &bss));
	map_table_end(&table);
	ck_assert_str_eq(bss.path, "/a");
	ck_assert_uint_eq(bss.inode, data.inode);
	ck_assert_uint_eq(bss.file_offset, 0x6000);
}
END_TEST

START_TEST(other_memory_is_not_named_after_a_file)
{
	struct cdp_map apart = mapping(0x3000, DATA, "");
	struct cdp_map readable = mapping(0x2000, PROT_READ, "");
	struct cdp_map behind_code = mapping(0x5000, DATA, "");

	map_table_begin(&table);
	ck_assert(take(0x1000, DATA, "/a"));
	ck_assert(!map_table_take(&table, &readable));
	ck_assert(!map_table_take(&table, &apart));
	ck_assert(take(0x4000, CODE, "/a"));
	ck_assert(!map_table_take(&table, &behind_code));
	map_table_end(&table);
	map_table_begin(&table); /* the file of the last reading is forgotten */
	ck_assert(!map_table_take(&table, &behind_code));
	map_table_end(&table);
}
END_TEST

START_TEST(code_is_known_up_to_its_last_byte)
{
	ck_assert(!map_table_has_code(&table, 0x1000));
	map_table_begin(&table);
	take(0x1000, CODE, "/a");
	take(0x2000, DATA, "/a");
	take(0x4000, CODE, "/b");
	ck_assert(!map_table_has_code(&table, 0x1000)); /* not yet */
	map_table_end(&table);
	ck_assert(!map_table_has_code(&table, 0xfff));
	ck_assert(map_table_has_code(&table, 0x1000));
	ck_assert(map_table_has_code(&table, 0x1fff));
	ck_assert(!map_table_has_code(&table, 0x2000));
	ck_assert(!map_table_has_code(&table, 0x3fff));
	ck_assert(map_table_has_code(&table, 0x4fff));
	ck_assert(!map_table_has_code(&table, 0x5000));
	map_table_begin(&table);
	take(0x4000, CODE, "/b");
	map_table_end(&table);
	ck_assert(!map_table_has_code(&table, 0x1000)); /* no more */
}
END_TEST

START_TEST(a_full_table_takes_no_more_and_repeats_nothing)
{
	for (int reading = 0; reading < 2; reading++) {
		map_table_begin(&table);
		for (uint64_t i = 0; i < MAX + 3; i++)
			ck_assert(take(0x1000 * (i + 1), CODE, "/a") ==
				  (!reading && i < MAX));
		map_table_end(&table);
	}
	ck_assert(map_table_has_code(&table, 0x1000 * MAX));
	ck_assert(!map_table_has_code(&table, 0x1000 * (MAX + 1)));
}
END_TEST

START_TEST(a_table_may_start_over)
{
	map_table_begin(&table);
	ck_assert(take(0x1000, CODE, "/a"));
	map_table_end(&table);
	map_table_init(&table, ranges, MAX); /* in a forked child */
	ck_assert(!map_table_has_code(&table, 0x1000));
	map_table_begin(&table);
	ck_assert(take(0x1000, CODE, "/a"));
	map_table_end(&table);
	ck_assert_uint_eq(table.generation, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("map_table");
	TCase *c = tcase_create("table");

	tcase_add_checked_fixture(c, set_up, NULL);
	tcase_add_test(c, a_mapping_is_new_once);
	tcase_add_test(c, a_mapping_carries_the_generation_that_saw_it_first);
	tcase_add_loop_test(c, a_mapping_that_changed_is_new, 0,
			    (int)(sizeof(changes) / sizeof(changes[0])));
	tcase_add_test(c, a_mapping_that_comes_back_is_new_again);
	tcase_add_test(c, only_what_has_a_name_or_is_code_is_taken);
	tcase_add_test(c, zero_filled_data_is_named_after_its_file);
	tcase_add_test(c, other_memory_is_not_named_after_a_file);
	tcase_add_test(c, code_is_known_up_to_its_last_byte);
	tcase_add_test(c, a_full_table_takes_no_more_and_repeats_nothing);
	tcase_add_test(c, a_table_may_start_over);
	suite_add_tcase(s, c);
	return run_suite(s);
}
