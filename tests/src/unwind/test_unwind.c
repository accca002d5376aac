/* SPDX-License-Identifier: MIT */
/*
 * test_unwind - paths of this process, against libgcc's unwinder
 *
 * Other programs, stopped anywhere, are compared with libunwind by
 * tests/e2e/check_unwind.sh.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "src/base/loaded.h"
#include "src/base/rawcall.h"
#include "src/base/rng.h"
#include "src/maps/map_lines.h"
#include "src/unwind/last_walk.h"
#include "src/unwind/module_table.h"
#include "src/unwind/row_cache.h"
#include "src/unwind/unwind.h"
#include "tests/run_suite.h"

enum {
	FRAMES_MAX = 64,
	ROWS = 256,
};

static unsigned damage_one_in; /* of the words read; 0: none */
static struct rng rng;
static struct loaded_ranges tables;
static unsigned table_reads; /* through the function */

/* Past libc, which sanitizers watch. */
static int read_own(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct iovec here = { buf, n }, there = { (void *)(uintptr_t)addr, n };
	uint64_t word;

	table_reads += loaded_range_of(&tables, addr).high > addr;
	if (rawcall6(SYS_process_vm_readv, getpid(), (long)&here, 1,
		     (long)&there, 1, 0) != (long)n)
		return -EFAULT;
	for (size_t i = 0; damage_one_in && i + 8 <= n; i += 8) {
		if (rng_below(&rng, damage_one_in))
			continue;
		memcpy(&word, (char *)buf + i, 8);
		word = rng_below(&rng, 2)
			       ? word ^ UINT64_C(8) << rng_below(&rng, 40)
			       : rng_below(&rng, UINT64_MAX);
		memcpy((char *)buf + i, &word, 8);
	}
	return 0;
}

static struct module_table modules;
static struct unwind_space space = { .memory = { read_own, NULL },
				     .find = module_table_find,
				     .find_ctx = &modules };

static void set_up(void)
{
	static char buffer[4096];
	struct map_lines lines;
	struct cdp_map m;
	int fd = open("/proc/self/maps", O_RDONLY);

	ck_assert_int_ge(fd, 0);
	module_table_begin(&modules);
	map_lines_begin(&lines, fd, buffer, sizeof(buffer));
	while (map_lines_next(&lines, &m))
		if (!m.file_offset && m.path[0])
			module_table_take(&modules, &space.memory, m.start);
	module_table_end(&modules);
	close(fd);
	space.rows = NULL;
	space.lasting = NULL;
	space.last = NULL;
	damage_one_in = 0;
	rng_seed(&rng, 1, 0);
}

static void remember_rows(void)
{
	size_t bytes = (row_cache_size(ROWS) + 63) / 64 * 64;
	void *mem = aligned_alloc(64, bytes);

	memset(mem, 0, bytes);
	space.rows = row_cache_init(mem, ROWS);
}

static struct unwind_registers registers_of(const ucontext_t *u)
{
	static const uint8_t number[UNWIND_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
		REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP
	};
	struct unwind_registers r = { .known = 0 };

	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		register_set(&r, i, (uint64_t)u->uc_mcontext.gregs[number[i]]);
	return r;
}

static struct unwind_frame frame[FRAMES_MAX];
static unsigned frames;
static enum unwind_end end;
static void *expected[FRAMES_MAX];
static int expected_frames;

static _Unwind_Reason_Code take(struct _Unwind_Context *c, void *ctx)
{
	if (expected_frames < FRAMES_MAX && _Unwind_GetIP(c))
		expected[expected_frames++] = (void *)_Unwind_GetIP(c);
	return _URC_NO_REASON;
}

/* Both unwinders, from here; ours begins with the same function's frame. */
__attribute__((noinline)) static void take_both(void)
{
	struct unwind_registers r;
	ucontext_t u;

	getcontext(&u);
	r = registers_of(&u);
	frames = unwind_frames(&space, &r, frame, FRAMES_MAX, &end);
	expected_frames = 0;
	_Unwind_Backtrace(take, NULL);
}

