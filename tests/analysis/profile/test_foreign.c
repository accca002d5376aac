/* SPDX-License-Identifier: MIT */
/*
 * test_foreign - detections between processes that share memory
 */
#include <check.h>
#include <sys/mman.h>

#include "analysis/profile/foreign.h"
#include "analysis/profile/profile.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define HERE  UINT64_C(0x7f0000001000)
#define THERE UINT64_C(0x7f5550004000)

static struct fake fake;
static struct profile profile;

static void setup(void)
{
	sandbox_setup();
	fake_begin(&fake);
}

static void teardown(void)
{
	profile_release(&profile);
	sandbox_teardown();
}

/* A segment from offset 4096 on, at @start. */
static struct cdp_map *segment(uint64_t start)
{
	struct cdp_map *m =
		fake_map(&fake, start, start + 8192, 4096,
			 PROT_READ | PROT_WRITE, "/memfd:x (deleted)");

	m->inode = 77;
	m->flags = CDP_MAP_SHARED;
	return m;
}

/* The first process, numbered 1, with two threads; it detected twice. */
static void first_process(void)
{
	fake.store.header->number = 1;
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, HERE, HERE + 8, 3);
}

/* The second, numbered 2, whose thread 7 met a store of the first's thread 1.
 */
static struct cdp_pair *second_process(uint64_t number)
{
	struct cdp_header *h = fake_next(&fake, 4243);
	struct cdp_pair *p;

	h->number = 2;
	h->start_mono++;
	fake.next_id = 7;
	fake_thread(&fake, "c");
	p = fake_pair(&fake, 1, 7, THERE, THERE + 16, 5);
	p->publisher_process = number;
	p->line = THERE;
	return p;
}

static void load(void)
{
	fake_end(&fake);
	ck_assert_int_eq(profile_load(&profile, fake.dir), 0);
	ck_assert_uint_eq(profile.processes, 2);
	ck_assert_uint_eq(profile.pairs, 2);
}

/* The pair with @count detections. */
static const struct pair_row *pair(uint64_t count)
{
	for (size_t i = 0; i < profile.pairs; i++)
		if (profile.pair[i].count == count)
			return &profile.pair[i];
	ck_abort_msg("no pair with %lu detections", count);
	return NULL;
}

START_TEST(a_publisher_is_found_in_the_other_process)
{
	const struct pair_row *p;

	segment(HERE);
	first_process();
	second_process(1);
	segment(THERE);
	load();
	p = pair(5);
	ck_assert_str_eq(profile.thread[p->publisher].name, "b");
	ck_assert_str_eq(profile.thread[p->detector].name, "c");
	ck_assert_uint_eq(p->publisher_process, 0);
	ck_assert_uint_eq(p->detector_process, 1);
	ck_assert_uint_eq(profile.threads, 3);
}
END_TEST

START_TEST(a_shared_line_is_one_line_wherever_it_is_mapped)
{
	segment(HERE);
	first_process();
	second_process(1);
	segment(THERE);
	load();
	ck_assert_uint_eq(pair(5)->process, 0);
	ck_assert_uint_eq(pair(5)->line, pair(3)->line);
	ck_assert_uint_eq(pair(5)->publisher_addr, HERE);
	ck_assert_uint_eq(pair(5)->detector_addr, HERE + 16);
}
END_TEST

START_TEST(the_report_names_the_processes_of_threads_and_lines)
{
	char *text;

	segment(HERE);
	first_process();
	second_process(1);
	strcpy(fake.store.header->exe, "/bin/other");
	segment(THERE);
	load();
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, " pid 4242 fake 0 5000 a ");
	ASSERT_SAYS(text, " pid 4243 other 2 5007 c ");
	ASSERT_SAYS(text, "3 threads of pid 4242 (fake), pid 4243 (other); ");
	free(text);
}
END_TEST

/* Private memory, another file, another part of it, a segment of that number */
START_TEST(other_memory_stays_with_its_process)
{
	struct cdp_map *m;

	m = segment(HERE);
	first_process();
	switch (_i) {
	case 0:
		m->flags = 0;
		break;
	case 1:
		m->inode++;
		break;
	case 2:
		m->file_offset = 1 << 20;
		break;
	case 3:
		strcpy(m->path, "/SYSV00000000 (deleted)");
		break;
	case 4:
		m->ipc_namespace = 1;
		break;
	}
	second_process(1);
	segment(THERE);
	load();
	ck_assert_uint_eq(pair(5)->process, 1);
	ck_assert_uint_eq(pair(5)->line, THERE);
}
END_TEST

START_TEST(a_publisher_whose_file_is_missing_has_an_unknown_row)
{
	const struct pair_row *p;

	segment(HERE);
	first_process();
	second_process(9);
	load();
	p = pair(5);
	ck_assert(profile.thread[p->publisher].unknown);
	ck_assert_str_eq(profile.thread[p->detector].name, "c");
	ck_assert_uint_eq(profile.threads, 4);
}
END_TEST

START_TEST(a_damaged_number_of_a_process_is_survived)
{
	segment(HERE);
	first_process();
	second_process(UINT64_MAX);
	segment(THERE);
	load();
	ck_assert_uint_lt(pair(5)->publisher, profile.threads);
}
END_TEST

/* With numbers, the processes were watched together. */
START_TEST(memory_that_was_shared_unseen_is_named)
{
	bool alone = _i == 0 || _i == 2;

	if (_i == 2)
		segment(HERE)->prot = PROT_READ;
	else
		segment(HERE);
	first_process();
	second_process(1);
	segment(THERE);
	if (alone)
		fake.store.header->number = 0;
	load();
	for (size_t i = 0; alone && i < profile.processes; i++)
		profile.process[i].header.number = 0;
	if (_i == 0)
		ck_assert_str_eq(foreign_unseen(&profile),
				 "/memfd:x (deleted)");
	else
		ck_assert_ptr_null(foreign_unseen(&profile));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("foreign");
	TCase *c = tcase_create("foreign");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_publisher_is_found_in_the_other_process);
	tcase_add_test(c, a_shared_line_is_one_line_wherever_it_is_mapped);
	tcase_add_test(c, the_report_names_the_processes_of_threads_and_lines);
	tcase_add_loop_test(c, other_memory_stays_with_its_process, 0, 5);
	tcase_add_test(c, a_publisher_whose_file_is_missing_has_an_unknown_row);
	tcase_add_test(c, a_damaged_number_of_a_process_is_survived);
	tcase_add_loop_test(c, memory_that_was_shared_unseen_is_named, 0, 3);
	suite_add_tcase(s, c);
	return run_suite(s);
}
