/* SPDX-License-Identifier: MIT */
/*
 * test_report_over_time - strips, whatever the file says of time
 *
 * The fake process runs from 1 s to 3 s, so a column is 2^25 ns, 33.6 ms.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/time_slices.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define MS UINT64_C(1000000)

static struct fake fake;
static struct slice_table table[8]; /* by detector */
static struct slice_samples samples;

static void restart(void)
{
	memset(table, 0, sizeof(table));
	slice_samples_restart(&samples);
}

static void begin(void)
{
	fake_begin(&fake);
	restart();
	for (int i = 0; i < 5; i++)
		fake_thread(&fake, "worker");
}

static void end(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		slice_table_release(&table[i]);
	fake_end(&fake);
}

static void sample(uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at += 5)
		ck_assert_int_eq(
			slice_samples_add(&fake.store, &samples, at * MS), 0);
}

/* A detection every 10 ms, in the map too. */
static void share(uint32_t a, uint32_t b, enum sharing sharing, uint64_t from,
		  uint64_t to)
{
	struct detection d = { .publisher_thread = a,
			       .detector_thread = b,
			       .sharing = sharing };

	for (uint64_t at = from; at < to; at += 10)
		ck_assert_int_eq(
			slice_table_add(&fake.store, &table[b], &d, at * MS),
			0);
	fake_pair(&fake, a, b, 0x1000,
		  sharing == SHARING_TRUE ? 0x1000 : 0x1008, (to - from) / 10);
}

static struct cdp_memory_slices *raw(uint32_t kind)
{
	static struct store_writer writer;
	struct cdp_memory *m;

	writer = (struct store_writer){ .section = CDP_MEMORY };
	m = store_record(&fake.store, &writer);
	ck_assert_ptr_nonnull(m);
	m->kind = kind;
	m->slices.shift = CDP_SLICE_SHIFT_MIN;
	store_commit(&writer);
	return &m->slices;
}

static json_int_t number(json_t *j, const char *path, size_t i)
{
	return json_integer_value(json_array_get(at(j, path), i));
}

static json_int_t sum(json_t *j, const char *path, size_t from, size_t to)
{
	json_int_t n = 0;

	for (size_t i = from; i < to; i++)
		n += number(j, path, i);
	return n;
}

#define SLICES "communication.slices."

/* The line of the strip of @label, without the label and the sum. */
static char *strip_of(const char *text, const char *label)
{
	const char *at = strstr(text, "Sharing over time");
	char wanted[32];

	ck_assert_ptr_nonnull(at);
	snprintf(wanted, sizeof(wanted), "\n%9s ", label);
	at = strstr(at, wanted);
	ck_assert_msg(at != NULL, "no strip of %s", label);
	at += strlen(wanted) + 6;
	return strndup(at, strcspn(at, "\n"));
}

static struct verb text_of(const char *option)
{
	struct verb v = option ? VERB(cmd_report, "report", option, fake.dir)
			       : VERB(cmd_report, "report", fake.dir);

	ck_assert_int_eq(v.status, 0);
	return v;
}

START_TEST(partners_that_change_are_drawn_where_they_shared)
{
	char *early, *late;
	struct verb v;
	json_t *j;

	begin();
	sample(1000, 2000);
	sample(2200, 3000);
	share(1, 2, SHARING_FALSE, 1000, 1600);
	share(4, 3, SHARING_TRUE, 2400, 3000);
	end();
	j = report_of(fake.dir);
	ck_assert(json_is_true(at(j, SLICES "uneven")));
	ck_assert_int_eq(int_at(j, SLICES "slice_ns"), 1 << 25);
	ck_assert_int_eq(int_at(j, SLICES "outside"), 0);
	ck_assert_int_eq(int_at(j, SLICES "pairs"), 2);
	ck_assert_int_le(int_at(j, SLICES "begin_ns"), 0);
	ck_assert_int_eq(int_at(j, SLICES "run_ns"), 2000 * MS);
	ck_assert_uint_eq(json_array_size(at(j, SLICES "cells")), 2);
	ck_assert_int_eq(int_at(j, SLICES "cells.0.a"), 1);
	ck_assert_int_eq(int_at(j, SLICES "cells.1.a"), 3);
	ck_assert_int_eq(int_at(j, SLICES "cells.1.b"), 4);
	ck_assert_int_eq(sum(j, SLICES "cells.0.false", 0, 19), 60);
	ck_assert_int_eq(sum(j, SLICES "cells.1.true", 41, 64), 60);
	ck_assert_int_eq(sum(j, SLICES "false", 0, 64), 60);
	ck_assert_int_eq(sum(j, SLICES "true", 0, 64), 60);
	ck_assert_int_eq(sum(j, SLICES "samples", 0, 64), 200 + 160);
	json_decref(j);
	v = text_of(NULL);
	early = strip_of(v.out, "1-2");
	late = strip_of(v.out, "3-4");
	ck_assert_uint_eq(strlen(early), strlen(late));
	ck_assert_uint_le(strlen(late) + 16, 80);
	/* Shared to 1.6 s, sampled to 2.0 s and again from 2.2 s on. */
	ck_assert_uint_eq(strspn(early, ":-=+*#%@"), 19);
	ck_assert_uint_eq(strspn(early + 19, "."), 12);
	ck_assert_uint_eq(strspn(early + 31, " "), 5);
	ck_assert_uint_eq(strspn(late, ". "), 42);
	ck_assert_uint_eq(strlen(late + 42), strspn(late + 42, ":-=+*#%@"));
	free(early);
	free(late);
	verb_free(&v);
}
END_TEST

