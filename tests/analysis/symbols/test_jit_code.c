/* SPDX-License-Identifier: MIT */
/*
 * test_jit_code - perf maps and jitdumps, whole, cut and hostile
 */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/jit_code.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

static struct jit_code *jit;

static void begin(void)
{
	jit = jit_code_new();
}

static void end(void)
{
	jit_code_free(jit);
}

static void read_map(const char *text)
{
	jit_code_add_map(jit, text, strlen(text));
	jit_code_ready(jit);
}

static const char *name_at(uint64_t addr)
{
	struct jit_place p;

	return jit_code_find(jit, addr, &p) ? p.function : "none";
}

START_TEST(a_map_names_each_piece_of_code)
{
	read_map("7f00 20 LMain;::work\n"
		 "0x7f40 0x10 JS:*work /home/u/a b.js:12:5\n");
	ck_assert_str_eq(name_at(0x7eff), "none");
	ck_assert_str_eq(name_at(0x7f00), "LMain;::work");
	ck_assert_str_eq(name_at(0x7f1f), "LMain;::work");
	ck_assert_str_eq(name_at(0x7f20), "none");
	ck_assert_str_eq(name_at(0x7f4f), "JS:*work /home/u/a b.js:12:5");
}
END_TEST

START_TEST(code_that_took_the_place_of_other_code_counts)
{
	read_map("1000 100 old\n1080 10 new\n1040 8 newer\n1000 100 \n");
	ck_assert_str_eq(name_at(0x1000), "old");
	ck_assert_str_eq(name_at(0x1044), "newer");
	ck_assert_str_eq(name_at(0x1088), "new");
	ck_assert_str_eq(name_at(0x10ff), "old");
}
END_TEST

static const char *const senseless[] = {
	"",
	"\n",
	"1000\n",
	"1000 10\n",
	"1000 10 \n",
	"x 10 a\n",
	"1000 y a\n",
	"11112222333344445 10 a\n",
	"1000 0 a\n",
	"-1000 10 a\n",
	"1000 10 cut off",
	"1000\t10\ta\n",
	" 1000 10 a\n",
};

START_TEST(lines_that_make_no_sense_are_left_out)
{
	char text[200];

	snprintf(text, sizeof(text), "2000 8 good\n%s", senseless[_i]);
	read_map(text);
	ck_assert_str_eq(name_at(0x2000), "good");
	ck_assert_str_eq(name_at(0x1000), "none");
}
END_TEST

START_TEST(a_piece_that_goes_beyond_the_address_space_is_cut)
{
	read_map("fffffffffffffff0 ffffffffffffffff far\n");
	ck_assert_str_eq(name_at(UINT64_MAX - 1), "far");
	ck_assert_str_eq(name_at(0), "none");
}
END_TEST

START_TEST(a_long_name_is_cut)
{
	size_t n = 100000;
	char *text = malloc(n + 20);

	n = sprintf(text, "10 10 ");
	memset(text + n, 'x', 100000 - n);
	strcpy(text + 100000, "\n");
	read_map(text);
	ck_assert_uint_eq(strlen(name_at(0x10)), 1023);
	free(text);
}
END_TEST

/* A jitdump, made record by record. */
static struct {
	uint8_t bytes[4096];
	size_t n, record;
} dump;

static void put(const void *bytes, size_t n)
{
	ck_assert_uint_le(dump.n + n, sizeof(dump.bytes));
	memcpy(dump.bytes + dump.n, bytes, n);
	dump.n += n;
}

static void put32(uint32_t v)
{
	put(&v, 4);
}

static void put64(uint64_t v)
{
	put(&v, 8);
}

static void put_text(const char *s)
{
	put(s, strlen(s) + 1);
}

static void begin_dump(void)
{
	dump.n = 0;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(EM_X86_64);
	put32(0);
	put32(42);
	put64(0);
	put64(0);
}

static void begin_record(uint32_t id)
{
	dump.record = dump.n;
	put32(id);
	put32(0);
	put64(0);
}

static void end_record(void)
{
	uint32_t n = dump.n - dump.record;

	memcpy(dump.bytes + dump.record + 4, &n, 4);
}

static void put_load(uint64_t addr, uint64_t bytes, const char *name)
{
	begin_record(0);
	put32(42);
	put32(43);
	put64(addr);
	put64(addr);
	put64(bytes);
	put64(1);
	put_text(name);
	end_record();
}

static void put_move(uint64_t from, uint64_t to, uint64_t bytes)
{
	begin_record(1);
	put32(42);
	put32(43);
	put64(to);
	put64(from);
	put64(to);
	put64(bytes);
	put64(1);
	end_record();
}

/* Lines 10 and 11 from @addr on, 12 in another file. */
static void put_lines(uint64_t addr)
{
	begin_record(2);
	put64(addr);
	put64(3);
	put64(addr);
	put32(10);
	put32(0);
	put_text("/src/A.java");
	put64(addr + 4);
	put32(11);
	put32(0);
	put_text("\xff");
	put64(addr + 8);
	put32(12);
	put32(0);
	put_text("/src/B.java");
	end_record();
}

static void make_dump(void)
{
	begin_dump();
	put_lines(0x5000);
	put_load(0x5000, 0x10, "A::run");
	put_load(0x6000, 0x10, "B::run");
	put_move(0x6000, 0x7000, 0x10);
	begin_record(4); /* of unwinding */
	put64(0);
	end_record();
	begin_record(99); /* of a later version */
	end_record();
	put_load(0x5008, 0x4, "later");
}

