/* SPDX-License-Identifier: MIT */
/*
 * test_topology - texts that describe a machine, good and bad
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/topology.h"
#include "src/exact/directory.h"
#include "tests/run_suite.h"

static struct topology t;
static struct topology_error error;

static int parse(const char *text)
{
	return topology_parse(&t, text, strlen(text), &error);
}

static const char two_sockets[] = "# two of two\n"
				  "core 2-3 in cache b # later\n"
				  "core 0-1 in cache a\r\n"
				  "\n"
				  "cache a in socket 0\n"
				  "cache b in socket 1\n"
				  "socket 0\n"
				  "  socket\t1";

START_TEST(two_sockets_are_two_domains)
{
	ck_assert_int_eq(parse(two_sockets), 0);
	ck_assert_uint_eq(t.shape.cores, 4);
	ck_assert_uint_eq(t.shape.levels, 3);
	for (uint32_t c = 0; c < 4; c++) {
		ck_assert_uint_eq(t.shape.domain[0][c], c);
		ck_assert_uint_eq(t.shape.domain[1][c], c / 2 * 2);
		ck_assert_uint_eq(t.shape.domain[2][c], c / 2 * 2);
	}
}
END_TEST

START_TEST(a_directory_takes_what_was_parsed)
{
	struct exact_config config = {
		.threads = 4,
		.line_bytes = 64,
		.regions = 64,
		.topology = &t.shape,
	};

	ck_assert_int_eq(parse(two_sockets), 0);
	ck_assert_uint_gt(exact_size(&config), 0);
}
END_TEST

START_TEST(cores_alone_are_one_level)
{
	ck_assert_int_eq(parse("core 0-1023"), 0);
	ck_assert_uint_eq(t.shape.cores, TOPOLOGY_CORES_MAX);
	ck_assert_uint_eq(t.shape.levels, 1);
}
END_TEST

START_TEST(scattered_threads_alternate_between_sockets)
{
	static const uint32_t expected[] = { 0, 2, 1, 3 };
	uint32_t order[4];

	ck_assert_int_eq(parse(two_sockets), 0);
	topology_scatter(&t, order);
	ck_assert_mem_eq(order, expected, sizeof(order));
}
END_TEST

static const struct {
	const char *text;
	enum topology_fault fault;
	uint32_t line;
	const char *word;
} bad[] = {
	{ "", TOPOLOGY_NO_CORES, 0, "" },
	{ "socket 0\n", TOPOLOGY_NO_CORES, 0, "" },
	{ "# core 0\n", TOPOLOGY_NO_CORES, 0, "" },
	{ "core", TOPOLOGY_NUMBER, 1, "" },
	{ "core x", TOPOLOGY_NUMBER, 1, "x" },
	{ "core 1024", TOPOLOGY_NUMBER, 1, "1024" },
	{ "core 99999999999", TOPOLOGY_NUMBER, 1, "99999999999" },
	{ "core 3-1", TOPOLOGY_NUMBER, 1, "3-1" },
	{ "core 0-", TOPOLOGY_NUMBER, 1, "0-" },
	{ "core 0x", TOPOLOGY_NUMBER, 1, "0x" },
	{ "core -1", TOPOLOGY_NUMBER, 1, "-1" },
	{ "core 0\ncore 2", TOPOLOGY_GAP, 0, "" },
	{ "core 0-2\ncore 1", TOPOLOGY_TWICE, 2, "1" },
	{ "core 0;core 1 # x;core 0", TOPOLOGY_TWICE, 3, "0" },
	{ "core 0\nsocket a\nsocket a", TOPOLOGY_TWICE, 3, "a" },
	{ "core 0 of", TOPOLOGY_SYNTAX, 1, "of" },
	{ "core 0 in", TOPOLOGY_SYNTAX, 1, "" },
	{ "core 0 in core 1", TOPOLOGY_SYNTAX, 1, "core" },
	{ "core 0 in cache a b\ncache a", TOPOLOGY_SYNTAX, 1, "b" },
	{ "cores 0", TOPOLOGY_SYNTAX, 1, "cores" },
	{ "core 0\ncache", TOPOLOGY_NAME, 2, "" },
	{ "core 0\ncache a/b", TOPOLOGY_NAME, 2, "a/b" },
	{ "cache a234567890123456789012345678901x", TOPOLOGY_NAME, 1,
	  "a234567890123456789012345678901x" },
	{ "core 0 in cache a", TOPOLOGY_UNKNOWN, 1, "a" },
	{ "core 0 in cache a\nsocket a", TOPOLOGY_UNKNOWN, 1, "a" },
	{ "core 0\ncache a in socket b", TOPOLOGY_UNKNOWN, 2, "b" },
	{ "core 0 in cache a\ncache a in cache b\ncache b in cache a",
	  TOPOLOGY_CYCLE, 2, "a" },
	{ "core 0\ncache a in cache a", TOPOLOGY_CYCLE, 2, "a" },
	{ "core 0\ncore 1 in cache a\ncache a", TOPOLOGY_UNEVEN, 2, "" },
	{ "core 0 in cache a\ncache a in cache b\ncache b in cache c\n"
	  "cache c in cache d\ncache d",
	  TOPOLOGY_DEEP, 1, "" },
};
enum {
	BAD = sizeof(bad) / sizeof(bad[0])
};

START_TEST(what_is_wrong_is_told_with_its_line)
{
	ck_assert_int_lt(parse(bad[_i].text), 0);
	ck_assert_int_eq(error.fault, bad[_i].fault);
	ck_assert_uint_eq(error.line, bad[_i].line);
	ck_assert_str_eq(error.word, bad[_i].word);
	ck_assert_ptr_nonnull(topology_fault_text(error.fault));
}
END_TEST

/* A truncated text is parsed or refused, and nothing beyond it is read. */
START_TEST(every_prefix_is_taken_or_refused)
{
	for (size_t n = 0; n < sizeof(two_sockets); n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, two_sockets, n);
		if (topology_parse(&t, copy, n, &error))
			ck_assert_int_ne(error.fault, TOPOLOGY_GOOD);
		free(copy);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("topology");
	TCase *c = tcase_create("texts");

	tcase_add_test(c, two_sockets_are_two_domains);
	tcase_add_test(c, a_directory_takes_what_was_parsed);
	tcase_add_test(c, cores_alone_are_one_level);
	tcase_add_test(c, scattered_threads_alternate_between_sockets);
	tcase_add_loop_test(c, what_is_wrong_is_told_with_its_line, 0, BAD);
	tcase_add_test(c, every_prefix_is_taken_or_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
