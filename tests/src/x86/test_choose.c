/* SPDX-License-Identifier: MIT */
/*
 * test_choose - accesses chosen from loops that the test writes itself
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "src/x86/choose.h"
#include "tests/src/x86/decode/code_buffer.h"
#include "tests/run_suite.h"

enum {
	SAMPLES = 20000,
	OUTSIDE = 512, /* of the array of words, in data */
	WORDS = OUTSIDE / 8,
};

static struct rng rng;
static struct choose choose;

static struct interp *new_interp(void)
{
	struct interp *in = aligned_alloc(64, (interp_bytes + 63) & ~63u);

	ck_assert_ptr_nonnull(in);
	memset(in, 0, interp_bytes);
	return in;
}

/*
 * Lengths are cached by address for the whole process, so every test has its
 * code at its own offset, which set_up returns.
 */
static uint64_t begin(const void *bytes, size_t n)
{
	static uint32_t offset = 64;

	set_up();
	offset += 256;
	ck_assert_uint_lt(offset + n, CODE_BYTES);
	memcpy(code + offset, bytes, n);
	rng_seed(&rng, 42, 0);
	free(choose.interp);
	choose = (struct choose){ .rng = &rng, .interp = new_interp() };
	cpu.gpr[GPR_RBX] = (uint64_t)data + OUTSIDE;
	cpu.gpr[GPR_RDI] = (uint64_t)data;
	cpu.gpr[GPR_RCX] = cpu.gpr[GPR_RDX] = 0;
	cpu.rip = address_of(offset);
	return cpu.rip;
}

/* Pearson's statistic of @n counts against shares. */
static double chi_square(const unsigned *count, const double *share, int n)
{
	double sum = 0, total = 0;

	for (int i = 0; i < n; i++)
		total += count[i];
	for (int i = 0; i < n; i++) {
		double e = total * share[i];

		sum += (count[i] - e) * (count[i] - e) / e;
	}
	return sum;
}

static double distance(const unsigned *count, const double *share, int n)
{
	double sum = 0, total = 0;

	for (int i = 0; i < n; i++)
		total += count[i];
	for (int i = 0; i < n; i++)
		sum += fabs(count[i] / total - share[i]);
	return sum / 2;
}

/* Four loads and a store, at 0, 8, 16, 24, 32 from rbx. */
static const uint8_t five[] = {
	0x48, 0x8b, 0x03,       /* mov rax, [rbx] */
	0x48, 0x8b, 0x43, 0x08, /* mov rax, [rbx+8] */
	0x48, 0x8b, 0x43, 0x10, /* mov rax, [rbx+16] */
	0x48, 0x8b, 0x43, 0x18, /* mov rax, [rbx+24] */
	0x48, 0x89, 0x43, 0x20, /* mov [rbx+32], rax */
	0xeb, 0xeb,             /* jmp to the first */
};
static const uint32_t five_starts[] = { 0, 3, 7, 11, 15, 19 };
static const double fifths[] = { .2, .2, .2, .2, .2 };

START_TEST(every_access_of_a_loop_is_equally_likely)
{
	unsigned count[5] = { 0 };
	struct choice out;

	cpu.rip = begin(five, sizeof(five)) + five_starts[_i];
	for (int i = 0; i < SAMPLES; i++) {
		choose_start(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN);
		ck_assert_int_eq(out.kind, SAMPLE_UNIFORM);
		ck_assert(!out.stalled_unknown);
		count[(out.access.addr - cpu.gpr[GPR_RBX]) / 8]++;
	}
	/* the 99.9th percentile with 4 degrees of freedom */
	ck_assert_double_lt(chi_square(count, fifths, 5), 18.47);
}
END_TEST

START_TEST(chosen_access_is_told_whole)
{
	uint64_t ip = begin(five, sizeof(five)), which;
	struct choice out;

	for (int i = 0; i < 200; i++) {
		choose_start(&choose, &cpu, &mem, &out);
		which = (out.access.addr - cpu.gpr[GPR_RBX]) / 8;
		ck_assert_uint_lt(which, 5);
		ck_assert_uint_eq(out.access.ip, ip + five_starts[which]);
		ck_assert_uint_eq(out.access.len, 8);
		ck_assert_uint_eq(out.access.flags,
				  which == 4 ? ACCESS_STORE : ACCESS_LOAD);
	}
}
END_TEST

START_TEST(known_length_spares_interpretation)
{
	unsigned whole = 0, part = 0;
	struct choice out;

	begin(five, sizeof(five));
	for (int i = 0; i < 1000; i++) {
		choose_start(&choose, &cpu, &mem, &out);
		/* a complete window of this loop has 25 accesses */
		if (interp_count(choose.interp) == 25)
			whole++;
		else
			part++;
		if (i < 4)
			ck_assert_uint_eq(part, 0);
	}
	/* 1 in 8 is measured again, 1 in 25 of the others is the last */
	ck_assert_uint_gt(whole, 100);
	ck_assert_uint_lt(whole, 230);
}
END_TEST

