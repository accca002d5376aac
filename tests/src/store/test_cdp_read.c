/* SPDX-License-Identifier: MIT */
/*
 * test_cdp_read - what the reader accepts, refuses and skips, field by field
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "cdp_file.h"
#include "src/engine/reuse.h"
#include "src/pmu/sample.h"
#include "src/pmu/memory.h"
#include "tests/run_suite.h"

START_TEST(the_undamaged_file_has_what_was_written)
{
	uint64_t bad = 0;
	struct cdp_reader r;

	ck_assert_int_eq(read_all(&bad), RECORDS - 1); /* a row is free */
	ck_assert_uint_eq(bad, 0);
	ck_assert_int_eq(open_file(&r), 0);
	ck_assert_str_eq(r.header.exe, "/bin/true");
	ck_assert_uint_eq(r.pages, 8);
	ck_assert_int_eq(cdp_each(&r, CDP_FREE, walk_record, NULL, NULL),
			 -EINVAL);
	ck_assert_int_eq(cdp_each(&r, CDP_SECTIONS, walk_record, NULL, NULL),
			 -EINVAL);
	cdp_close(&r);
}
END_TEST

START_TEST(each_error_has_words_of_its_own)
{
	static const int errors[] = { EBADMSG, EPROTO, EMSGSIZE, ENODATA,
				      EISDIR,  ELOOP,  ENOENT,   EACCES };

	for (size_t a = 0; a < sizeof(errors) / sizeof(errors[0]); a++)
		for (size_t b = 0; b < a; b++)
			ck_assert_str_ne(cdp_strerror(-errors[a]),
					 cdp_strerror(-errors[b]));
	ck_assert_ptr_nonnull(strstr(cdp_strerror(-EPROTO), "version"));
	ck_assert_str_eq(cdp_strerror(-ENOENT), "No such file or directory");
	ck_assert_str_eq(cdp_strerror(-99999), "unknown error");
}
END_TEST

START_TEST(what_is_no_regular_file_is_refused_without_waiting)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct cdp_reader r;
	int fd;

	ck_assert_int_eq(mkfifoat(sandbox_fd, "fifo", 0600), 0);
	ck_assert_int_eq(mkdirat(sandbox_fd, "dir", 0700), 0);
	ck_assert_int_eq(symlinkat(NAME, sandbox_fd, "link"), 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/socket", sandbox);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);

	ck_assert_int_eq(cdp_open(&r, sandbox_fd, "fifo"), -EBADMSG);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, "dir"), -EISDIR);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, "link"), -ELOOP);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, "socket"), -EBADMSG);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, "none"), -ENOENT);
	ck_assert_int_eq(cdp_open(&r, AT_FDCWD, "/dev/zero"), -EBADMSG);
	ck_assert_int_eq(cdp_open(&r, AT_FDCWD, "/proc/self/exe"), -ELOOP);
	ck_assert_int_eq(r.fd, -1);
	cdp_close(&r); /* does nothing */
}
END_TEST

START_TEST(foreign_files_are_named_as_such)
{
	static const char *const text[] = { "#!/bin/sh\n", "\177ELF", "C",
					    "COMDETcx_________________" };
	struct cdp_reader r;

	ck_assert_int_eq(ftruncate(file, 0), 0);
	put(text[_i], strlen(text[_i]), 0);
	ck_assert_int_eq(open_file(&r), _i == 2 ? -EMSGSIZE : -EBADMSG);
}
END_TEST

START_TEST(a_wrong_header_is_refused)
{
	static const struct {
		size_t offset, bytes;
		uint64_t value;
		int error;
	} wrong[] = {
#define WRONG(field, value, error)                                             \
	{ offsetof(struct cdp_header, field),                                  \
	  sizeof(((struct cdp_header *)0)->field), value, error }
		WRONG(version, 2, -EPROTO),
		WRONG(version, 0, -EPROTO),
		WRONG(header_bytes, 4096, -ENODATA),
		WRONG(page_bytes, 8192, -ENODATA),
		WRONG(sections, CDP_SECTIONS, -EPROTO),
		WRONG(sections, UINT32_MAX, -EPROTO),
		WRONG(sections, CDP_CORES - 1, -ENODATA),
		WRONG(section[1].record_bytes, 136, -ENODATA),
		WRONG(section[0].type, 2, -ENODATA),
		WRONG(pages, 0, -ENODATA),
		WRONG(state, 0, -ENODATA),
		WRONG(state, CDP_STOPPED + 1, -ENODATA),
		WRONG(modes, 32, -ENODATA),
		WRONG(registers, 5, -ENODATA),
		WRONG(cores, CDP_CORES_MAX + 1, -ENODATA),
		WRONG(line_bytes, 48, -ENODATA),
		WRONG(line_bytes, 8192, -ENODATA),
		WRONG(bytes, sizeof(good) + 1, -EMSGSIZE),
		WRONG(magic, 0, -EMSGSIZE),
	};
	size_t n = sizeof(wrong) / sizeof(wrong[0]);

	for (size_t i = 0; i < n; i++) {
		put(&wrong[i].value, wrong[i].bytes, wrong[i].offset);
		ck_assert_int_eq(read_all(NULL), wrong[i].error);
		put(good, CDP_PAGE_BYTES, 0);
	}
}
END_TEST

