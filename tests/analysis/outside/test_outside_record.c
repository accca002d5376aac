/* SPDX-License-Identifier: MIT */
/*
 * test_outside_record - records of other tasks, right ones and damaged ones
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "perf_words.h"
#include "tests/run_suite.h"

static struct outside_record r;

START_TEST(a_sample_gives_the_registers_in_the_order_of_encoding)
{
	struct perf_words w = words_sample(9, 40, 41, 1000, 0x1234, true);

	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert_uint_eq(r.type, PERF_RECORD_SAMPLE);
	ck_assert_uint_eq(r.id, 9);
	ck_assert_uint_eq(r.pid, 40);
	ck_assert_uint_eq(r.tid, 41);
	ck_assert_uint_eq(r.time, 1000);
	ck_assert_uint_eq(r.addr, 0x1234);
	ck_assert_uint_eq(r.cpu, 3);
	ck_assert(r.has_regs);
	ck_assert_uint_eq(r.regs.gpr[GPR_RAX], 100);
	ck_assert_uint_eq(r.regs.gpr[GPR_RBX], 101);
	ck_assert_uint_eq(r.regs.gpr[GPR_RCX], 102);
	ck_assert_uint_eq(r.regs.gpr[GPR_RSP], 107);
	ck_assert_uint_eq(r.regs.rip, 108);
	ck_assert_uint_eq(r.regs.rflags, 109);
	ck_assert_uint_eq(r.regs.gpr[15], 117);
	/* What the kernel does not tell is not known. */
	ck_assert(!r.regs.fs_known && !r.regs.gs_known && !r.regs.fxsave);
}
END_TEST

/* The sample @w with @size bytes of stack, of which @copied are said to be. */
static void add_stack(struct perf_words *w, uint64_t size, uint64_t copied)
{
	words_add(w, size);
	for (uint64_t i = 0; i < size / 8 && i < 4; i++)
		words_add(w, 200 + i);
	words_add(w, copied);
	words_end(w, PERF_RECORD_SAMPLE, 0);
}

START_TEST(a_sample_may_have_the_stack)
{
	struct perf_words w = words_sample(9, 40, 41, 1000, 0, true);
	uint64_t top;

	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert_uint_eq(r.stack_bytes, 0);
	add_stack(&w, 32, 24);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert_uint_eq(r.stack_bytes, 24);
	memcpy(&top, r.stack, sizeof(top));
	ck_assert_uint_eq(top, 200);
}
END_TEST

START_TEST(a_stack_that_reaches_beyond_its_record_is_refused)
{
	static const uint64_t size[] = { 40, 1 << 16, UINT64_MAX - 7, 31 };
	struct perf_words w;

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		w = words_sample(9, 40, 41, 1000, 0, true);
		add_stack(&w, size[i], 8);
		ck_assert_int_eq(outside_record_decode((void *)w.word, &r),
				 -EMSGSIZE);
		ck_assert_uint_eq(r.stack_bytes, 0);
	}
	w = words_sample(9, 40, 41, 1000, 0, true);
	add_stack(&w, 32, 40);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), -EMSGSIZE);
}
END_TEST

START_TEST(a_thread_of_32_bit_code_has_no_registers)
{
	struct perf_words w = words_sample(9, 40, 41, 1000, 0, false);

	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert(!r.has_regs);
}
END_TEST

START_TEST(a_new_thread_is_told_from_its_maker)
{
	struct perf_words w = words_task(PERF_RECORD_FORK, 5, 4, 7, 6, 50);

	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert_uint_eq(r.pid, 5);
	ck_assert_uint_eq(r.tid, 7);
	ck_assert_uint_eq(r.parent_pid, 4);
	ck_assert_uint_eq(r.parent_tid, 6);
	ck_assert_uint_eq(r.time, 50);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_cut)
{
	struct perf_words w = words_begin();

	words_pair(&w, 5, 6);
	words_text(&w, "a name of more than fifteen bytes");
	words_trailer(&w, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 5, 6,
		      60);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert(r.exec);
	ck_assert_str_eq(r.name, "a name of more ");
	ck_assert_uint_eq(r.tid, 6);
}
END_TEST