/*
 * A word of the array at rdi decides whether C is stored, or D is stored and E
 * loaded. The interrupt always comes on the second path.
 */
static const uint8_t branchy[] = {
	0x48, 0x8b, 0x04, 0xcf, /* mov rax, [rdi+rcx*8] */
	0x48, 0xff, 0xc1,       /* inc rcx */
	0x83, 0xe1, 0x3f,       /* and ecx, 63 */
	0x48, 0x85, 0xc0,       /* test rax, rax */
	0x74, 0x05,             /* jz over two */
	0x48, 0x89, 0x03,       /* mov [rbx], rax */
	0xeb, 0xec,             /* jmp to the first */
	0x48, 0x89, 0x43, 0x08, /* mov [rbx+8], rax */
	0x48, 0x8b, 0x43, 0x10, /* mov rax, [rbx+16] */
	0xeb, 0xe2,             /* jmp to the first */
};
enum {
	BRANCHY_SLOW = 20
};

START_TEST(data_dependent_path_is_sampled_without_bias)
{
	static const double share[] = { .4, .2, .2, .2 };
	unsigned count[4] = { 0 };
	struct choice out;

	cpu.rip = begin(branchy, sizeof(branchy)) + BRANCHY_SLOW;
	for (int i = 0; i < SAMPLES; i++) {
		for (int j = 0; j < WORDS; j++)
			data[8 * j] = (uint8_t)rng_below(&rng, 2);
		cpu.gpr[GPR_RCX] = rng_below(&rng, WORDS);
		choose_start(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN);
		if (out.access.addr < cpu.gpr[GPR_RBX])
			count[0]++;
		else
			count[1 + (out.access.addr - cpu.gpr[GPR_RBX]) / 8]++;
	}
	ck_assert_double_lt(distance(count, share, 4), 0.03);
}
END_TEST

/* Each round makes as many loads as its word says, one of them of the word. */
static const uint8_t counted[] = {
	0x48, 0x8b, 0x0c, 0xd7, 0x48, 0xff, 0xc2, /* rcx = [rdi+rdx++*8] */
	0x48, 0x8b, 0x03, 0x48, 0xff, 0xc9,       /* load [rbx], dec rcx */
	0x75, 0xf8, 0xeb, 0xef,                   /* jnz load, jmp first */
};
static const uint8_t rounds[][3] = { { 4, 100 }, { 13, 23 }, { 4, 23, 200 } };

/*
 * The index is drawn before the length is known. Short rounds are repeated; if
 * the later ones (third figure) are too long, the window is cut to the first.
 */
START_TEST(index_drawn_beforehand_is_as_fair)
{
	const uint8_t *r = rounds[_i];
	unsigned count[5] = { 0 }, first, n;
	double all = 0, done = 0, place;
	struct choice out;

	begin(counted, sizeof(counted));
	for (int i = 0; i < 2 * SAMPLES; i++) {
		n = first = r[0] + rng_below(&rng, r[1] - r[0] + 1);
		while (n < WINDOW_ACCESSES_MIN && !r[2])
			n += first;
		for (int j = 0; j < WORDS; j++)
			data[8 * j] = (j && r[2] ? r[2] : first) - 1;
		choose_start(&choose, &cpu, &mem, &out);
		if (choose.stop_at)
			continue; /* by chance, lengths were equal in a row */
		ck_assert_uint_le(out.number, n);
		/* anywhere in its n-th part, so that the parts are equal */
		place = (out.number - 1 + rng_below(&rng, 1000) / 1000.) / n;
		count[(unsigned)(place * 5)]++;
		all += n;
		done += interp_count(choose.interp);
	}
	ck_assert_double_lt(chi_square(count, fifths, 5), 18.47);
	ck_assert(_i || done < .85 * all);
}
END_TEST

/* The time stamp cannot be computed beforehand. */
static const uint8_t blocking[] = {
	0x48, 0x8b, 0x03,       /* mov rax, [rbx] */
	0x0f, 0x31,             /* rdtsc */
	0x83, 0xe0, 0x38,       /* and eax, 56 */
	0x48, 0x8b, 0x14, 0x07, /* mov rdx, [rdi+rax] */
	0x48, 0x89, 0x53, 0x08, /* mov [rbx+8], rdx */
	0xeb, 0xee,             /* jmp to the first */
};
enum {
	BLOCKING_RDTSC = 3,
	BLOCKING_LOAD = 8
};

