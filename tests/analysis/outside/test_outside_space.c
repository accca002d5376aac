/* SPDX-License-Identifier: MIT */
/*
 * test_outside_space - places that processes share have one key, others have
 * not
 */
#include <check.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "perf_words.h"
#include "analysis/outside/space.h"
#include "tests/run_suite.h"

enum {
	BYTES = 3 * 4096
};

static struct keys keys;
static struct space a, b; /* this process, as if it were two */
static const struct space_sink nowhere;

static void setup(void)
{
	memset(&keys, 0, sizeof(keys));
	space_init(&a, getpid(), 1, &keys);
	space_init(&b, getpid(), 2, &keys);
}

static void teardown(void)
{
	space_release(&a);
	space_release(&b);
	keys_release(&keys);
}

static void read_both(void)
{
	ck_assert_int_eq(space_read(&a, &nowhere), 0);
	ck_assert_int_eq(space_read(&b, &nowhere), 0);
}

static uint64_t key(const struct space *s, const void *at)
{
	uint64_t addr = (uint64_t)(uintptr_t)at;
	const struct space_range *r = space_at(s, addr);

	ck_assert_msg(r != NULL, "%p is not mapped", at);
	return space_key(s, r, addr);
}

START_TEST(memory_mapped_twice_has_one_key_at_both_addresses)
{
	int fd = memfd_create("twice", 0);
	char *x, *y;

	ck_assert_int_eq(ftruncate(fd, 2 * BYTES), 0);
	x = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	y = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(x != MAP_FAILED && y != MAP_FAILED);
	read_both();
	ck_assert_uint_eq(key(&a, x), key(&b, y + 4096));
	ck_assert_uint_eq(key(&a, x + 100), key(&a, x) + 100);
	ck_assert_uint_ne(key(&a, x), key(&a, y));
	/* And back: where the other has it. */
	ck_assert_uint_eq(space_address(&b, key(&a, x + 4096)),
			  (uint64_t)(uintptr_t)(x < y ? x + 4096 : y + 8192));
	munmap(x, BYTES);
	munmap(y, BYTES);
	close(fd);
}
END_TEST

START_TEST(private_memory_at_one_address_has_two_keys)
{
	static int variable;
	char *private = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	read_both();
	ck_assert_uint_ne(key(&a, &variable), key(&b, &variable));
	ck_assert_uint_ne(key(&a, private), key(&b, private));
	ck_assert_uint_eq(space_address(&a, key(&a, private)),
			  (uint64_t)(uintptr_t) private);
	ck_assert_uint_eq(space_address(&b, key(&a, private)), 0);
	munmap(private, BYTES);
}
END_TEST

START_TEST(anonymous_segments_are_told_apart)
{
	char *x = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *y = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	read_both();
	ck_assert_uint_eq(key(&a, x), key(&b, x));
	ck_assert_uint_ne(key(&a, x), key(&b, y));
	munmap(x, BYTES);
	munmap(y, BYTES);
}
END_TEST

START_TEST(a_system_v_segment_is_not_a_file_of_the_same_number)
{
	int id = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
	struct backing file = { .dev_minor = 1 }, segment;
	char *x = shmat(id, NULL, 0), *y = shmat(id, NULL, 0);

	ck_assert(x != (char *)-1 && y != (char *)-1);
	shmctl(id, IPC_RMID, NULL);
	read_both();
	ck_assert_uint_eq(key(&a, x), key(&b, y));
	ck_assert_uint_ne(a.ipc_namespace, 0);
	file.inode = (uint64_t)id;
	segment = file;
	segment.system_v = true;
	segment.ipc_namespace = a.ipc_namespace;
	ck_assert_uint_ne(keys_backing(&keys, &file),
			  keys_backing(&keys, &segment));
	segment.ipc_namespace++;
	ck_assert_uint_ne(keys_backing(&keys, &segment),
			  key_number(key(&a, x)));
	shmdt(x);
	shmdt(y);
}
END_TEST