START_TEST(a_header_string_without_an_end_is_refused)
{
	static const struct {
		size_t offset, bytes;
	} string[] = {
#define STRING(field)                                                          \
	{ offsetof(struct cdp_header, field),                                  \
	  sizeof(((struct cdp_header *)0)->field) }
		STRING(section[2].name),
		STRING(run_id),
		STRING(boot_id),
		STRING(host),
		STRING(kernel),
		STRING(cpu),
		STRING(source),
		STRING(source_reason),
		STRING(delivery),
		STRING(algorithm),
		STRING(period_unit),
		STRING(registers_reason),
		STRING(exe),
		STRING(command),
		STRING(note),
	};
	char full[1024];

	memset(full, 'x', sizeof(full));
	for (size_t i = 0; i < sizeof(string) / sizeof(string[0]); i++) {
		put(full, string[i].bytes - 1, string[i].offset);
		ck_assert_int_eq(read_all(NULL), RECORDS - 1);
		put(full, string[i].bytes, string[i].offset);
		ck_assert_int_eq(read_all(NULL), -ENODATA);
		put(good, CDP_PAGE_BYTES, 0);
	}
}
END_TEST

/* The record of a simulated cache, whose rules are its own. */
/* Field @field of the record of slices gets a value that cannot be. */
static void spoil_slices(int field)
{
	uint64_t at = page_of(CDP_MEMORY) + CDP_PAGE_HEADER_BYTES +
		      sizeof(struct cdp_memory);

	switch (field) {
	case 0:
		put_field(struct cdp_memory, slices.shift,
			  CDP_SLICE_SHIFT_MIN - 1);
		break;
	case 1:
		put_field(struct cdp_memory, slices.shift,
			  CDP_SLICE_SHIFT_MAX + 1);
		break;
	case 2:
		put_field(struct cdp_memory, slices.first, UINT64_MAX >> 22);
		break;
	default:
		put_field(struct cdp_memory, access, ACCESS_LOAD);
	}
}

static void spoil_cache(int field)
{
	uint64_t at = page_of(CDP_REUSE) + CDP_PAGE_HEADER_BYTES +
		      sizeof(struct cdp_reuse);

	switch (field) {
	case 0:
		put_field(struct cdp_reuse, kind, CDP_REUSE_KINDS);
		break;
	case 1:
		put_field(struct cdp_reuse, scope, REUSE_SHARED);
		break;
	case 2:
		put_field(struct cdp_reuse, granularity, REUSE_ADDRESS);
		break;
	case 3:
		put_field(struct cdp_reuse, outcome, REUSE_REUSED);
		break;
	case 4:
		put_field(struct cdp_reuse, pairing, REUSE_WAR);
		break;
	case 5:
		put_field(struct cdp_reuse, bin, 0);
		break;
	case 6:
		put_field(struct cdp_reuse, bin, 10);
		break;
	case 7:
		put_field(struct cdp_reuse, end_ip, cdp_cache_shape(0, 12));
		break;
	case 8:
		put_field(struct cdp_reuse, end_ip, cdp_cache_shape(64, 0));
		break;
	case 9:
		put_field(struct cdp_reuse, end_ip,
			  cdp_cache_shape(UINT32_MAX, 2));
		break;
	case 10:
		put_field(struct cdp_reuse, weight, -1);
		break;
	case 11:
		put_field(struct cdp_reuse, weight, 0x1.8p53);
		break;
	case 12:
		put_field(struct cdp_reuse, count, UINT64_MAX);
		break;
	}
}