START_TEST(blocked_loop_is_seen_whole_through_a_breakpoint)
{
	static const double thirds[] = { 1 / 3., 1 / 3., 1 / 3. };
	uint64_t ip = begin(blocking, sizeof(blocking));
	unsigned count[3] = { 0 }, traps = 0;
	struct choice out;

	choose.breakpoints = true;
	for (int i = 0; i < SAMPLES; i++) {
		cpu.rip = ip;
		choose_start(&choose, &cpu, &mem, &out);
		if (out.what == CHOSEN) {
			/* the accesses before it are exact */
			ck_assert_uint_eq(out.access.ip, ip);
			continue;
		}
		ck_assert_int_eq(out.what, CHOSEN_BREAKPOINT);
		ck_assert_uint_eq(out.breakpoint_ip, ip + BLOCKING_LOAD);
		traps++;
		cpu.rip = out.breakpoint_ip;
		cpu.gpr[GPR_RAX] = 8 * rng_below(&rng, 8);
		choose_resume(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN);
		if (out.access.ip == cpu.rip) {
			ck_assert_uint_eq(out.access.addr,
					  cpu.gpr[GPR_RDI] + cpu.gpr[GPR_RAX]);
			count[0]++;
		} else {
			count[1 + (out.access.ip == ip)]++;
		}
	}
	/* the 99.9th percentile with 2 degrees of freedom */
	ck_assert_double_lt(chi_square(count, thirds, 3), 13.82);
	ck_assert_uint_gt(traps, SAMPLES / 8);
	ck_assert_uint_le(traps, SAMPLES / 2 + 8);
}
END_TEST

START_TEST(blocked_before_any_access_asks_for_a_breakpoint_without_credit)
{
	uint64_t ip = begin(blocking, sizeof(blocking)) + BLOCKING_RDTSC;
	struct choice out;

	choose.breakpoints = true;
	for (int i = 0; i < 100; i++) {
		cpu.rip = ip;
		choose_start(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN_BREAKPOINT);
	}
	choose.breakpoints = false;
	choose_start(&choose, &cpu, &mem, &out);
	ck_assert_int_eq(out.what, CHOSEN_NOTHING);
	ck_assert_int_eq(out.cause, LOSS_UNKNOWN_ADDRESS);
}
END_TEST

START_TEST(path_closed_at_the_blocking_instruction_needs_no_breakpoint)
{
	static const double thirds[] = { 1 / 3., 1 / 3., 1 / 3. };
	uint64_t ip = begin(blocking, sizeof(blocking));
	unsigned count[3] = { 0 };
	struct choice out;

	choose.breakpoints = true;
	/* behind rdtsc: the first visit is known, the second is not */
	cpu.rip = ip + BLOCKING_LOAD - 3;
	cpu.gpr[GPR_RAX] = 16;
	for (int i = 0; i < SAMPLES; i++) {
		choose_start(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN);
		if (out.access.ip == ip)
			count[0]++;
		else
			count[1 + (out.access.ip == ip + BLOCKING_LOAD)]++;
	}
	ck_assert_double_lt(chi_square(count, thirds, 3), 13.82);
}
END_TEST

START_TEST(abandoned_breakpoint_leaves_what_was_exact)
{
	uint64_t ip = begin(blocking, sizeof(blocking));
	struct choice out;

	choose.breakpoints = true;
	do {
		choose_start(&choose, &cpu, &mem, &out);
	} while (out.what != CHOSEN_BREAKPOINT);
	choose_abandon(&choose, &out);
	ck_assert_int_eq(out.what, CHOSEN);
	ck_assert_uint_eq(out.access.ip, ip);
	ck_assert_uint_eq(out.access.addr, cpu.gpr[GPR_RBX]);
	cpu.rip = ip + BLOCKING_RDTSC;
	choose_start(&choose, &cpu, &mem, &out);
	ck_assert_int_eq(out.what, CHOSEN_BREAKPOINT);
	choose_abandon(&choose, &out);
	ck_assert_int_eq(out.what, CHOSEN_NOTHING);
	ck_assert_int_eq(out.cause, LOSS_BREAKPOINT_MISSED);
}
END_TEST

/* Code without an access to choose, and the cause that is reported. */
static const struct {
	uint8_t bytes[8];
	uint8_t len;
	enum loss_cause cause;
} nothing[] = {
	{ { 0xeb, 0xfe }, 2, LOSS_NO_ACCESS }, /* jmp to itself */
	{ { 0x0f, 0x05 }, 2, LOSS_NO_ACCESS }, /* syscall */
	{ { 0x06 }, 1, LOSS_UNDECODED },       /* no instruction */
	{ { 0xe9, 0, 0, 0, 0x40 }, 5, LOSS_UNREADABLE },
};