static struct perf_words map_words(uint64_t start, uint64_t bytes,
				   uint32_t flags, uint16_t misc)
{
	struct perf_words w = words_begin();

	words_pair(&w, 5, 6);
	words_add(&w, start);
	words_add(&w, bytes);
	words_add(&w, 0x2000);
	words_pair(&w, 8, 1); /* device */
	words_add(&w, 4711);
	words_add(&w, 0);
	words_pair(&w, PROT_READ | PROT_WRITE, flags);
	words_text(&w, "/dev/shm/x");
	words_trailer(&w, PERF_RECORD_MMAP2, misc, 5, 6, 70);
	return w;
}

START_TEST(a_mapping_says_what_is_mapped_where)
{
	struct perf_words w = map_words(0x10000, 0x3000, MAP_SHARED, 0);

	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert_uint_eq(r.map.start, 0x10000);
	ck_assert_uint_eq(r.map.end, 0x13000);
	ck_assert_uint_eq(r.map.offset, 0x2000);
	ck_assert_uint_eq(r.map.dev_major, 8);
	ck_assert_uint_eq(r.map.dev_minor, 1);
	ck_assert_uint_eq(r.map.inode, 4711);
	ck_assert_uint_eq(r.map.prot, PROT_READ | PROT_WRITE);
	ck_assert(r.map.shared);
	ck_assert_str_eq(r.map.path, "/dev/shm/x");
	w = map_words(0x10000, 0x3000, MAP_PRIVATE, 0);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), 0);
	ck_assert(!r.map.shared);
	/* A build-id stands where device and inode would be. */
	w = map_words(0x10000, 0x3000, MAP_SHARED,
		      PERF_RECORD_MISC_MMAP_BUILD_ID);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), -ENOTSUP);
	/* A mapping beyond the end of all addresses. */
	w = map_words(UINT64_MAX - 8, 0x3000, MAP_SHARED, 0);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), -EMSGSIZE);
}
END_TEST

/* AddressSanitizer sees a read beyond the record. */
START_TEST(a_record_that_is_cut_anywhere_is_refused_or_taken_whole)
{
	struct perf_words all[] = {
		words_sample(9, 40, 41, 1000, 0, true),
		words_task(PERF_RECORD_EXIT, 5, 4, 7, 6, 50),
		map_words(0x10000, 0x3000, MAP_SHARED, 0),
	};
	struct perf_words *w = &all[_i];

	for (size_t words = 1; words < w->words; words++) {
		uint64_t *cut = malloc(8 * words);
		struct perf_event_header h;

		memcpy(cut, w->word, 8 * words);
		memcpy(&h, cut, sizeof(h));
		h.size = (uint16_t)(8 * words);
		memcpy(cut, &h, sizeof(h));
		outside_record_decode((void *)cut, &r);
		ck_assert(memchr(r.map.path, 0, sizeof(r.map.path)));
		free(cut);
	}
}
END_TEST

START_TEST(other_records_are_refused_with_their_time)
{
	struct perf_words w = words_begin();

	words_trailer(&w, PERF_RECORD_NAMESPACES, 0, 5, 6, 80);
	ck_assert_int_eq(outside_record_decode((void *)w.word, &r), -ENOTSUP);
	ck_assert_uint_eq(r.time, 80);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outside_record");
	TCase *c = tcase_create("records");

	tcase_add_test(c,
		       a_sample_gives_the_registers_in_the_order_of_encoding);
	tcase_add_test(c, a_sample_may_have_the_stack);
	tcase_add_test(c, a_stack_that_reaches_beyond_its_record_is_refused);
	tcase_add_test(c, a_thread_of_32_bit_code_has_no_registers);
	tcase_add_test(c, a_new_thread_is_told_from_its_maker);
	tcase_add_test(c, a_name_that_is_too_long_is_cut);
	tcase_add_test(c, a_mapping_says_what_is_mapped_where);
	tcase_add_loop_test(
		c, a_record_that_is_cut_anywhere_is_refused_or_taken_whole, 0,
		3);
	tcase_add_test(c, other_records_are_refused_with_their_time);
	suite_add_tcase(s, c);
	return run_suite(s);
}
