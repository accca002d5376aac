/* SPDX-License-Identifier: MIT */
/*
 * test_report_damaged - files that are damaged at random
 *
 * One good file is mutated byte by byte, truncated, and spliced. In every case
 * report must end with status 0 or 1, give the reason in at most one line per
 * file, and print JSON that parses. The sanitized build finds the rest.
 */
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/store/reuse_tally.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	ROUNDS = 60,
	BYTES_MAX = 1 << 20
};

static struct fake fake;
static unsigned char good[BYTES_MAX], bad[BYTES_MAX];
static size_t bytes;

/* Two callers of 0x1000, and an access below each of them. */
static void put_nodes(void)
{
	static const struct cdp_path node[] = {
		{ .node = 1, .ip = 0x1100 },
		{ .node = 2, .ip = 0x1200, .flags = CDP_PATH_RECURS },
		{ .node = 3, .parent = 1, .ip = 0x1000 },
		{ .node = 4, .parent = 2, .ip = 0x1000 },
	};
	struct store_writer paths = { .section = CDP_PATHS };

	for (size_t i = 0; i < sizeof(node) / sizeof(node[0]); i++) {
		struct cdp_path *p = store_record(&fake.store, &paths);

		ck_assert_ptr_nonnull(p);
		*p = node[i];
		store_commit(&paths);
	}
}

/* A bin, a pair, its call paths and a cache, for two threads. */
static void put_reuses(void)
{
	struct reuse_tally tally = { .writer.section = CDP_REUSE };
	struct cdp_reuse r = { .granularity = REUSE_LINE, .weight = 100 };

	for (r.thread = 0; r.thread < 2; r.thread++) {
		r.outcome = REUSE_REUSED;
		r.end_ip = r.use_ip = 0;
		r.kind = CDP_REUSE_BIN;
		r.bin = 40;
		ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
		r.kind = CDP_REUSE_PAIR;
		r.bin = 5;
		r.use_ip = r.end_ip = 0x1000;
		ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
		r.kind = CDP_REUSE_PATHS;
		r.use_ip = 3;
		r.end_ip = 4;
		ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
		r.use_ip = r.end_ip = 0;
		ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
		r.kind = CDP_REUSE_CACHE;
		r.outcome = REUSE_NOTHING;
		r.end_ip = cdp_cache_shape(64, 12);
		for (r.bin = 1; r.bin < 3; r.bin++)
			ck_assert_int_eq(
				reuse_tally_put(&fake.store, &tally, &r), 0);
	}
	reuse_tally_release(&tally);
}

static void make_good_file(void)
{
	int fd;
	ssize_t n;

	fake_begin(&fake);
	for (int i = 0; i < 600; i++)
		fake_thread(&fake, "worker")->start_routine = 0x1000;
	for (int i = 1; i < 600; i++)
		fake_pair(&fake, i - 1, i, 0x7f0000000000 + 8 * i,
			  0x7f0000000000 + 8 * i + i % 9, i);
	fake_own_maps(&fake);
	fake_core(&fake, 0, 1, 5, 6);
	put_nodes();
	put_reuses();
	store_release(&fake.store);
	fd = openat(fake.dirfd, fake.file, O_RDONLY);
	while ((n = read(fd, good + bytes, sizeof(good) - bytes)) > 0)
		bytes += n;
	close(fd);
	ck_assert_uint_gt(bytes, 4 * CDP_PAGE_BYTES);
	ck_assert_uint_lt(bytes, sizeof(good));
}

/* Offsets where damage is likely to matter: the header and page headers. */
static size_t likely_offset(struct rng *r)
{
	size_t pages = bytes / CDP_PAGE_BYTES;

	switch (rng_below(r, 3)) {
	case 0:
		return rng_below(r, sizeof(struct cdp_header));
	case 1:
		return rng_below(r, pages) * CDP_PAGE_BYTES + rng_below(r, 64);
	default:
		return rng_below(r, bytes);
	}
}