START_TEST(sample_without_an_access_says_why)
{
	struct choice out;

	begin(nothing[_i].bytes, nothing[_i].len);
	choose.breakpoints = true;
	choose_start(&choose, &cpu, &mem, &out);
	ck_assert_int_eq(out.what, CHOSEN_NOTHING);
	ck_assert_int_eq(out.cause, nothing[_i].cause);
}
END_TEST

START_TEST(stalled_samples_take_the_access_before)
{
	uint64_t ip = begin(five, sizeof(five));
	unsigned stalled = 0;
	struct choice out;

	choose.stalled_percent = 50;
	cpu.rip = ip + 7;
	for (int i = 0; i < SAMPLES; i++) {
		choose_start(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN);
		if (out.kind != SAMPLE_STALLED)
			continue;
		stalled++;
		ck_assert(!out.stalled_unknown);
		ck_assert_uint_eq(out.access.ip, ip + 3);
		ck_assert_uint_eq(out.access.addr, cpu.gpr[GPR_RBX] + 8);
	}
	/* five standard deviations */
	ck_assert_double_lt(fabs(stalled - SAMPLES / 2.), 354);
}
END_TEST

/* A chain of loads: each overwrites its own address. */
static const uint8_t chain[] = {
	0x48, 0x89, 0x43, 0x08, /* mov [rbx+8], rax */
	0x48, 0x8b, 0x00,       /* mov rax, [rax] */
	0x90,                   /* nop */
	0xeb, 0xf6,             /* jmp to the first */
};

START_TEST(unknown_stalled_access_is_replaced_by_the_next_of_its_kind)
{
	uint64_t ip = begin(chain, sizeof(chain));
	uint64_t next = (uint64_t)data + 64;
	struct choice out;

	memcpy(data, &next, 8);
	memcpy(data + 64, &cpu.gpr[GPR_RDI], 8);
	cpu.gpr[GPR_RAX] = (uint64_t)data;
	cpu.rip = ip + 7;
	choose.stalled_percent = 100;
	for (int i = 0; i < 100; i++) {
		choose_start(&choose, &cpu, &mem, &out);
		ck_assert_int_eq(out.what, CHOSEN);
		/* not counted as uniform, as it would bias these */
		ck_assert_int_eq(out.kind, SAMPLE_STALLED);
		ck_assert(out.stalled_unknown);
		ck_assert_uint_eq(out.access.ip, ip + 4);
		ck_assert_uint_eq(out.number, 2); /* in the first round */
	}
}
END_TEST

/* Threads with code of their own share the table of lengths. */
static void *choose_in_thread(void *arg)
{
	uint64_t start = *(const uint64_t *)arg;
	struct cpu_state mine = cpu;
	struct rng r;
	struct choose c = { .rng = &r, .interp = new_interp() };
	uintptr_t wrong = 0;
	struct choice out;

	rng_seed(&r, 7, start);
	for (int i = 0; i < 5000; i++) {
		mine.rip = start + five_starts[i % 6];
		choose_start(&c, &mine, &mem, &out);
		wrong += out.what != CHOSEN || out.access.ip < start ||
			 out.access.ip >= start + sizeof(five);
	}
	free(c.interp);
	return (void *)wrong;
}

START_TEST(threads_share_the_lengths)
{
	pthread_t thread[4];
	uint64_t start[2];
	void *wrong;

	start[0] = begin(five, sizeof(five));
	start[1] = start[0] + 4096;
	memcpy((void *)start[1], five, sizeof(five));
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, choose_in_thread,
			       &start[i & 1]);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("choose");
	TCase *t = tcase_create("uniform");

	tcase_add_loop_test(t, every_access_of_a_loop_is_equally_likely, 0, 6);
	tcase_add_test(t, chosen_access_is_told_whole);
	tcase_add_test(t, known_length_spares_interpretation);
	tcase_add_test(t, data_dependent_path_is_sampled_without_bias);
	tcase_add_loop_test(t, index_drawn_beforehand_is_as_fair, 0, 3);
	tcase_add_test(t, threads_share_the_lengths);
	suite_add_tcase(s, t);
	t = tcase_create("blocked");
	tcase_add_test(t, blocked_loop_is_seen_whole_through_a_breakpoint);
	tcase_add_test(
		t,
		blocked_before_any_access_asks_for_a_breakpoint_without_credit);
	tcase_add_test(
		t, path_closed_at_the_blocking_instruction_needs_no_breakpoint);
	tcase_add_test(t, abandoned_breakpoint_leaves_what_was_exact);
	tcase_add_loop_test(t, sample_without_an_access_says_why, 0,
			    sizeof(nothing) / sizeof(nothing[0]));
	suite_add_tcase(s, t);
	t = tcase_create("stalled");
	tcase_add_test(t, stalled_samples_take_the_access_before);
	tcase_add_test(
		t, unknown_stalled_access_is_replaced_by_the_next_of_its_kind);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
