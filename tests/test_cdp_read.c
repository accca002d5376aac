/* SPDX-License-Identifier: MIT */
/*
 * test_cdp_read - files that are truncated, damaged, foreign or hostile
 *
 * Whatever the bytes: no crash (run it under AddressSanitizer and UBSan too),
 * one of the documented errors or at most the records that were written, and
 * none whose strings do not end or whose enumerations are out of range.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "sandbox.h"
#include "src/cdp_read.h"
#include "src/rng.h"
#include "src/store.h"

#define NAME "a.1.1.cdp"

enum {
	PAGES = 6,
	RECORDS = 7
};

static int file = -1;
static char good[PAGES * CDP_PAGE_BYTES];

/* One thread, a free row, two pairs, a map, two pairs of cores. */
static void setup(void)
{
	struct detection d = {
		.publisher = { .addr = 0x1000,
			       .len = 8,
			       .flags = ACCESS_STORE },
		.detector = { .addr = 0x1008, .len = 8, .flags = ACCESS_LOAD },
		.line = 0x1000,
		.sharing = SHARING_FALSE,
		.periods_q8 = 256,
	};
	struct store_writer threads = { .section = CDP_THREADS };
	struct store_writer maps = { .section = CDP_MAPS };
	struct pair_table pairs = { .writer.section = CDP_PAIRS };
	struct core_table cores = { .writer.section = CDP_CORES };
	struct cdp_thread *t;
	struct cdp_map *m;
	struct store s;

	sandbox_setup();
	ck_assert_int_eq(store_create(&s, sandbox_fd, NAME, sizeof(good)), 0);
	strcpy(s.header->exe, "/bin/true");
	s.header->line_bytes = 64;
	t = store_record(&s, &threads);
	t->state = CDP_THREAD_LIVE;
	strcpy(t->name, "worker");
	store_commit(&threads);
	t = store_record(&s, &threads);
	t->state = CDP_THREAD_FREE;
	store_commit(&threads);
	m = store_record(&s, &maps);
	m->start = 0x1000;
	m->end = 0x2000;
	m->prot = 3;
	strcpy(m->path, "/bin/true");
	store_commit(&maps);
	for (int n = 0; n < 2; n++) {
		d.publisher_thread = d.publisher_core = n;
		ck_assert_int_eq(pair_table_add(&s, &pairs, &d, 1, 0), 0);
		ck_assert_int_eq(core_table_add(&s, &cores, &d), 0);
	}
	pair_table_release(&pairs);
	core_table_release(&cores);
	store_release(&s);
	file = openat(sandbox_fd, NAME, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(pread(file, good, sizeof(good), 0), sizeof(good));
}

static void teardown(void)
{
	close(file);
	sandbox_teardown();
}

static void put(const void *bytes, size_t n, uint64_t at)
{
	ck_assert_int_eq(pwrite(file, bytes, n, at), n);
}

#define put_field(type, field, ...)                                            \
	do {                                                                   \
		typeof(((type *)0)->field) value_ = __VA_ARGS__;               \
		put(&value_, sizeof(value_), at + offsetof(type, field));      \
	} while (0)

/* The page of a section in @good: the order of setup is not assumed. */
static uint64_t page_of(enum cdp_section section)
{
	for (uint64_t at = CDP_PAGE_BYTES; at < sizeof(good);
	     at += CDP_PAGE_BYTES)
		if (((struct cdp_page *)(void *)(good + at))->section ==
		    section)
			return at;
	ck_abort_msg("no page");
	return 0;
}

static int open_file(struct cdp_reader *r)
{
	return cdp_open(r, sandbox_fd, NAME);
}

/* The second opinion on a record, from the format's definition. */
static void check_record(enum cdp_section section, const void *record)
{
	const struct cdp_thread *t = record;
	const struct cdp_pair *p = record;
	const struct cdp_map *m = record;
	const struct cdp_core *c = record;
	bool right = false;

	switch (section) {
	case CDP_THREADS:
		right = t->state >= CDP_THREAD_LIVE &&
			t->state <= CDP_THREAD_MERGED &&
			strnlen(t->name, 16) < 16;
		break;
	case CDP_PAIRS:
		right = p->sharing < 2 && p->by < 2 && p->count &&
			p->publisher_flags < 16 && p->detector_flags < 16;
		break;
	case CDP_MAPS:
		right = m->start < m->end && strnlen(m->path, 256) < 256 &&
			m->build_id_bytes <= 20 && m->prot < 8;
		break;
	case CDP_CORES:
		right = c->publisher_core < 8192 && c->detector_core < 8192;
		break;
	default:
		break;
	}
	if (!right)
		ck_abort_msg("a wrong record of section %d", section);
}

struct walk {
	enum cdp_section section;
	uint64_t records;
};

static int walk_record(void *ctx, const void *record)
{
	struct walk *w = ctx;

	check_record(w->section, record);
	w->records++;
	return 0;
}

/* Read everything; the number of records, or the error. */
static int read_all(uint64_t *bad)
{
	struct walk w = { 0 };
	struct cdp_reader r;
	int err = open_file(&r);

	if (err) {
		if (err != -EBADMSG && err != -EPROTO && err != -EMSGSIZE &&
		    err != -ENODATA)
			ck_abort_msg("error %d", err);
		return err;
	}
	for (w.section = CDP_THREADS; !err && w.section < CDP_SECTIONS;
	     w.section++)
		err = cdp_each(&r, w.section, walk_record, &w, bad);
	cdp_close(&r);
	return err ? err : (int)w.records;
}

START_TEST(the_undamaged_file_has_what_was_written)
{
	uint64_t bad = 0;
	struct cdp_reader r;

	ck_assert_int_eq(read_all(&bad), RECORDS - 1); /* a row is free */
	ck_assert_uint_eq(bad, 0);
	ck_assert_int_eq(open_file(&r), 0);
	ck_assert_str_eq(r.header.exe, "/bin/true");
	ck_assert_uint_eq(r.pages, 4);
	ck_assert_int_eq(cdp_each(&r, CDP_FREE, walk_record, NULL, NULL),
			 -EINVAL);
	ck_assert_int_eq(cdp_each(&r, CDP_SECTIONS, walk_record, NULL, NULL),
			 -EINVAL);
	cdp_close(&r);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_said_to_be_cut_short)
{
	for (long bytes = sizeof(good) - 1; bytes >= 0; bytes--) {
		ck_assert_int_eq(ftruncate(file, bytes), 0);
		if (read_all(NULL) != -EMSGSIZE)
			ck_abort_msg("at %ld bytes", bytes);
	}
}
END_TEST

static void flip(uint64_t at)
{
	uint64_t bad = 0;

	for (int bit = 0; bit < 8; bit++) {
		char byte = good[at] ^ 1 << bit;

		if (pwrite(file, &byte, 1, at) != 1 || read_all(&bad) > RECORDS)
			ck_abort_msg("bit %d of byte %lu", bit, at);
	}
	put(good + at, 1, at);
}

START_TEST(any_bit_of_the_header_may_be_wrong)
{
	for (uint64_t at = 0; at < sizeof(struct cdp_header); at++)
		flip(at);
	ck_assert_int_eq(read_all(NULL), RECORDS - 1); /* all put back */
}
END_TEST

START_TEST(any_bit_of_the_pages_may_be_wrong)
{
	for (int section = CDP_THREADS; section < CDP_SECTIONS; section++) {
		uint64_t at = page_of(section);
		uint64_t end = at + CDP_PAGE_HEADER_BYTES +
			       2 * cdp_record_bytes(section);

		for (; at < end; at++)
			flip(at);
	}
	ck_assert_int_eq(read_all(NULL), RECORDS - 1);
}
END_TEST

START_TEST(any_bytes_may_follow_a_good_header)
{
	static uint64_t noise[(sizeof(good) - CDP_PAGE_BYTES) / 8];
	uint64_t bad = 0;
	struct rng r;

	rng_seed(&r, 3, 0);
	for (int n = 0; n < 300; n++) {
		for (size_t i = 0; i < sizeof(noise) / 8; i++)
			noise[i] = rng_next(&r) & rng_next(&r);
		/* Half of them look like pages at first. */
		for (uint32_t page = 0; n % 2 && page < PAGES - 1; page++)
			noise[page * CDP_PAGE_BYTES / 8] =
				1 + rng_below(&r, 4) +
				(rng_below(&r, 70) << 32);
		put(noise, sizeof(noise), CDP_PAGE_BYTES);
		ck_assert_int_ge(read_all(&bad), 0);
	}
	ck_assert_uint_gt(bad, 300);
}
END_TEST

START_TEST(random_bytes_are_no_cdp_file)
{
	uint64_t noise[64];
	struct rng r;

	rng_seed(&r, 5, 0);
	for (int n = 0; n < 300; n++) {
		for (size_t i = 0; i < 64; i++)
			noise[i] = rng_next(&r);
		put(noise, sizeof(noise), 0);
		ck_assert_int_eq(read_all(NULL), -EBADMSG);
	}
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
		WRONG(sections, 8, -ENODATA),
		WRONG(sections, 9, -ENODATA),
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
		put_field(struct cdp_pair, by, DETECTED_BY_KINDS);
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
	ck_assert_uint_eq(bad, 4); /* at each of four walks */
	put_field(struct cdp_page, section, CDP_FREE);
	bad = 0;
	ck_assert_int_eq(read_all(&bad), RECORDS - 3);
	ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(pages_beyond_the_file_are_not_looked_for)
{
	uint64_t at = 0;

	put_field(struct cdp_header, pages, UINT64_MAX);
	ck_assert_int_eq(read_all(NULL), RECORDS - 1);
}
END_TEST

/* It would take days to look at all of its pages. */
START_TEST(a_file_of_no_sane_size_is_refused_at_once)
{
	struct timespec begin, end;
	uint64_t at = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	put_field(struct cdp_header, pages, UINT64_MAX);
	ck_assert_int_eq(ftruncate(file, INT64_C(1) << 40), 0);
	ck_assert_int_eq(read_all(NULL), -ENODATA);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_int_lt(end.tv_sec - begin.tv_sec, 10);
}
END_TEST

static int cut_file(void *ctx, const void *record)
{
	++*(int *)ctx;
	return ftruncate(file, CDP_PAGE_BYTES) ? -errno : 0;
}

START_TEST(a_file_that_shrinks_meanwhile_is_an_error_and_no_signal)
{
	struct cdp_reader r;
	int calls = 0;

	ck_assert_int_eq(open_file(&r), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_THREADS, cut_file, &calls, NULL),
			 -EMSGSIZE);
	ck_assert_int_eq(calls, 1);
	cdp_close(&r);
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

static Suite *make_suite(void)
{
	Suite *suite = suite_create("cdp_read");
	TCase *tc = tcase_create("cdp_read");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, the_undamaged_file_has_what_was_written);
	tcase_add_test(tc, a_file_cut_anywhere_is_said_to_be_cut_short);
	tcase_add_test(tc, any_bit_of_the_header_may_be_wrong);
	tcase_add_test(tc, any_bit_of_the_pages_may_be_wrong);
	tcase_add_test(tc, any_bytes_may_follow_a_good_header);
	tcase_add_test(tc, random_bytes_are_no_cdp_file);
	tcase_add_test(tc, each_error_has_words_of_its_own);
	tcase_add_test(tc, what_is_no_regular_file_is_refused_without_waiting);
	tcase_add_loop_test(tc, foreign_files_are_named_as_such, 0, 4);
	tcase_add_test(tc, a_wrong_header_is_refused);
	tcase_add_test(tc, a_header_string_without_an_end_is_refused);
	tcase_add_loop_test(tc, a_wrong_record_is_skipped_and_counted, 0, 10);
	tcase_add_test(tc, a_page_that_cannot_be_is_skipped_and_counted);
	tcase_add_test(tc, pages_beyond_the_file_are_not_looked_for);
	tcase_add_test(tc, a_file_of_no_sane_size_is_refused_at_once);
	tcase_add_test(tc,
		       a_file_that_shrinks_meanwhile_is_an_error_and_no_signal);
	tcase_add_test(tc, a_caller_stops_the_walk_with_its_own_value);
	tcase_add_test(tc, an_unfinished_header_reads_with_lines_of_64_bytes);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(make_suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
