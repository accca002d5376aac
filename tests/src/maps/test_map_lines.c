/* SPDX-License-Identifier: MIT */
/*
 * test_map_lines - mappings out of text that is not to be trusted
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/rng.h"
#include "src/maps/map_lines.h"
#include "tests/run_suite.h"

#define LINE "7f0000001000-7f0000002000 r-xp 00003000 fe:01 4711   "

/* The text comes from a file, read into exactly @size bytes. */
struct text {
	struct map_lines lines;
	char *buffer;
	int fd;
};

static struct text open_text(const char *text, size_t n, size_t size)
{
	struct text t = { .buffer = malloc(size) };

	t.fd = memfd_create("maps", 0);
	ck_assert(t.buffer && t.fd >= 0);
	ck_assert_int_eq(write(t.fd, text, n), (ssize_t)n);
	ck_assert_int_eq(lseek(t.fd, 0, SEEK_SET), 0);
	map_lines_begin(&t.lines, t.fd, t.buffer, size);
	return t;
}

static void close_text(struct text *t)
{
	close(t->fd);
	free(t->buffer);
}

static bool parse(const char *line, struct cdp_map *m)
{
	size_t n = strlen(line);
	char *exact = malloc(n ? n : 1); /* AddressSanitizer sees the end */
	bool ok;

	memcpy(exact, line, n);
	ok = map_lines_parse(exact, exact + n, m);
	free(exact);
	return ok;
}

START_TEST(shared_memory_is_told_from_private)
{
	struct cdp_map m;

	ck_assert(parse(LINE "/usr/lib/libc.so.6", &m));
	ck_assert_uint_eq(m.flags, 0);
	ck_assert(parse("7f0000001000-7f0000002000 rw-s 00003000 00:01 4711   "
			"/memfd:x (deleted)",
			&m));
	ck_assert_uint_eq(m.flags, CDP_MAP_SHARED);
	ck_assert_uint_eq(m.prot, PROT_READ | PROT_WRITE);
}
END_TEST

START_TEST(every_field_is_taken)
{
	struct cdp_map m;

	ck_assert(parse(LINE "/usr/lib/libc.so.6", &m));
	ck_assert_uint_eq(m.start, 0x7f0000001000);
	ck_assert_uint_eq(m.end, 0x7f0000002000);
	ck_assert_uint_eq(m.prot, PROT_READ | PROT_EXEC);
	ck_assert_uint_eq(m.file_offset, 0x3000);
	ck_assert_uint_eq(m.dev_major, 0xfe);
	ck_assert_uint_eq(m.dev_minor, 1);
	ck_assert_uint_eq(m.inode, 4711);
	ck_assert_str_eq(m.path, "/usr/lib/libc.so.6");
	ck_assert_uint_eq(m.build_id_bytes, 0);
	ck_assert(parse("0-1 ---s 0 0:0 0", &m));
	ck_assert_uint_eq(m.prot, 0);
	ck_assert_str_eq(m.path, "");
	ck_assert(parse("ffffffffff600000-ffffffffffffffff --xp 00000000 "
			"00:00 0                  [vsyscall]",
			&m));
	ck_assert_uint_eq(m.end, UINT64_MAX);
	ck_assert_str_eq(m.path, "[vsyscall]");
}
END_TEST

/* As the kernel writes them; the name is not told apart from its marks. */
static const char *const paths[] = {
	"/tmp/two\\012lines",
	"/tmp/gone (deleted)",
	"/a file with  spaces",
	"/memfd:x (deleted)",
	"/\xff\x80",
	"/7f0000001000-7f0000002000 r-xp 0 0:0 0 /fake",
};

START_TEST(a_path_is_kept_as_the_kernel_writes_it)
{
	struct cdp_map m;
	char line[256];

	snprintf(line, sizeof(line), LINE "%s", paths[_i]);
	ck_assert(parse(line, &m));
	ck_assert_str_eq(m.path, paths[_i]);
}
END_TEST