START_TEST(sharing_of_one_thread_is_that_of_its_pairs)
{
	struct verb v;

	begin();
	sample(1000, 3000);
	share(1, 2, SHARING_FALSE, 1000, 1600);
	share(4, 3, SHARING_TRUE, 2400, 3000);
	end();
	v = VERB(cmd_report, "report", "--thread", "3", fake.dir);
	free(strip_of(v.out, "all"));
	ck_assert_ptr_null(strstr(v.out, "1-2"));
	verb_free(&v);
}
END_TEST

START_TEST(even_sharing_takes_a_line_and_is_drawn_on_demand)
{
	char *strip;
	struct verb v;
	json_t *j;

	begin();
	sample(1000, 3000);
	share(0, 1, SHARING_FALSE, 1000, 3000);
	end();
	j = report_of(fake.dir);
	ck_assert(json_is_false(at(j, SLICES "uneven")));
	json_decref(j);
	v = text_of(NULL);
	ASSERT_SAYS(v.out, "Spread evenly over the run of 2.0 s");
	verb_free(&v);
	v = text_of("--time");
	strip = strip_of(v.out, "all");
	ck_assert_uint_eq(strlen(strip), strspn(strip, ":-=+*#%@"));
	free(strip);
	verb_free(&v);
}
END_TEST

/* Detections at random times are even, whatever the seed. */
START_TEST(chance_alone_is_not_uneven)
{
	struct detection d = { .publisher_thread = 0, .detector_thread = 1 };
	json_t *j;

	begin();
	sample(1000, 3000);
	srand48(_i);
	for (int i = 0; i < 200; i++)
		slice_table_add(
			&fake.store, &table[1], &d,
			1000 * MS + (uint64_t)(drand48() * 2000 * (double)MS));
	fake_pair(&fake, 0, 1, 0x1000, 0x1000, 200);
	end();
	j = report_of(fake.dir);
	ck_assert(json_is_false(at(j, SLICES "uneven")));
	json_decref(j);
}
END_TEST

START_TEST(few_detections_and_old_files_say_nothing)
{
	struct verb v;
	json_t *j;

	begin();
	sample(1000, 3000);
	share(0, 1, SHARING_FALSE, 1000, 1100);
	end();
	v = text_of(NULL);
	ck_assert_ptr_null(strstr(v.out, "over time"));
	verb_free(&v);
	sandbox_teardown();
	sandbox_setup();
	begin();
	fake_pair(&fake, 0, 1, 0x1000, 0x1000, 100);
	end();
	j = report_of(fake.dir);
	ck_assert_ptr_null(json_object_get(at(j, "communication"), "slices"));
	json_decref(j);
	v = text_of("--time");
	ck_assert_ptr_null(strstr(v.out, "over time"));
	verb_free(&v);
}
END_TEST

/* The second begins late, so its slices are short: 4 ms. */
START_TEST(processes_lie_side_by_side)
{
	struct cdp_header *h;
	json_t *j;

	begin();
	share(0, 1, SHARING_TRUE, 1500, 1510);
	for (size_t i = 0; i < 2; i++)
		slice_table_release(&table[i]);
	h = fake_next(&fake, 4343);
	h->start_mono = 2900 * MS;
	restart();
	fake_thread(&fake, "late");
	fake_thread(&fake, "late");
	share(0, 1, SHARING_TRUE, 2990, 3000);
	end();
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, SLICES "slice_ns"), 1 << 25);
	ck_assert_int_eq(int_at(j, SLICES "cells.0.a"), 0);
	ck_assert_int_eq(int_at(j, SLICES "cells.1.a"), 5);
	ck_assert_int_eq(sum(j, SLICES "cells.0.true", 14, 16), 1);
	ck_assert_int_eq(sum(j, SLICES "cells.1.true", 60, 61), 1);
	json_decref(j);
}
END_TEST