START_TEST(only_the_names_of_segments_are_theirs)
{
	ck_assert(keys_path_is_system_v("/SYSV00000000 (deleted)"));
	ck_assert(keys_path_is_system_v("/SYSV0a1b2c3d"));
	ck_assert(!keys_path_is_system_v("/SYSV0a1b2c3"));
	ck_assert(!keys_path_is_system_v("/SYSV0a1b2c3d/file"));
	ck_assert(!keys_path_is_system_v("/home/SYSV00000000"));
	ck_assert(!keys_path_is_system_v(""));
}
END_TEST

static struct outside_record mapping(uint64_t start, uint64_t end,
				     uint64_t inode)
{
	struct outside_record r = { .type = PERF_RECORD_MMAP2 };

	r.map.start = start;
	r.map.end = end;
	r.map.inode = inode;
	r.map.shared = inode;
	r.map.prot = PROT_READ;
	return r;
}

/* What is mapped at @addr by an oracle: the last record that covers it. */
START_TEST(a_new_mapping_takes_the_place_of_what_was_there)
{
	static uint64_t oracle[64];
	struct rng {
		uint64_t x;
	} seed = { (uint64_t)_i * 2654435761u + 1 };

	memset(oracle, 0, sizeof(oracle));
	for (int i = 0; i < 60; i++) {
		uint64_t from, to;
		struct outside_record r;

		seed.x = seed.x * 6364136223846793005u + 1442695040888963407u;
		from = (seed.x >> 33) % 60;
		to = from + 1 + (seed.x >> 50) % 4;
		r = mapping(4096 * from, 4096 * to, (uint64_t)i + 1);
		space_map(&a, &r);
		for (uint64_t p = from; p < to; p++)
			oracle[p] = (uint64_t)i + 1;
		for (uint64_t p = 0; p < 64; p++) {
			const struct space_range *at =
				space_at(&a, 4096 * p + 8);

			ck_assert_int_eq(at != NULL, oracle[p] != 0);
			if (at)
				ck_assert_uint_eq(
					keys.backing[at->backing].inode,
					oracle[p]);
		}
		for (size_t k = 1; k < a.ranges; k++)
			ck_assert_uint_ge(a.range[k].start, a.range[k - 1].end);
	}
}
END_TEST

START_TEST(what_is_left_of_a_mapping_keeps_its_offsets)
{
	struct outside_record r = mapping(0x10000, 0x20000, 5);
	uint64_t before;

	space_map(&a, &r);
	before = space_key(&a, space_at(&a, 0x18000), 0x18000);
	r = mapping(0x14000, 0x16000, 0);
	space_map(&a, &r);
	ck_assert_uint_eq(space_key(&a, space_at(&a, 0x18000), 0x18000),
			  before);
	ck_assert_uint_eq(space_address(&a, before), 0x18000);
}
END_TEST

START_TEST(a_process_that_ended_keeps_its_list)
{
	size_t n;

	read_both();
	n = a.ranges;
	a.pid = 0x7ffffff0; /* there is none */
	ck_assert_int_lt(space_read(&a, &nowhere), 0);
	ck_assert_uint_eq(a.ranges, n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outside_space");
	TCase *c = tcase_create("space");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, memory_mapped_twice_has_one_key_at_both_addresses);
	tcase_add_test(c, private_memory_at_one_address_has_two_keys);
	tcase_add_test(c, anonymous_segments_are_told_apart);
	tcase_add_test(c, a_system_v_segment_is_not_a_file_of_the_same_number);
	tcase_add_test(c, only_the_names_of_segments_are_theirs);
	tcase_add_loop_test(c, a_new_mapping_takes_the_place_of_what_was_there,
			    0, 20);
	tcase_add_test(c, what_is_left_of_a_mapping_keeps_its_offsets);
	tcase_add_test(c, a_process_that_ended_keeps_its_list);
	suite_add_tcase(s, c);
	return run_suite(s);
}