/* The first frame is this function, at two places of it. */
static void both_agree(void)
{
	ck_assert_int_ge(expected_frames, 5);
	ck_assert_uint_eq(end, UNWIND_START);
	ck_assert_int_eq((int)frames, expected_frames);
	for (unsigned i = 1; i < frames; i++) {
		uint64_t want = (uint64_t)(uintptr_t)expected[i];

		ck_assert(frame[i].ip == want - 1 || frame[i].ip == want);
		ck_assert_uint_gt(frame[i].sp, frame[i - 1].sp);
	}
}

__attribute__((noinline)) static int deep(int n)
{
	volatile char room[100];

	room[n] = 1;
	if (n)
		return deep(n - 1) + room[n];
	take_both();
	return room[n];
}

__attribute__((noinline)) static int aligned(int n)
{
	_Alignas(256) volatile char room[300];

	room[n] = 1;
	return deep(n) + room[n];
}

__attribute__((noinline)) static int variable(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 1000 + 1);

	room[0] = 1;
	return aligned(n) + room[0];
}

START_TEST(frames_of_all_shapes_are_those_of_libgcc)
{
	variable(9);
	both_agree();
	remember_rows();
	variable(9);
	both_agree();
	variable(9);
	both_agree();
}
END_TEST

START_TEST(tables_that_stay_are_read_without_the_function)
{
	loaded_tables(&tables);
	ck_assert_uint_ge(tables.count, 3); /* we, libcheck, libc */
	table_reads = 0;
	variable(9);
	both_agree();
	ck_assert_uint_gt(table_reads, frames);
	space.lasting = &tables;
	table_reads = 0;
	variable(9);
	both_agree();
	ck_assert_uint_eq(table_reads, 0);
}
END_TEST

__attribute__((noinline)) static int from_two_places(int n)
{
	if (n & 1)
		return deep(3) + 1;
	return deep(3) + 2;
}

START_TEST(a_path_that_is_met_again_is_that_of_libgcc)
{
	static struct last_walk last;

	space.last = &last;
	for (int i = 0; i < 4; i++) {
		variable(9);
		both_agree();
		variable(8 + i);
		both_agree();
		from_two_places(i);
		both_agree();
		aligned(i);
		both_agree();
	}
}
END_TEST

START_TEST(a_path_that_is_met_again_needs_no_tables)
{
	static struct last_walk last;
	unsigned reads[2];

	loaded_tables(&tables);
	space.last = &last;
	/* volatile: the call is at one place */
	for (volatile int i = 0; i < 2; i++) {
		table_reads = 0;
		deep(20);
		both_agree();
		reads[i] = table_reads;
	}
	/* Those of the first two frames are left. */
	ck_assert_uint_gt(frames, 20);
	ck_assert_uint_lt(reads[1], reads[0] / 4);
}
END_TEST

static void on_signal(int sig)
{
	deep(3);
}

START_TEST(a_signal_handler_leads_to_what_it_interrupted)
{
	struct sigaction act = { .sa_handler = on_signal,
				 .sa_flags = SA_ONSTACK };
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	both_agree();
	sigaltstack(&alternate, NULL);
	raise(SIGUSR1);
	ck_assert_uint_eq(end, UNWIND_START);
	ck_assert_int_eq((int)frames, expected_frames);
}
END_TEST

static int compare(const void *a, const void *b)
{
	if (!expected_frames)
		deep(2);
	return *(const char *)a - *(const char *)b;
}

START_TEST(a_call_from_libc_is_followed_through_it)
{
	char letters[] = "unwind";

	expected_frames = 0;
	qsort(letters, 6, 1, compare);
	both_agree();
}
END_TEST

static void *thread(void *arg)
{
	deep(1);
	return NULL;
}

