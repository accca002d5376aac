/* SPDX-License-Identifier: MIT */
/*
 * test_slices - a process that was watched several times is one process
 */
#include <check.h>
#include <sys/mman.h>

#include "analysis/profile/mapping.h"
#include "analysis/profile/profile.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define HERE UINT64_C(0x7f0000001000)

static struct profile profile;
static struct fake fake;

static void teardown(void)
{
	profile_release(&profile);
	sandbox_teardown();
}

static void setup(void)
{
	sandbox_setup();
	fake_begin(&fake);
}

static void map(const char *path, uint64_t generation)
{
	fake_map(&fake, HERE, HERE + 8192, 0, PROT_READ | PROT_WRITE, path)
		->generation = generation;
}

/* A slice: threads "a" and "b", and @count detections between them. */
static struct cdp_header *slice(uint32_t number, uint64_t count)
{
	struct cdp_header *h = fake.store.header;

	h->number = number;
	h->pid = 4242;
	h->process_start = 77;
	h->state = CDP_STOPPED;
	h->start_mono += number;
	h->last_mono += number;
	h->samples_exact = 10;
	h->loss[LOSS_RACY] = 4;
	snprintf(h->note, sizeof(h->note), "slice %u", number);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, HERE, HERE + 8, count);
	return h;
}

static struct cdp_header *next_slice(uint32_t number, uint64_t count)
{
	fake_next(&fake, 10000 + (int)number);
	return slice(number, count);
}

static void load(size_t processes)
{
	fake_end(&fake);
	ck_assert_int_eq(profile_load(&profile, fake.dir), 0);
	ck_assert_uint_eq(profile.bad_files, 0);
	ck_assert_uint_eq(profile.processes, processes);
}

/* What is mapped at the line of the pair with @count detections. */
static const char *line_of(uint64_t count)
{
	for (size_t i = 0; i < profile.pairs; i++) {
		const struct pair_row *r = &profile.pair[i];

		if (r->count == count)
			return process_map(&profile.process[r->process],
					   r->line, r->line_generation)
				->path;
	}
	ck_abort_msg("no pair with %lu detections", count);
	return NULL;
}

START_TEST(slices_of_a_process_are_one_row_each)
{
	struct process *s;

	slice(1, 3);
	map("/bin/x", 1);
	next_slice(33, 5);
	map("/bin/x", 1);
	next_slice(65, 7)->not_followed = 2;
	map("/bin/x", 1);
	load(1);
	s = &profile.process[0];
	ck_assert_uint_eq(s->header.samples_exact, 30);
	ck_assert_uint_eq(s->header.loss[LOSS_RACY], 12);
	ck_assert_uint_eq(s->header.not_followed, 2);
	ck_assert_str_eq(s->header.note, "slice 65");
	ck_assert_uint_eq(s->header.start_mono, 1000000001);
	ck_assert_uint_eq(s->header.last_mono, 3000000065);
	ck_assert_uint_eq(s->maps, 1); /* it is the same mapping */
	ck_assert_uint_eq(profile.threads, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(profile.thread[i].name, i ? "b" : "a");
		ck_assert_uint_eq(profile.thread[i].interrupts, 3000);
		ck_assert_uint_eq(profile.thread[i].count, 1);
	}
	ck_assert_uint_eq(profile.pairs, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(profile.pair[i].publisher, 0);
		ck_assert_uint_eq(profile.pair[i].detector, 1);
		ck_assert_uint_eq(profile.pair[i].process, 0);
		ck_assert_uint_eq(profile.pair[i].detector_process, 0);
		ck_assert_str_eq(line_of(profile.pair[i].count), "/bin/x");
	}
	ck_assert_uint_eq(profile_wall_ns(&profile), 2000000064);
}
END_TEST

START_TEST(each_slice_keeps_its_mappings)
{
	slice(1, 3);
	map("/bin/x", 1);
	map("/bin/y", 2);
	next_slice(33, 5);
	map("/bin/z", 1);
	next_slice(65, 7);
	map("/bin/z", 1);
	load(1);
	ck_assert_str_eq(line_of(3), "/bin/x");
	ck_assert_str_eq(line_of(5), "/bin/z");
	ck_assert_str_eq(line_of(7), "/bin/z");
	ck_assert_uint_eq(profile.process[0].maps, 3);
}
END_TEST

/* Another incarnation, program, boot; a program after exec; one alone. */
START_TEST(other_processes_stay_apart)
{
	struct cdp_header *h;

	slice(1, 3);
	next_slice(2, 3)->process_start = 78;
	strcpy(next_slice(3, 3)->exe, "/usr/bin/other");
	strcpy(next_slice(4, 3)->boot_id, "another");
	next_slice(5, 3)->pid = 4243;
	next_slice(6, 3)->period++;
	h = next_slice(7, 3);
	h->process_start = 79;
	h->state = CDP_EXECED;
	next_slice(8, 3)->process_start = 79;
	next_slice(0, 3)->process_start = 80;
	fake_next(&fake, 9)->process_start = 80;
	load(10);
	ck_assert_uint_eq(profile.threads, 18);
}
END_TEST

/* A number is used again for a thread of another name. */
START_TEST(threads_of_other_names_stay_apart)
{
	char *text;

	slice(1, 3);
	fake_next(&fake, 5);
	fake.store.header->number = 2;
	fake.store.header->pid = 4242;
	fake.store.header->process_start = 77;
	fake.store.header->start_mono++;
	fake_thread(&fake, "a");
	fake_thread(&fake, "c");
	load(1);
	ck_assert_uint_eq(profile.threads, 3);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, " 5000 a ");
	ASSERT_SAYS(text, " 5001 b ");
	ASSERT_SAYS(text, " 5001 c ");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slices");
	TCase *c = tcase_create("slices");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, slices_of_a_process_are_one_row_each);
	tcase_add_test(c, each_slice_keeps_its_mappings);
	tcase_add_test(c, other_processes_stay_apart);
	tcase_add_test(c, threads_of_other_names_stay_apart);
	suite_add_tcase(s, c);
	return run_suite(s);
}
