/* SPDX-License-Identifier: MIT */
/*
 * test_named_regions - what counts for which region, as a reader finds it
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "read_memory.h"
#include "src/store/named_regions.h"
#include "tests/run_suite.h"

#define NAME  "a.1.1.cdp"
#define OTHER "b.1.1.cdp"

static struct store store;
static struct named_regions regions;
static struct region_stack stack;
static struct cdp_memory_region found[2 * NAMED_REGIONS_MAX];
static size_t records;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
	memset(&regions, 0, sizeof(regions));
	memset(&stack, 0, sizeof(stack));
	records = 0;
}

static int take(void *ctx, const void *record)
{
	const struct cdp_memory *m = record;

	ck_assert_uint_eq(m->kind, CDP_MEMORY_REGION);
	found[records++] = m->region;
	return 0;
}

static void read_back(const char *file)
{
	records = 0;
	read_memory(file, take);
}

/* Samples of all records of this name. */
static uint64_t samples(const char *name)
{
	uint64_t n = 0;

	for (size_t i = 0; i < records; i++)
		if (!strcmp(found[i].name, name))
			n += found[i].samples[SAMPLE_UNIFORM];
	return n;
}

static void begin(const char *name)
{
	named_region_begin(&regions, &stack, name);
}

static void end(const char *name)
{
	named_region_end(&regions, &stack, name);
}

static void sample(void)
{
	ck_assert_int_eq(named_region_sample(&regions, &store, &stack,
					     SAMPLE_UNIFORM, 1),
			 0);
}

START_TEST(a_sample_counts_for_the_innermost_region)
{
	char name[] = "inner";

	sample();
	begin("outer");
	sample();
	begin(name);
	name[0] = 'x'; /* the name is kept, not the pointer */
	sample();
	sample();
	end("inner");
	sample();
	end("outer");
	sample();
	read_back(NAME);
	ck_assert_uint_eq(records, 2);
	ck_assert_uint_eq(samples("outer"), 2);
	ck_assert_uint_eq(samples("inner"), 2);
}
END_TEST

START_TEST(an_end_ends_what_was_left_open_inside_and_nothing_else)
{
	begin("a");
	begin("b");
	begin("c");
	end("nobody's");
	ck_assert_uint_eq(stack.depth, 3);
	end("b");
	ck_assert_uint_eq(stack.depth, 1);
	end("b");
	ck_assert_uint_eq(stack.depth, 1);
	end("a");
	end("a");
	ck_assert_uint_eq(stack.depth, 0);
}
END_TEST

START_TEST(a_region_in_itself_ends_once_for_each_begin)
{
	for (int i = 0; i < 5; i++)
		begin("f");
	for (uint32_t left = 5; left; left--) {
		ck_assert_uint_eq(stack.depth, left);
		end("f");
	}
	ck_assert_uint_eq(stack.depth, 0);
}
END_TEST

START_TEST(deeper_regions_count_for_the_last_that_is_told)
{
	char name[16];
	uint32_t deep = REGION_DEPTH_MAX + 10;

	for (uint32_t i = 0; i < deep; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		begin(name);
	}
	sample();
	for (uint32_t i = deep; i--;) {
		snprintf(name, sizeof(name), "r%u", i);
		end(name);
	}
	ck_assert_uint_eq(stack.depth, 0);
	read_back(NAME);
	snprintf(name, sizeof(name), "r%d", REGION_DEPTH_MAX - 1);
	ck_assert_uint_eq(samples(name), 1);
}
END_TEST

START_TEST(names_beyond_the_limit_are_one_region)
{
	char name[16];

	for (int i = 0; i < 2 * NAMED_REGIONS_MAX; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		begin(name);
		sample();
		end(name);
		ck_assert_uint_eq(stack.depth, 0);
	}
	read_back(NAME);
	ck_assert_uint_eq(records, NAMED_REGIONS_MAX);
	ck_assert_uint_eq(samples("r0"), 1);
	ck_assert_uint_eq(samples("(others)"), NAMED_REGIONS_MAX + 1);
}
END_TEST

START_TEST(names_are_cut_and_never_empty)
{
	char longer[200], cut[CDP_REGION_NAME_BYTES];

	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	memset(cut, 'n', sizeof(cut));
	cut[sizeof(cut) - 1] = 0;
	begin(longer);
	sample();
	end(longer);
	ck_assert_uint_eq(stack.depth, 0);
	begin("");
	sample();
	begin(NULL);
	sample();
	end("");
	end(NULL);
	ck_assert_uint_eq(stack.depth, 0);
	read_back(NAME);
	ck_assert_uint_eq(records, 2);
	ck_assert_uint_eq(samples(cut), 1);
	ck_assert_uint_eq(samples("(no name)"), 2);
}
END_TEST