static const char *const bad_lines[] = {
	"",
	" ",
	"-",
	"garbage",
	" " LINE,                                 /* leading space */
	"2000-1000 r-xp 0 0:0 0 /x",              /* ends before it starts */
	"1000-1000 r-xp 0 0:0 0 /x",              /* empty */
	"-2000 r-xp 0 0:0 0 /x",                  /* no start */
	"1000- r-xp 0 0:0 0 /x",                  /* no end */
	"1000 2000 r-xp 0 0:0 0 /x",              /* no dash */
	"1000--2000 r-xp 0 0:0 0 /x",             /* two */
	"0x1000-2000 r-xp 0 0:0 0 /x",            /* a prefix */
	"1000-2000G r-xp 0 0:0 0 /x",             /* no hex digit */
	"1000-AAAA r-xp 0 0:0 0 /x",              /* upper case */
	"1000-10000000000000000 r-xp 0 0:0 0 /x", /* more than 64 bits */
	"1000-2000r-xp 0 0:0 0 /x",               /* no space */
	"1000-2000 r-x 0 0:0 0 /x",               /* three rights */
	"1000-2000 r-xq 0 0:0 0 /x",              /* neither p nor s */
	"1000-2000 xwrp 0 0:0 0 /x",              /* out of order */
	"1000-2000 r-xp0 0:0 0 /x",               /* no space */
	"1000-2000 r-xp 0 00 0 /x",               /* no colon */
	"1000-2000 r-xp 0 100000000:0 0 /x",      /* a device of 33 bits */
	"1000-2000 r-xp 0 0:100000000 0 /x",      /* a device of 33 bits */
	"1000-2000 r-xp 0 0:0 18446744073709551616 /x", /* an inode of 65 */
	"1000-2000 r-xp 0 0:0 99999999999999999999999 x",
	"1000-2000 r-xp 0 0:0 -1 /x",
	"1000-2000 r-xp 0 0:0 a /x",
	"1000-2000 r-xp 0 0:0 12/x", /* no space */
	"1000-2000 r-xp 0 0:0",
	"1000-2000 r-xp 0",
};

START_TEST(what_is_no_mapping_is_refused)
{
	struct cdp_map m;

	ck_assert_msg(!parse(bad_lines[_i], &m), "%s", bad_lines[_i]);
}
END_TEST

START_TEST(a_line_that_lacks_fields_is_refused)
{
	const char *line = "1000-2000 r-xp 3000 fe:01 4711";
	struct cdp_map m;
	char part[64];

	for (size_t n = 0; n < strlen(line) - 3; n++) {
		snprintf(part, sizeof(part), "%.*s", (int)n, line);
		ck_assert_msg(!parse(part, &m), "%s", part);
	}
	ck_assert(parse(line, &m));
}
END_TEST

START_TEST(the_largest_inode_is_taken)
{
	struct cdp_map m;

	ck_assert(parse("1000-2000 r-xp 0 0:0 18446744073709551615 /x", &m));
	ck_assert_uint_eq(m.inode, UINT64_MAX);
}
END_TEST

START_TEST(a_path_too_long_for_a_record_is_cut)
{
	struct cdp_map m;
	char line[1024] = LINE;

	memset(line + strlen(LINE), 'a', 900);
	line[strlen(LINE) + 900] = '\0';
	ck_assert(parse(line, &m));
	ck_assert_uint_eq(strlen(m.path), sizeof(m.path) - 1);
	ck_assert_uint_eq(m.inode, 4711);
}
END_TEST

START_TEST(a_path_ends_at_a_zero_byte)
{
	static const char line[] = LINE "/x\0secret";
	struct cdp_map m;

	ck_assert(map_lines_parse(line, line + sizeof(line) - 1, &m));
	ck_assert_str_eq(m.path, "/x");
	for (size_t i = 2; i < sizeof(m.path); i++)
		ck_assert_int_eq(m.path[i], 0);
}
END_TEST

/*
 * The middle line is longer than the buffer, and what follows the buffer's
 * end in it looks like a mapping.
 */
START_TEST(the_rest_of_an_overlong_line_is_no_mapping)
{
	static const size_t sizes[] = { MAP_LINES_MIN_BYTES, 129, 1000, 4096 };
	const char *fake = "7000-8000 r-xp 0 0:0 1 /fake\n";
	size_t size = sizes[_i], n = 0;
	char text[32768];
	struct cdp_map m;
	struct text t;

	n += sprintf(text + n, "1000-2000 r-xp 0 0:0 1 /first\n");
	n += sprintf(text + n, "2000-3000 r-xp 0 0:0 2 /");
	while (n % size || n < 3 * size)
		text[n++] = 'a';
	n += sprintf(text + n, "%s", fake);
	n += sprintf(text + n, "3000-4000 r-xp 0 0:0 3 /last\n");
	t = open_text(text, n, size);
	ck_assert(map_lines_next(&t.lines, &m));
	ck_assert_str_eq(m.path, "/first");
	ck_assert(map_lines_next(&t.lines, &m));
	ck_assert_uint_eq(m.start, 0x2000);
	ck_assert_uint_eq(m.inode, 2);
	ck_assert_int_eq(strncmp(m.path, "/aaaaaaaa", 9), 0);
	ck_assert(map_lines_next(&t.lines, &m));
	ck_assert_str_eq(m.path, "/last");
	ck_assert(!map_lines_next(&t.lines, &m));
	close_text(&t);
}
END_TEST

