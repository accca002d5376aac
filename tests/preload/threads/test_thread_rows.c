/* SPDX-License-Identifier: MIT */
/*
 * test_thread_rows - rows of threads that are merged lose no count and no name
 */
#include <check.h>
#include <string.h>

#include "preload/core/runtime.h"
#include "preload/core/timing.h"
#include "preload/threads/thread_rows.h"
#include "src/store/cdp_read.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	THREADS = 700, /* more than stay apart */
	EXPIRY_NS = 1000 * 1000,
	LATER_NS = 1000 * 1000 * 1000,
};

#define NAME "x.cdp"

/* The process that the rows belong to, and its clock. */
struct runtime runtime;

bool runtime_keep(void *at, size_t bytes)
{
	return false;
}
static uint64_t now;

uint64_t now_ns(void)
{
	return now;
}

static void set_up(void)
{
	sandbox_setup();
	memset(&runtime, 0, sizeof(runtime));
	now = LATER_NS;
	ck_assert_int_eq(
		store_create(&runtime.store, sandbox_fd, NAME, 4 << 20), 0);
	comm_set_expiry(&runtime.comm, EXPIRY_NS);
	ck_assert_int_eq(thread_rows_init(), 0);
}

static void tear_down(void)
{
	store_release(&runtime.store);
	sandbox_teardown();
}

static struct cdp_thread *begin_thread(void)
{
	static const char name[16] = "worker";
	struct cdp_thread *r = thread_row_new(NULL, true);

	ck_assert_ptr_nonnull(r);
	thread_row_name(r, name);
	return r;
}

static void end_thread(struct cdp_thread *r)
{
	r->state = CDP_THREAD_ENDED;
	thread_row_ended(r, now, true);
}

struct sum {
	uint64_t threads, counted[4], scaled, resolution;
	uint32_t ids[2 * THREADS], rows;
};

static int add_row(void *ctx, const void *record)
{
	const struct cdp_thread *r = record;
	struct sum *s = ctx;

	s->threads += r->count;
	s->counted[0] += r->counted_loads;
	s->counted[1] += r->counted_stores;
	s->counted[2] += r->counted_load_bytes;
	s->counted[3] += r->counted_store_bytes;
	s->scaled |= r->counted_scaled;
	if (r->reuse_resolution > s->resolution)
		s->resolution = r->reuse_resolution;
	s->ids[s->rows++] = r->id;
	return 0;
}

static struct sum read_file(void)
{
	struct sum s = { 0 };
	struct cdp_reader r;

	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_THREADS, add_row, &s, NULL), 0);
	cdp_close(&r);
	return s;
}

static bool has_row(const struct sum *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->rows; i++)
		if (s->ids[i] == id)
			return true;
	return false;
}

/* THREADS live at once, and then end. */
static void begin_all(struct cdp_thread *r[THREADS])
{
	for (int i = 0; i < THREADS; i++) {
		r[i] = begin_thread();
		r[i]->counted_loads = 1;
		r[i]->counted_stores = 10;
		r[i]->counted_load_bytes = 100;
		r[i]->counted_store_bytes = 1000;
	}
}

static void end_all(struct cdp_thread *r[THREADS])
{
	for (int i = 0; i < THREADS; i++)
		end_thread(r[i]);
	now += LATER_NS;
}

START_TEST(merged_rows_keep_all_counts)
{
	struct cdp_thread *r[THREADS];
	uint64_t n = 1;
	struct sum s;

	begin_all(r);
	r[3]->counted_scaled = 1;
	r[4]->reuse_resolution = 7;
	end_all(r);
	thread_rows_finish(now);
	s = read_file();
	ck_assert_uint_eq(s.threads, THREADS);
	ck_assert_uint_lt(s.rows, THREADS);
	for (int i = 0; i < 4; i++, n *= 10)
		ck_assert_uint_eq(s.counted[i], n * THREADS);
	ck_assert_uint_eq(s.scaled, 1);
	ck_assert_uint_eq(s.resolution, 7);
}
END_TEST

/*
 * A thread that samples seldom finds entries recent that are far older than the
 * expiry (set_window in comm.c). The one that made the entry is merged by then.
 */
START_TEST(a_late_detection_names_a_row_that_is_there)
{
	struct cdp_thread *r[THREADS];
	uint32_t first, named;
	struct sum s;

	begin_all(r);
	first = r[0]->id;
	end_all(r);
	begin_thread(); /* merges, and uses a row again */
	named = thread_mark_referenced(first);
	s = read_file();
	ck_assert(!has_row(&s, first));
	ck_assert(has_row(&s, named));
}
END_TEST

START_TEST(a_thread_that_a_detection_names_is_not_merged)
{
	struct cdp_thread *r[THREADS];
	uint32_t first;
	struct sum s;

	begin_all(r);
	first = r[0]->id;
	ck_assert_uint_eq(thread_mark_referenced(first), first);
	end_all(r);
	thread_rows_finish(now);
	ck_assert_uint_eq(thread_mark_referenced(first), first);
	s = read_file();
	ck_assert(has_row(&s, first));
	ck_assert_uint_eq(s.threads, THREADS);
}
END_TEST

/* The row of a thread that never began is another thread's later on. */
START_TEST(a_discarded_row_lends_its_name_to_nobody)
{
	struct cdp_thread *r = begin_thread();
	uint32_t id = r->id;

	thread_row_discard(r);
	ck_assert_ptr_eq(begin_thread(), r);
	ck_assert_uint_eq(thread_mark_referenced(id), id);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("thread_rows");
	TCase *tc = tcase_create("thread_rows");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, merged_rows_keep_all_counts);
	tcase_add_test(tc, a_late_detection_names_a_row_that_is_there);
	tcase_add_test(tc, a_thread_that_a_detection_names_is_not_merged);
	tcase_add_test(tc, a_discarded_row_lends_its_name_to_nobody);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