static const struct {
	uint64_t addr;
	const char *function, *file;
	int line;
} places[] = {
	{ 0x5000, "A::run", "/src/A.java", 10 },
	{ 0x5003, "A::run", "/src/A.java", 10 },
	{ 0x5004, "A::run", "/src/A.java", 11 },
	{ 0x500c, "A::run", "/src/B.java", 12 },
	{ 0x5008, "later", NULL, 0 },
	{ 0x6000, "B::run", NULL, 0 },
	{ 0x700f, "B::run", NULL, 0 },
};

START_TEST(a_dump_names_functions_and_lines)
{
	struct jit_place p;

	make_dump();
	ck_assert(jit_code_add_dump(jit, dump.bytes, dump.n));
	jit_code_ready(jit);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		ck_assert(jit_code_find(jit, places[i].addr, &p));
		ck_assert_str_eq(p.function, places[i].function);
		ck_assert_int_eq(p.line, places[i].line);
		ck_assert_pstr_eq(p.file, places[i].file);
	}
	ck_assert_str_eq(name_at(0x5010), "none");
}
END_TEST

/* Lines of V8 lie 64 bytes behind their code. */
START_TEST(lines_of_v8_are_moved_to_their_code)
{
	struct jit_place p;

	begin_dump();
	begin_record(2);
	put64(0x5000);
	put64(1);
	put64(0x5040);
	put32(10);
	put32(0);
	put_text("/src/a.js");
	put("\0\0\0\0", 4); /* up to a multiple of eight */
	end_record();
	put_load(0x5000, 0x10, "JS:*run /src/a.js:9:1");
	ck_assert(jit_code_add_dump(jit, dump.bytes, dump.n));
	jit_code_ready(jit);
	ck_assert(jit_code_find(jit, 0x5000, &p));
	ck_assert_int_eq(p.line, 10);
	ck_assert_str_eq(p.file, "/src/a.js");
}
END_TEST

/* As Node.js 20 does: a pointer stands before the name. */
START_TEST(lines_in_another_layout_are_not_read)
{
	struct jit_place p;

	begin_dump();
	begin_record(2);
	put64(0x5000);
	put64(1);
	put64(0x5040);
	put32(10);
	put32(0);
	put64(0x7ff612345678);
	put_text("/src/a.js");
	end_record();
	put_load(0x5000, 0x10, "JS:*run /src/a.js:9:1");
	ck_assert(jit_code_add_dump(jit, dump.bytes, dump.n));
	jit_code_ready(jit);
	ck_assert(jit_code_find(jit, 0x5000, &p));
	ck_assert_int_eq(p.line, 0);
	ck_assert_ptr_null(p.file);
	ck_assert_str_eq(p.function, "JS:*run /src/a.js:9:1");
}
END_TEST

START_TEST(what_is_no_dump_of_this_machine_is_refused)
{
	begin_dump();
	dump.bytes[_i ? 12 : 0] ^= 1;
	put_load(0x5000, 0x10, "A::run");
	ck_assert(!jit_code_add_dump(jit, dump.bytes, dump.n));
	ck_assert(!jit_code_add_dump(jit, dump.bytes, 8));
	jit_code_ready(jit);
	ck_assert_str_eq(name_at(0x5000), "none");
}
END_TEST

START_TEST(of_a_dump_that_is_cut_the_whole_records_count)
{
	size_t whole;

	make_dump();
	whole = dump.n;
	end();
	for (size_t n = 40; n < whole; n++) {
		/* Of just this length, for a sanitizer to see what is read. */
		uint8_t *copy = malloc(n);
		bool first;

		memcpy(copy, dump.bytes, n);
		begin();
		ck_assert(jit_code_add_dump(jit, copy, n));
		jit_code_ready(jit);
		first = !strcmp(name_at(0x5000), "A::run");
		ck_assert_int_eq(first, n >= 209);
		ck_assert_str_ne(name_at(0x5008), "later");
		end();
		free(copy);
	}
	begin();
}
END_TEST

START_TEST(random_changes_of_a_dump_do_no_harm)
{
	struct rng r;

	rng_seed(&r, 5, _i);
	end();
	for (int i = 0; i < 2000; i++) {
		uint8_t *copy;

		make_dump();
		for (int k = 0; k < 4; k++)
			dump.bytes[rng_below(&r, dump.n)] = rng_below(&r, 256);
		copy = malloc(dump.n);
		memcpy(copy, dump.bytes, dump.n);
		begin();
		jit_code_add_dump(jit, copy, dump.n);
		jit_code_add_map(jit, (char *)copy, dump.n);
		jit_code_ready(jit);
		name_at(0x5000);
		end();
		free(copy);
	}
	begin();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jit_code");
	TCase *t = tcase_create("jit_code");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_map_names_each_piece_of_code);
	tcase_add_test(t, code_that_took_the_place_of_other_code_counts);
	tcase_add_loop_test(t, lines_that_make_no_sense_are_left_out, 0,
			    sizeof(senseless) / sizeof(senseless[0]));
	tcase_add_test(t, a_piece_that_goes_beyond_the_address_space_is_cut);
	tcase_add_test(t, a_long_name_is_cut);
	tcase_add_test(t, a_dump_names_functions_and_lines);
	tcase_add_test(t, lines_of_v8_are_moved_to_their_code);
	tcase_add_test(t, lines_in_another_layout_are_not_read);
	tcase_add_loop_test(t, what_is_no_dump_of_this_machine_is_refused, 0,
			    2);
	tcase_add_test(t, of_a_dump_that_is_cut_the_whole_records_count);
	tcase_add_loop_test(t, random_changes_of_a_dump_do_no_harm, 0, 4);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