START_TEST(lines_are_found_whatever_the_buffer)
{
	static const char text[] = "1000-2000 r-xp 0 0:0 1 /a\n"
				   "\n"
				   "not a mapping\n"
				   "3000-4000 rw-p 0 0:0 2 /b\n"
				   "5000-6000 ---p 0 0:0 0\n"
				   "7000-8000 r--p 0 0:0 3 /unfinished";
	size_t size = MAP_LINES_MIN_BYTES + (size_t)_i;
	struct text t = open_text(text, sizeof(text) - 1, size);
	struct cdp_map m;

	ck_assert(map_lines_next(&t.lines, &m));
	ck_assert_str_eq(m.path, "/a");
	ck_assert(map_lines_next(&t.lines, &m));
	ck_assert_str_eq(m.path, "/b");
	ck_assert(map_lines_next(&t.lines, &m));
	ck_assert_uint_eq(m.start, 0x5000);
	ck_assert(!map_lines_next(&t.lines, &m));
	ck_assert(!map_lines_next(&t.lines, &m));
	close_text(&t);
}
END_TEST

START_TEST(a_descriptor_that_cannot_be_read_has_no_lines)
{
	char buffer[MAP_LINES_MIN_BYTES];
	struct map_lines lines;
	struct cdp_map m;

	map_lines_begin(&lines, -1, buffer, sizeof(buffer));
	ck_assert(!map_lines_next(&lines, &m));
}
END_TEST

START_TEST(damaged_text_gives_nothing_impossible)
{
	static const char spare[] = "\n -:0fr[/\0\\";
	struct rng rng;
	char text[sizeof(LINE) * 8];

	rng_seed(&rng, (uint64_t)_i, 0);
	for (int round = 0; round < 200; round++) {
		struct cdp_map m;
		struct text t;
		size_t n = 0;

		while (n + sizeof(LINE) + 4 < sizeof(text))
			n += sprintf(text + n, LINE "/x\n");
		for (uint64_t k = rng_below(&rng, 30); k > 0; k--)
			text[rng_below(&rng, n)] =
				spare[rng_below(&rng, sizeof(spare))];
		t = open_text(text, n, MAP_LINES_MIN_BYTES);
		while (map_lines_next(&t.lines, &m)) {
			ck_assert_uint_lt(m.start, m.end);
			ck_assert_ptr_nonnull(
				memchr(m.path, 0, sizeof(m.path)));
			ck_assert_uint_eq(m.generation, 0);
		}
		close_text(&t);
	}
}
END_TEST

/* A second implementation, on what this kernel writes. */
START_TEST(our_own_maps_are_as_sscanf_reads_them)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	FILE *f = fopen("/proc/self/maps", "r");
	static char text[1 << 20], *line = text, *next;
	struct cdp_map m;
	struct text t;
	size_t n;
	int lines = 0;

	ck_assert(fd >= 0 && f);
	close(fd);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	t = open_text(text, n, 4096);
	for (; (next = strchr(line, '\n')); line = next + 1, lines++) {
		unsigned long start, end, offset, inode;
		unsigned major, minor;
		char rights[5], path[512] = "";

		*next = '\0';
		ck_assert_int_ge(sscanf(line,
					"%lx-%lx %4s %lx %x:%x %lu %511[^\n]",
					&start, &end, rights, &offset, &major,
					&minor, &inode, path),
				 7);
		ck_assert(map_lines_next(&t.lines, &m));
		ck_assert_uint_eq(m.start, start);
		ck_assert_uint_eq(m.end, end);
		ck_assert_uint_eq(m.file_offset, offset);
		ck_assert_uint_eq(m.dev_major, major);
		ck_assert_uint_eq(m.dev_minor, minor);
		ck_assert_uint_eq(m.inode, inode);
		ck_assert_int_eq(!!(m.prot & PROT_WRITE), rights[1] == 'w');
		ck_assert_str_eq(m.path, path);
	}
	ck_assert_int_gt(lines, 10);
	ck_assert(!map_lines_next(&t.lines, &m));
	close_text(&t);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *s = suite_create("map_lines");
	TCase *c = tcase_create("lines");

	tcase_add_test(c, every_field_is_taken);
	tcase_add_test(c, shared_memory_is_told_from_private);
	tcase_add_loop_test(c, a_path_is_kept_as_the_kernel_writes_it, 0,
			    COUNT(paths));
	tcase_add_loop_test(c, what_is_no_mapping_is_refused, 0,
			    COUNT(bad_lines));
	tcase_add_test(c, a_line_that_lacks_fields_is_refused);
	tcase_add_test(c, the_largest_inode_is_taken);
	tcase_add_test(c, a_path_too_long_for_a_record_is_cut);
	tcase_add_test(c, a_path_ends_at_a_zero_byte);
	tcase_add_loop_test(c, the_rest_of_an_overlong_line_is_no_mapping, 0,
			    4);
	tcase_add_loop_test(c, lines_are_found_whatever_the_buffer, 0, 64);
	tcase_add_test(c, a_descriptor_that_cannot_be_read_has_no_lines);
	tcase_add_loop_test(c, damaged_text_gives_nothing_impossible, 0, 8);
	tcase_add_test(c, our_own_maps_are_as_sscanf_reads_them);
	suite_add_tcase(s, c);
	return run_suite(s);
}