START_TEST(a_long_run_folds)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *j;

	h->last_mono = h->start_mono + 7200 * 1000 * MS;
	restart();
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	share(0, 1, SHARING_TRUE, 1000, 1300);
	share(0, 1, SHARING_TRUE, 3600000, 3601000);
	end();
	j = report_of(fake.dir);
	ck_assert_int_le(int_at(j, SLICES "slice_ns"), 7200 * 1000 * MS / 32);
	ck_assert_int_eq(number(j, SLICES "true", 0), 30);
	ck_assert_int_eq(sum(j, SLICES "true", 25, 40), 100);
	json_decref(j);
}
END_TEST

START_TEST(what_cannot_be_is_left_out_and_said)
{
	struct cdp_memory_slices *s;
	struct verb v;
	json_t *j;

	begin();
	fake.store.header->start_mono = 2000 * MS;
	sample(2000, 3000);
	share(0, 1, SHARING_TRUE, 2000, 2500);
	/* Before and after the run, and at the end of all times. */
	raw(CDP_MEMORY_SLICES)->count[0] = 7;
	s = raw(CDP_MEMORY_SLICES);
	s->first = 5000 * MS >> s->shift;
	s->count[11] = 7;
	s = raw(CDP_MEMORY_SLICES);
	s->first = (UINT64_MAX >> s->shift) - CDP_SLICES;
	s->count[11] = UINT64_MAX;
	/* Threads that do not exist: in the sum of all, in no pair. */
	s = raw(CDP_MEMORY_SLICES);
	s->publisher_thread = 77;
	s->detector_thread = 78;
	s->first = 2250 * MS >> s->shift;
	s->count[0] = 3;
	s = raw(CDP_MEMORY_SLICES);
	s->publisher_thread = CDP_SLICE_OTHERS;
	s->detector_thread = 1;
	s->publisher_process = 9;
	s->first = 2250 * MS >> s->shift;
	s->count[0] = 2;
	fake_pair(&fake, 0, 2, 0x3000, 0x3000, 11);
	end();
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, SLICES "cells")), 1);
	ck_assert_int_eq(sum(j, SLICES "false", 0, 64), 5);
	ck_assert_int_eq(sum(j, SLICES "true", 0, 64), 50);
	ck_assert_int_eq(int_at(j, SLICES "outside"), 6);
	json_decref(j);
	v = text_of(NULL);
	ASSERT_SAYS(v.out, "6 detections are in no column");
	verb_free(&v);
}
END_TEST

/*
 * A watcher makes the file when it reads the first samples, and one that is
 * killed has not said yet that the process was alive.
 */
START_TEST(what_happened_a_little_before_or_after_counts)
{
	struct cdp_header *h;
	json_t *j;

	h = fake_begin(&fake);
	restart();
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	h->start_mono = 2000 * MS;
	h->last_mono = 2500 * MS;
	share(0, 1, SHARING_TRUE, 1700, 1720);
	share(0, 1, SHARING_TRUE, 2100, 2200);
	share(0, 1, SHARING_FALSE, 2900, 2930);
	end();
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, SLICES "outside"), 0);
	ck_assert_int_gt(int_at(j, SLICES "run_ns"), 1200 * MS - (1 << 25));
	ck_assert_int_eq(number(j, SLICES "true", 0), 2);
	ck_assert_int_eq(sum(j, SLICES "false", 30, 64), 3);
	json_decref(j);
}
END_TEST

/* A length at which the whole run is one slice, and the greatest counts. */
START_TEST(absurd_records_do_no_harm)
{
	struct cdp_memory_slices *s;
	struct verb v;
	json_t *j;

	begin();
	for (int i = 0; i < 4; i++) {
		s = raw(i % 2 ? CDP_MEMORY_SLICES : CDP_MEMORY_SAMPLED);
		s->shift = CDP_SLICE_SHIFT_MAX;
		s->count[0] = UINT64_MAX;
		s->publisher_thread = 1;
	}
	end();
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, SLICES "samples")), 1);
	json_decref(j);
	v = text_of("--time");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_over_time");
	TCase *tc = tcase_create("report_over_time");

	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, partners_that_change_are_drawn_where_they_shared);
	tcase_add_test(tc, sharing_of_one_thread_is_that_of_its_pairs);
	tcase_add_test(tc, even_sharing_takes_a_line_and_is_drawn_on_demand);
	tcase_add_loop_test(tc, chance_alone_is_not_uneven, 0, 50);
	tcase_add_test(tc, few_detections_and_old_files_say_nothing);
	tcase_add_test(tc, processes_lie_side_by_side);
	tcase_add_test(tc, a_long_run_folds);
	tcase_add_test(tc, what_cannot_be_is_left_out_and_said);
	tcase_add_test(tc, what_happened_a_little_before_or_after_counts);
	tcase_add_test(tc, absurd_records_do_no_harm);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