static size_t damage(struct rng *r)
{
	static const uint64_t words[] = { 0,          1,         0x7fffffff,
					  0xffffffff, INT64_MAX, UINT64_MAX };
	size_t size = bytes;

	memcpy(bad, good, bytes);
	for (int n = 1 + rng_below(r, 8); n; n--) {
		size_t at = likely_offset(r);

		switch (rng_below(r, 4)) {
		case 0:
			bad[at] ^= 1 << rng_below(r, 8);
			break;
		case 1:
			at &= ~(size_t)7;
			memcpy(bad + at, &words[rng_below(r, 6)], 8);
			break;
		case 2:
			bad[at] = rng_next(r);
			break;
		default:
			if (at + 512 < bytes)
				memcpy(bad + at,
				       good + rng_below(r, bytes - 512), 512);
		}
	}
	if (!rng_below(r, 4))
		size = rng_below(r, bytes);
	return size;
}

static void write_bad_file(size_t size)
{
	int fd = openat(fake.dirfd, fake.file, O_WRONLY | O_TRUNC);

	ck_assert_int_eq(write(fd, bad, size), size);
	close(fd);
}

START_TEST(damage_is_survived_and_told)
{
	int read_well = 0, refused = 0;
	struct rng r;

	rng_seed(&r, 7, _i);
	make_good_file();
	for (int n = 0; n < ROUNDS; n++) {
		struct verb v;
		json_t *j;

		write_bad_file(damage(&r));
		v = n % 2 ? VERB(cmd_report, "report", "--json", fake.dir)
			  : VERB(cmd_report, "report", fake.dir);
		ck_assert_msg(v.status == 0 || v.status == 1, "status %d: %s",
			      v.status, v.err);
		ck_assert_int_eq(verb_lines(v.err), v.status);
		if (v.status == 0 && n % 2) {
			j = json_loads(v.out, 0, NULL);
			ck_assert_ptr_nonnull(j);
			json_decref(j);
		}
		read_well += !v.status;
		refused += v.status;
		verb_free(&v);
	}
	/* Some files must still be readable, and some not. */
	ck_assert_int_gt(read_well, 0);
	ck_assert_int_gt(refused, 0);
	close(fake.dirfd);
}
END_TEST

static void fill(int how)
{
	int fd = openat(fake.dirfd, fake.file, O_WRONLY | O_TRUNC | O_CREAT,
			0600);

	switch (how) {
	case 0: /* empty */
		break;
	case 1: /* foreign */
		ck_assert_int_gt(write(fd, "\177ELF not a profile", 19), 0);
		break;
	case 2: /* another version */
		memcpy(bad, good, bytes);
		bad[8] = 99;
		ck_assert_int_gt(write(fd, bad, bytes), 0);
		break;
	case 3: /* cut in the header */
		ck_assert_int_eq(write(fd, good, 1000), 1000);
		break;
	}
	close(fd);
}

START_TEST(a_file_that_is_no_profile_is_one_line_and_status_1)
{
	static const char *const says[] = {
		"cut short", "not a .cdp file", "another version",
		"cut short", "directory",       "symbolic link"
	};
	struct verb v;

	make_good_file();
	unlinkat(fake.dirfd, fake.file, 0);
	if (_i < 4)
		fill(_i);
	else if (_i == 4)
		ck_assert_int_eq(mkdirat(fake.dirfd, fake.file, 0700), 0);
	else
		ck_assert_int_eq(
			symlinkat("/etc/passwd", fake.dirfd, fake.file), 0);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ck_assert_str_eq(v.out, "");
	ASSERT_SAYS(v.err, says[_i]);
	ASSERT_SAYS(v.err, fake.file);
	verb_free(&v);
	close(fake.dirfd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report of damaged files");
	TCase *t = tcase_create("damaged");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, damage_is_survived_and_told, 0, 4);
	tcase_add_loop_test(
		t, a_file_that_is_no_profile_is_one_line_and_status_1, 0, 6);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