START_TEST(a_threads_path_ends_where_it_began)
{
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, thread, NULL), 0);
	pthread_join(t, NULL);
	ck_assert_uint_eq(end, UNWIND_START);
	ck_assert_int_eq((int)frames, expected_frames);
}
END_TEST

/* Code that no object has: push %rbp; mov %rsp, %rbp; call *%rdi; pop; ret */
START_TEST(a_frame_pointer_leads_through_made_code)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5,
					0xff, 0xd7, 0x5d, 0xc3 };
	void (*made)(void (*)(void)) = (void (*)(void (*)(void)))(
		uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)made;

	memcpy((void *)(uintptr_t)at, code, sizeof(code));
	mprotect((void *)(uintptr_t)at, 4096, PROT_READ | PROT_EXEC);
	made(take_both);
	ck_assert_uint_eq(frame[1].ip, at + 5);
	ck_assert(!frame[1].guessed);
	ck_assert(frame[2].guessed);
	ck_assert_uint_ge(frames, 4);
	ck_assert_uint_eq(end, UNWIND_START);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_cut)
{
	struct unwind_registers r;
	ucontext_t u;

	getcontext(&u);
	r = registers_of(&u);
	ck_assert_uint_eq(unwind_frames(&space, &r, frame, 3, &end), 3);
	ck_assert_uint_eq(end, UNWIND_FULL);
}
END_TEST

START_TEST(registers_that_lead_nowhere_end_the_path)
{
	struct unwind_registers r = { .known = 0 };

	register_set(&r, FRAME_PC, 16);
	register_set(&r, FRAME_RSP, 8);
	ck_assert_uint_eq(unwind_frames(&space, &r, frame, 9, &end), 1);
	ck_assert_uint_eq(end, UNWIND_NO_CODE);
	r.known = 0;
	register_set(&r, FRAME_PC, (uint64_t)(uintptr_t)&write);
	register_set(&r, FRAME_RSP, 8); /* not mapped */
	ck_assert_uint_eq(unwind_frames(&space, &r, frame, 9, &end), 1);
	ck_assert_uint_eq(end, UNWIND_UNREADABLE);
}
END_TEST

static bool find_undescribed(void *ctx, uint64_t pc, struct unwind_module *out)
{
	*out = (struct unwind_module){ .low = 0, .high = UINT64_MAX };
	return true;
}

/* A static program may have no index; there %rbp may hold anything. */
START_TEST(code_that_nothing_describes_is_no_start)
{
	const struct unwind_space bare = { .memory = { read_own, NULL },
					   .find = find_undescribed };
	struct unwind_registers r = { .known = 0 };

	register_set(&r, FRAME_PC, (uint64_t)(uintptr_t)&write);
	register_set(&r, FRAME_RSP, (uint64_t)(uintptr_t)&r);
	register_set(&r, FRAME_RBP, 0);
	ck_assert_uint_eq(unwind_frames(&bare, &r, frame, 9, &end), 1);
	ck_assert_uint_eq(end, UNWIND_NO_RULE);
}
END_TEST

/* Walk from write, which has no table, with @stack, where %rbp points to [2].
 */
static unsigned walk_by_pointer(const uint64_t stack[4])
{
	const struct unwind_space bare = { .memory = { read_own, NULL },
					   .find = find_undescribed };
	struct unwind_registers r = { .known = 0 };

	register_set(&r, FRAME_PC, (uint64_t)(uintptr_t)&write);
	register_set(&r, FRAME_RSP, (uint64_t)(uintptr_t)&stack[0]);
	register_set(&r, FRAME_RBP, (uint64_t)(uintptr_t)&stack[2]);
	return unwind_frames(&bare, &r, frame, 9, &end);
}

