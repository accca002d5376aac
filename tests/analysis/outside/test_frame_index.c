/* SPDX-License-Identifier: MIT */
/*
 * test_frame_index - an index made of .eh_frame serves as the linker's does
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "analysis/outside/frame_index.h"
#include "src/base/rng.h"
#include "src/unwind/cfi.h"
#include "src/unwind/module_table.h"
#include "tests/run_suite.h"

enum {
	PLACES = 20000,
	FILE_MAX = 64 << 20,
};

static struct frame_index made;
static struct rng rng;

/* Our own memory, and the index where it is to appear. */
static int read_own(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct iovec here = { buf, n }, there = { (void *)(uintptr_t)addr, n };

	if (made.bytes && addr >= made.at && addr - made.at < made.n &&
	    n <= made.n - (addr - made.at)) {
		memcpy(buf, made.bytes + (addr - made.at), n);
		return 0;
	}
	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)n)
		return -EFAULT;
	return 0;
}

static const struct unwind_memory memory = { read_own, NULL };
static struct module_table modules;
static struct unwind_module own;

static void set_up(void)
{
	uint64_t low = getauxval(AT_PHDR) & -(uint64_t)4096;

	module_table_begin(&modules);
	module_table_take(&modules, &memory, low);
	module_table_end(&modules);
	ck_assert(module_table_find(&modules, low, &own));
	ck_assert_uint_ne(own.index, 0);
	rng_seed(&rng, 1, 0);
}

START_TEST(each_place_has_the_row_of_the_linkers_index)
{
	struct unwind_module by_made = own;
	int fd = open("/proc/self/exe", O_RDONLY);
	unsigned found = 0;

	ck_assert(frame_index_make(&made, fd, own.low, &memory));
	ck_assert_uint_eq(made.at % 4096, 0);
	ck_assert_uint_le(made.at + made.n, own.low);
	by_made.index = made.at;
	for (unsigned i = 0; i < PLACES; i++) {
		uint64_t pc = own.low + rng_below(&rng, own.high - own.low);
		struct cfi_row a, b;
		struct reader reader;
		int x, y;

		reader_begin(&reader, &memory, 64);
		x = cfi_find(&reader, &own, pc, &a);
		y = cfi_find(&reader, &by_made, pc, &b);
		ck_assert_msg(x == y, "%d and %d at %lx (+%lx), of %lx", x, y,
			      (unsigned long)pc, (unsigned long)(pc - own.low),
			      (unsigned long)a.start);
		if (x)
			continue;
		ck_assert_uint_eq(a.fde, b.fde);
		ck_assert_uint_eq(a.start, b.start);
		ck_assert_mem_eq(a.reg, b.reg, sizeof(a.reg));
		found++;
	}
	ck_assert_uint_gt(found, 100);
	frame_index_release(&made);
	close(fd);
}
END_TEST

START_TEST(damaged_files_harm_nothing)
{
	uint8_t *bytes = malloc(FILE_MAX);
	int fd = open("/proc/self/exe", O_RDONLY);
	ssize_t n = read(fd, bytes, FILE_MAX);
	uint64_t sections;

	close(fd);
	ck_assert_int_gt(n, 4096);
	memcpy(&sections, bytes + 40, sizeof(sections)); /* e_shoff */
	for (int i = 0; i < 80; i++) {
		struct frame_index x = { 0 };
		uint8_t damage[8];
		uint64_t at =
			i % 2 ? sections + rng_below(&rng,
						     (uint64_t)n - sections - 8)
			      : 64 + rng_below(&rng, 512);

		fd = memfd_create("damaged", 0);
		ck_assert_int_eq(write(fd, bytes, (size_t)n), n);
		for (size_t k = 0; k < sizeof(damage); k++)
			damage[k] = (uint8_t)rng_below(&rng, 256);
		ck_assert_int_eq(pwrite(fd, damage, 8, (off_t)at), 8);
		if (i % 8 == 7)
			ck_assert_int_eq(
				ftruncate(fd,
					  (off_t)rng_below(&rng, (uint64_t)n)),
				0);
		frame_index_make(&x, fd, own.low, &memory);
		frame_index_release(&x);
		close(fd);
	}
	free(bytes);
}
END_TEST

START_TEST(another_programs_file_is_refused)
{
	int fd = open("/bin/sh", O_RDONLY);

	ck_assert(!frame_index_make(&made, fd, own.low, &memory));
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("frame_index");
	TCase *c = tcase_create("frame_index");

	tcase_add_checked_fixture(c, set_up, NULL);
	tcase_add_test(c, each_place_has_the_row_of_the_linkers_index);
	tcase_add_test(c, damaged_files_harm_nothing);
	tcase_add_test(c, another_programs_file_is_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