START_TEST(detections_count_by_weight_sharing_and_padding)
{
	struct detection d = { .sharing = SHARING_FALSE,
			       .weight = 3,
			       .padding = PADDING_AVOIDS };

	ck_assert_int_eq(named_region_detected(&regions, &store, &stack, &d),
			 0);
	begin("a");
	ck_assert_int_eq(named_region_detected(&regions, &store, &stack, &d),
			 0);
	d = (struct detection){ .sharing = SHARING_TRUE,
				.padding = PADDING_KEEPS };
	ck_assert_int_eq(named_region_detected(&regions, &store, &stack, &d),
			 0);
	d.padding = PADDING_UNKNOWN;
	ck_assert_int_eq(named_region_detected(&regions, &store, &stack, &d),
			 0);
	ck_assert_int_eq(named_region_sample(&regions, &store, &stack,
					     SAMPLE_STALLED, 5),
			 0);
	read_back(NAME);
	ck_assert_uint_eq(records, 1);
	ck_assert_uint_eq(found[0].detections[SHARING_FALSE], 3);
	ck_assert_uint_eq(found[0].detections[SHARING_TRUE], 2);
	ck_assert_uint_eq(found[0].avoidable, 3);
	ck_assert_uint_eq(found[0].unavoidable, 1);
	ck_assert_uint_eq(found[0].samples[SAMPLE_STALLED], 1);
	ck_assert_uint_eq(found[0].samples_skipped, 4);
}
END_TEST

START_TEST(another_file_gets_records_of_its_own)
{
	struct store child;

	begin("kept");
	sample();
	ck_assert_int_eq(store_create(&child, sandbox_fd, OTHER,
				      STORE_MAX_BYTES_DEFAULT),
			 0);
	named_regions_restart(&regions);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(named_region_sample(&regions, &child, &stack,
						     SAMPLE_UNIFORM, 1),
				 0);
	read_back(NAME);
	ck_assert_uint_eq(samples("kept"), 1);
	read_back(OTHER);
	ck_assert_uint_eq(samples("kept"), 3);
	store_release(&child);
}
END_TEST

START_TEST(a_full_file_is_told_and_the_regions_go_on)
{
	struct store small;

	ck_assert_int_eq(
		store_create(&small, sandbox_fd, OTHER, 2 * CDP_PAGE_BYTES), 0);
	while (store_page(&small, CDP_MAPS))
		;
	begin("a");
	ck_assert_int_eq(named_region_sample(&regions, &small, &stack,
					     SAMPLE_UNIFORM, 1),
			 -ENOSPC);
	end("a");
	ck_assert_uint_eq(stack.depth, 0);
	store_release(&small);
}
END_TEST

enum {
	THREADS = 4,
	ROUNDS = 20000,
	NAMES = 7,
};

static void *rounds(void *arg)
{
	struct region_stack mine = { 0 };
	char name[16];

	for (int i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof(name), "r%d", i % NAMES);
		named_region_begin(&regions, &mine, "all");
		named_region_begin(&regions, &mine, name);
		while (named_region_sample(&regions, &store, &mine,
					   SAMPLE_UNIFORM, 1))
			;
		named_region_end(&regions, &mine, name);
		named_region_end(&regions, &mine, "all");
	}
	*(uint32_t *)arg = mine.depth;
	return NULL;
}

START_TEST(threads_lose_no_sample)
{
	uint32_t depth[THREADS];
	pthread_t thread[THREADS];
	uint64_t all = 0;
	char name[16];

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, rounds, &depth[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		ck_assert_uint_eq(depth[i], 0);
	}
	read_back(NAME);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		all += samples(name);
	}
	ck_assert_uint_eq(all, THREADS * ROUNDS);
	ck_assert_uint_eq(samples("all"), 0);
}
END_TEST

static volatile sig_atomic_t signals;

/* A handler of the program that uses regions. */
static void on_signal(int sig)
{
	char name[16];
	uint32_t depth = stack.depth;

	(void)sig;
	snprintf(name, sizeof(name), "s%d", (int)signals % 40);
	begin(name);
	begin("in it");
	end(name);
	if (stack.depth == depth)
		signals++;
}

START_TEST(a_handler_in_the_middle_leaves_the_stack_as_it_was)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } },
			       never = { 0 };
	struct sigaction sa = { .sa_handler = on_signal };
	char name[16];

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; signals < 200; i++) {
		snprintf(name, sizeof(name), "r%d", i % 100);
		begin("outer");
		begin(name);
		ck_assert_uint_eq(stack.depth, 2);
		ck_assert_str_eq(regions.slot[stack.open[0]].name, "outer");
		ck_assert_str_eq(regions.slot[stack.open[1]].name, name);
		end(name);
		end("outer");
		ck_assert_uint_eq(stack.depth, 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("named_regions");
	TCase *tc = tcase_create("named_regions");

	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_sample_counts_for_the_innermost_region);
	tcase_add_test(tc,
		       an_end_ends_what_was_left_open_inside_and_nothing_else);
	tcase_add_test(tc, a_region_in_itself_ends_once_for_each_begin);
	tcase_add_test(tc, deeper_regions_count_for_the_last_that_is_told);
	tcase_add_test(tc, names_beyond_the_limit_are_one_region);
	tcase_add_test(tc, names_are_cut_and_never_empty);
	tcase_add_test(tc, detections_count_by_weight_sharing_and_padding);
	tcase_add_test(tc, another_file_gets_records_of_its_own);
	tcase_add_test(tc, a_full_file_is_told_and_the_regions_go_on);
	tcase_add_test(tc, threads_lose_no_sample);
	tcase_add_test(tc, a_handler_in_the_middle_leaves_the_stack_as_it_was);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