/* %rbp points to data of the caller's, whose second word is zero. */
START_TEST(a_word_that_is_zero_is_no_start)
{
	const uint64_t stack[4] = { 0, 0, 1, 0 };

	ck_assert_uint_eq(walk_by_pointer(stack), 1);
	ck_assert_uint_eq(end, UNWIND_NO_RULE);
}
END_TEST

/* But a frame pointer that leads to a frame without one leads to the start. */
START_TEST(a_chain_of_frame_pointers_ends_at_the_start)
{
	const uint64_t stack[4] = { 0, 0, 0, (uint64_t)(uintptr_t)&write + 1 };

	ck_assert_uint_eq(walk_by_pointer(stack), 2);
	ck_assert_uint_eq(end, UNWIND_START);
}
END_TEST

static void take_damaged(unsigned one_in)
{
	struct unwind_registers r;
	ucontext_t u;

	getcontext(&u);
	r = registers_of(&u);
	damage_one_in = one_in;
	frames = unwind_frames(&space, &r, frame, FRAMES_MAX, &end);
	damage_one_in = 0;
}

START_TEST(damaged_stacks_and_rules_end_soon_and_harm_nothing)
{
	unsigned ends[UNWIND_ENDS] = { 0 };

	for (unsigned i = 0; i < 20000; i++) {
		take_damaged(8u << i % 6);
		ck_assert_uint_le(frames, FRAMES_MAX);
		ck_assert_uint_lt(end, UNWIND_ENDS);
		ends[end]++;
	}
	ck_assert_uint_gt(ends[UNWIND_START], 100);
	ck_assert_uint_gt(ends[UNWIND_NO_CODE], 100);
}
END_TEST

START_TEST(headers_of_no_object_are_ignored)
{
	static struct module_table t;
	static char page[4096] = "\177ELF\2";
	struct unwind_module m;

	module_table_begin(&t);
	module_table_take(&t, &space.memory, (uint64_t)(uintptr_t)page);
	module_table_take(&t, &space.memory, 8);
	page[54] = 56;   /* e_phentsize */
	page[56] = 60;   /* e_phnum */
	page[39] = 0x7f; /* e_phoff: far away */
	module_table_take(&t, &space.memory, (uint64_t)(uintptr_t)page);
	module_table_end(&t);
	ck_assert(!module_table_find(&t, (uint64_t)(uintptr_t)page, &m));
	ck_assert(
		module_table_find(&modules, (uint64_t)(uintptr_t)&set_up, &m));
	ck_assert_uint_le(m.low, (uint64_t)(uintptr_t)&set_up);
	ck_assert(m.index >= m.low && m.index < m.high);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unwind");
	TCase *c = tcase_create("unwind");

	tcase_set_timeout(c, 300);
	tcase_add_checked_fixture(c, set_up, NULL);
	tcase_add_test(c, frames_of_all_shapes_are_those_of_libgcc);
	tcase_add_test(c, tables_that_stay_are_read_without_the_function);
	tcase_add_test(c, a_path_that_is_met_again_is_that_of_libgcc);
	tcase_add_test(c, a_path_that_is_met_again_needs_no_tables);
	tcase_add_test(c, a_signal_handler_leads_to_what_it_interrupted);
	tcase_add_test(c, a_call_from_libc_is_followed_through_it);
	tcase_add_test(c, a_threads_path_ends_where_it_began);
	tcase_add_test(c, a_frame_pointer_leads_through_made_code);
	tcase_add_test(c, a_path_that_is_too_long_is_cut);
	tcase_add_test(c, registers_that_lead_nowhere_end_the_path);
	tcase_add_test(c, code_that_nothing_describes_is_no_start);
	tcase_add_test(c, a_word_that_is_zero_is_no_start);
	tcase_add_test(c, a_chain_of_frame_pointers_ends_at_the_start);
	tcase_add_test(c, damaged_stacks_and_rules_end_soon_and_harm_nothing);
	tcase_add_test(c, headers_of_no_object_are_ignored);
	suite_add_tcase(s, c);
	return run_suite(s);
}