/* One wrong field each: that record goes, and is counted. */
START_TEST(a_wrong_record_is_skipped_and_counted)
{
	uint64_t at = page_of(CDP_PAIRS) + CDP_PAGE_HEADER_BYTES, bad = 0;
	char name[16];

	memset(name, 'x', sizeof(name));
	switch (_i) {
	case 0:
		put_field(struct cdp_pair, sharing, SHARING_KINDS);
		break;
	case 1:
		put_field(struct cdp_pair, by, DETECTED_BY_LOOK + 1);
		break;
	case 2:
		put_field(struct cdp_pair, detector_flags, 16);
		break;
	case 3:
		put_field(struct cdp_pair, count, 0);
		break;
	case 4:
		put_field(struct cdp_pair, publisher_len, 0);
		break;
	case 5:
		at = page_of(CDP_THREADS) + CDP_PAGE_HEADER_BYTES;
		put(name, 16, at + offsetof(struct cdp_thread, name));
		break;
	case 6:
		at = page_of(CDP_THREADS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_thread, state, 5);
		break;
	case 7:
		at = page_of(CDP_MAPS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_map, end, 0x1000);
		break;
	case 8:
		at = page_of(CDP_MAPS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_map, build_id_bytes, 21);
		break;
	case 9:
		at = page_of(CDP_CORES) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_core, detector_core, CDP_CORES_MAX);
		break;
	case 10:
		at = page_of(CDP_TRANSFERS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_transfer, kind, CDP_TRANSFER_KINDS);
		break;
	case 11:
		at = page_of(CDP_MEMORY) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_memory, kind, CDP_MEMORY_KINDS);
		break;
	case 12:
		at = page_of(CDP_MEMORY) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_memory, tally.source, DATA_SOURCE_COUNT);
		break;
	case 13:
		at = page_of(CDP_MEMORY) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_memory, tally.periods_squared,
			  __builtin_nan(""));
		break;
	case 14:
		at = page_of(CDP_REUSE) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_reuse, outcome, 0);
		break;
	case 15:
		at = page_of(CDP_REUSE) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_reuse, bin, 368);
		break;
	case 16:
		at = page_of(CDP_REUSE) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_reuse, offset, __builtin_nan(""));
		break;
	case 17:
		at = page_of(CDP_PATHS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_path, node, 0);
		break;
	case 18: /* a path that leads to itself */
		at = page_of(CDP_PATHS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_path, parent, 1);
		break;
	case 19:
		at = page_of(CDP_PATHS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_path, node, CDP_PATHS_MAX + 1);
		break;
	case 20:
		at = page_of(CDP_PATHS) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_path, flags, 2);
		break;
	case 21:
		at = page_of(CDP_REUSE) + CDP_PAGE_HEADER_BYTES;
		put_field(struct cdp_reuse, weight, 1e-320);
		break;
	default:
		if (_i < 35)
			spoil_cache(_i - 22);
		else
			spoil_slices(_i - 35);
	}
	ck_assert_int_eq(read_all(&bad), RECORDS - 2);
	ck_assert_uint_eq(bad, 1);
}
END_TEST

START_TEST(a_page_that_cannot_be_is_skipped_and_counted)
{
	uint64_t at = page_of(CDP_PAIRS), bad = 0;

	put_field(struct cdp_page, committed, 32);
	ck_assert_int_eq(read_all(&bad), RECORDS - 3);
	ck_assert_uint_eq(bad, 1);
	put_field(struct cdp_page, section, 77);
	bad = 0;
	ck_assert_int_eq(read_all(&bad), RECORDS - 3);
	ck_assert_uint_eq(bad, 8); /* at each of eight walks */
	put_field(struct cdp_page, section, CDP_FREE);
	bad = 0;
	ck_assert_int_eq(read_all(&bad), RECORDS - 3);
	ck_assert_uint_eq(bad, 0);
}
END_TEST

static int stop(void *ctx, const void *record)
{
	return ++*(int *)ctx;
}

START_TEST(a_caller_stops_the_walk_with_its_own_value)
{
	struct cdp_reader r;
	int calls = 4710;

	ck_assert_int_eq(open_file(&r), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_PAIRS, stop, &calls, NULL), 4711);
	ck_assert_int_eq(calls, 4711);
	cdp_close(&r);
}
END_TEST

START_TEST(an_unfinished_header_reads_with_lines_of_64_bytes)
{
	uint64_t at = 0;
	struct cdp_reader r;

	put_field(struct cdp_header, line_bytes, 0);
	ck_assert_int_eq(open_file(&r), 0);
	ck_assert_uint_eq(r.header.line_bytes, 64);
	cdp_close(&r);
}
END_TEST

/* Written before there was the last section. */
START_TEST(a_file_without_the_last_sections_reads)
{
	uint64_t at = 0, bad = 0;

	put_field(struct cdp_header, sections, CDP_CORES);
	at = page_of(CDP_TRANSFERS);
	put_field(struct cdp_page, section, CDP_FREE);
	at = page_of(CDP_MEMORY);
	put_field(struct cdp_page, section, CDP_FREE);
	at = page_of(CDP_REUSE);
	put_field(struct cdp_page, section, CDP_FREE);
	at = page_of(CDP_PATHS);
	put_field(struct cdp_page, section, CDP_FREE);
	ck_assert_int_eq(read_all(&bad), RECORDS - 8);
	ck_assert_uint_eq(bad, 0);
	at = 0;
	put_field(struct cdp_header, sections, CDP_CORES - 1);
	ck_assert_int_eq(read_all(NULL), -ENODATA);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cdp_read");
	TCase *tc = tcase_create("cdp_read");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, the_undamaged_file_has_what_was_written);
	tcase_add_test(tc, each_error_has_words_of_its_own);
	tcase_add_test(tc, what_is_no_regular_file_is_refused_without_waiting);
	tcase_add_loop_test(tc, foreign_files_are_named_as_such, 0, 4);
	tcase_add_test(tc, a_wrong_header_is_refused);
	tcase_add_test(tc, a_header_string_without_an_end_is_refused);
	tcase_add_loop_test(tc, a_wrong_record_is_skipped_and_counted, 0, 39);
	tcase_add_test(tc, a_page_that_cannot_be_is_skipped_and_counted);
	tcase_add_test(tc, a_caller_stops_the_walk_with_its_own_value);
	tcase_add_test(tc, an_unfinished_header_reads_with_lines_of_64_bytes);
	tcase_add_test(tc, a_file_without_the_last_sections_reads);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
