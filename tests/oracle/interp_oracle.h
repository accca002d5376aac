/* SPDX-License-Identifier: MIT */
/*
 * interp_oracle - the processor itself as the interpreter's oracle
 *
 * A snippet of machine code is interpreted and then executed by the processor
 * with the same registers, flags and memory. Every register, flag and byte of
 * memory that the interpreter knows must have the value that the processor
 * computed. The tests of the interpreter include this file.
 *
 * Snippets are written with SNIPPET("assembler text"), Intel syntax, or with
 * NOT_MODELLED where the interpreter leaves the result unknown. In them
 * rsi, rdi, rbx, r12 and rbp point into a 4 KiB arena of random bytes, rsp
 * into its upper part, r13 is 0 to 63; the other registers are random, and
 * often zero, one, or at the edge of a width.
 */
#ifndef COMDET_TESTS_ORACLE_INTERP_ORACLE_H
#define COMDET_TESTS_ORACLE_INTERP_ORACLE_H

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "oracle_call.h"
#include "oracle_cpu.h"
#include "oracle_values.h"
#include "src/x86/interp/vector.h"

/* clang-format off */
#define SNIPPET_IN(section, text) \
	__asm__(".pushsection " section ",\"aw\"\n\t" \
		".quad 1f, 2f, 3f\n\t" \
		".popsection\n\t.pushsection .rodata\n\t" \
		".intel_syntax noprefix\n1:\t" text "\n2:\n\t" \
		".att_syntax\n" \
		"3:\t.asciz \"" text "\"\n\t.popsection")
/* clang-format on */

#define SNIPPET(text) SNIPPET_IN("snippets", text)
/* The interpreter does not model these; it must not claim to know results. */
#define NOT_MODELLED(text) SNIPPET_IN("not_modelled", text)

struct snippet {
	const uint8_t *begin, *end;
	const char *text;
};

extern const struct snippet __start_snippets[], __stop_snippets[];
extern const struct snippet __start_not_modelled[], __stop_not_modelled[];

enum {
	ARENA_BYTES = 4096,
	STACK_OFFSET = 3072, /* rsp at the start */
	CODE_BYTES = 4096,
};

static uint8_t *oracle_arena, *oracle_code;
static uint8_t oracle_before[ARENA_BYTES];
static struct interp oracle_interp;
static bool oracle_faulted;

static void (*oracle_look)(const ucontext_t *uc); /* in the handler */

/* QEMU 7.2 enters a handler with a stack that is not aligned. */
__attribute__((force_align_arg_pointer)) static void oracle_on_fault(
	int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	if (oracle_look)
		oracle_look(uc);
	oracle_faulted = true;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)oracle_exit;
}

static void oracle_set_up(void)
{
	struct sigaction sa = { .sa_sigaction = oracle_on_fault,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };
	static uint8_t stack[65536];
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	oracle_vectors = oracle_cpu_vectors();
	oracle_arena =
		mmap((void *)0x10000000, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	oracle_code = mmap((void *)0x20000000, CODE_BYTES,
			   PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(oracle_arena != MAP_FAILED && oracle_code != MAP_FAILED);
	sigaltstack(&ss, NULL);
	sigaction(SIGFPE, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGTRAP, &sa, NULL);
}

static int oracle_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const bool *data = ctx;
	const struct {
		uint64_t base, bytes;
	} maps[] = { { (uint64_t)oracle_arena, ARENA_BYTES },
		     { (uint64_t)oracle_code, CODE_BYTES } };

	for (int i = *data ? 0 : 1; i < 2; i++)
		if (addr >= maps[i].base &&
		    addr + n <= maps[i].base + maps[i].bytes) {
			memcpy(buf, (const void *)addr, n);
			return 0;
		}
	return -EFAULT;
}

static void random_vector(uint8_t *v)
{
	uint64_t kind = oracle_random() % 5, q;
	uint32_t w;

	for (int i = 0; i < 64; i += 8) {
		q = oracle_random();
		if (kind == 1)
			q = edge_double();
		else if (kind == 2)
			q &= 0x0101010101010101;
		else if (kind == 3)
			q = (q & 3) * 0x0101010101010101;
		memcpy(v + i, &q, 8);
	}
	for (int i = 0; kind == 4 && i < 64; i += 4) {
		w = edge_float();
		memcpy(v + i, &w, 4);
	}
}

static void random_state(void)
{
	static const int pointers[] = { 3, 5, 6, 7, 12 };
	uint64_t q;

	for (int i = 0; i < 16; i++)
		oracle.gpr[i] = edge_value();
	for (int i = 0; i < 5; i++)
		oracle.gpr[pointers[i]] =
			(uint64_t)oracle_arena + 512 + oracle_random() % 1536;
	if (oracle_random() & 1) /* aligned, for movaps and movdqa */
		for (int i = 0; i < 5; i++)
			oracle.gpr[pointers[i]] &= -64ull;
	oracle.gpr[4] = (uint64_t)oracle_arena + STACK_OFFSET;
	oracle.gpr[13] = oracle_random() % 64;
	oracle.rflags = 0x202 | (oracle_random() & 0x8d5);
	oracle.mxcsr = 0x1f80 | (oracle_random() & 0xe040);
	for (int i = 0; i < 32; i++)
		random_vector(oracle.vec[i]);
	for (int i = 0; i < 8; i++) {
		q = oracle_random();
		oracle.mask[i] = i & 1 ? q : q & oracle_random() & 0xff;
	}
	for (int i = 0; i < ARENA_BYTES; i += 64)
		random_vector(oracle_arena + i);
}

/* The same state in the forms that struct cpu_state points to. */
static struct cpu_state oracle_cpu(void)
{
	static uint8_t fxsave[512], ymm[16][16], zmm[16][32];
	struct cpu_state cpu = { .rip = (uint64_t)oracle_code,
				 .rflags = oracle.rflags,
				 .fxsave = fxsave };
	uint32_t mxcsr = oracle.mxcsr;

	memcpy(cpu.gpr, oracle.gpr, sizeof(cpu.gpr));
	__asm__ volatile("fnstcw %0" : "=m"(*(uint16_t *)fxsave));
	memcpy(fxsave + 24, &mxcsr, 4);
	for (int i = 0; i < 16; i++) {
		memcpy(fxsave + 160 + 16 * i, oracle.vec[i], 16);
		memcpy(ymm[i], oracle.vec[i] + 16, 16);
		memcpy(zmm[i], oracle.vec[i] + 32, 32);
	}
	if (oracle_vectors >= ORACLE_YMM)
		cpu.ymm_high = ymm;
	if (oracle_vectors >= ORACLE_ZMM) {
		cpu.zmm_high = zmm;
		cpu.hi16_zmm = oracle.vec[16];
		cpu.opmask = oracle.mask;
	}
	return cpu;
}

/*
 * How much the interpreter may see. All results of values that it does not see
 * must be tainted; if one is not, its value is wrong.
 */
enum oracle_mode {
	KNOWS_ALL,
	READS_LAZILY, /* only loads that an address or branch needs */
	SEES_LITTLE,  /* some registers, flags and memory are unknown */
	MODES
};

struct oracle_tally {
	unsigned cases, known;
	unsigned unknown, ended_early; /* in mode KNOWS_ALL */
};

static bool coin(void)
{
	return oracle_random() >> 63;
}

/* Make half of the registers that hold no address unknown to @in. */
static void blind(struct interp *in)
{
	static const int plain[] = { 0, 1, 2, 8, 9, 10, 11, 14, 15 };
	bool vectors = coin();

	for (unsigned i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (coin())
			continue;
		in->cpu.gpr[plain[i]] = oracle_random();
		in->gpr_taint[plain[i]] = TAINT_UNKNOWN;
	}
	if (coin()) {
		in->carry_taint = TAINT_UNKNOWN;
		in->cpu.rflags ^= FLAG_CF;
	}
	if (coin()) {
		in->status_taint = TAINT_UNKNOWN;
		in->cpu.rflags ^= FLAGS_STATUS;
	}
	for (unsigned i = 0; i < VECTORS; i++)
		for (unsigned l = 0; l < LANES; l++) {
			vec_lanes(in, i);
			if (vectors || coin())
				continue;
			in->vec[i][l].q[0] = oracle_random();
			in->vec[i][l].q[1] = oracle_random();
			in->vec_taint[i][l] = TAINT_UNKNOWN;
		}
	for (unsigned i = 0; i < MASKS; i++) {
		*mask_value(in, i) ^= coin() ? 0 : oracle_random();
		if (in->mask[i] != oracle.mask[i])
			in->mask_taint[i] = TAINT_UNKNOWN;
	}
}

static void hex(const char *name, const void *p, unsigned n)
{
	printf("  %s ", name);
	for (unsigned i = n; i-- > 0;)
		printf("%02x", ((const uint8_t *)p)[i]);
	printf("\n");
}

static bool compare_registers(const struct interp *in, const char *text,
			      struct oracle_tally *t)
{
	uint32_t unknown = in->undefined;
	bool ok = true;

	for (int i = 0; i < 16; i++) {
		if (in->gpr_taint[i]) {
			t->unknown++;
			continue;
		}
		t->known++;
		if (in->cpu.gpr[i] != oracle.gpr[i]) {
			printf("  gpr %d: %lx, in truth %lx\n", i,
			       in->cpu.gpr[i], oracle.gpr[i]);
			ok = false;
		}
	}
	if (in->carry_taint)
		unknown |= FLAG_CF;
	if (in->status_taint)
		unknown |= FLAGS_STATUS;
	if (in->direction_taint)
		unknown |= FLAG_DF;
	if ((in->cpu.rflags ^ oracle.rflags) & ~unknown & 0xcd5) {
		printf("  flags: %lx, in truth %lx, unknown %x\n",
		       in->cpu.rflags & 0xcd5, oracle.rflags & 0xcd5, unknown);
		ok = false;
	}
	return ok;
}

static bool compare_vectors(struct interp *in, struct oracle_tally *t)
{
	bool zmm = oracle_vectors == ORACLE_ZMM;
	unsigned n = zmm ? 32 : 16, lanes = 1u << oracle_vectors;
	bool ok = true;

	for (unsigned i = 0; i < n; i++) {
		if (!(in->vec_loaded >> i & 1))
			continue;
		for (unsigned l = 0; l < lanes; l++) {
			if (in->vec_taint[i][l]) {
				t->unknown++;
				continue;
			}
			t->known++;
			if (!memcmp(&in->vec[i][l], oracle.vec[i] + 16 * l, 16))
				continue;
			printf("  vector %u lane %u\n", i, l);
			hex("have ", &in->vec[i][l], 16);
			hex("truth", oracle.vec[i] + 16 * l, 16);
			ok = false;
		}
	}
	for (unsigned i = 0; zmm && i < 8; i++) {
		if (!(in->mask_loaded >> i & 1))
			continue;
		if (in->mask_taint[i]) {
			t->unknown++;
			continue;
		}
		t->known++;
		if (in->mask[i] != oracle.mask[i]) {
			printf("  k%u: %lx, in truth %lx\n", i, in->mask[i],
			       oracle.mask[i]);
			ok = false;
		}
	}
	return ok;
}

/* Every byte that changed must be in a store with the predicted value. */
static bool compare_memory(const struct interp *in, struct oracle_tally *t)
{
	static uint8_t unsure[ARENA_BYTES], covered[ARENA_BYTES];
	uint64_t base = (uint64_t)oracle_arena;
	bool ok = true;

	memset(unsure, 0, sizeof(unsure));
	memset(covered, 0, sizeof(covered));
	for (uint32_t i = 0; i < in->stores; i++) {
		const struct store *s = &in->store[i];

		t->unknown += s->taint != 0;
		for (uint32_t b = 0; b < s->len; b++) {
			uint64_t at = s->addr + b - base;

			if (at >= ARENA_BYTES)
				continue;
			unsure[at] = s->taint != 0;
			if (s->len <= STORE_BYTES)
				oracle_before[at] = s->bytes[b];
		}
	}
	for (uint32_t i = 0; i < in->count; i++)
		for (uint32_t b = 0; b < in->access[i].len; b++)
			if (in->access[i].flags & ACCESS_STORE &&
			    in->access[i].addr + b - base < ARENA_BYTES)
				covered[in->access[i].addr + b - base] = 1;
	for (unsigned i = 0; i < ARENA_BYTES; i++) {
		if (!unsure[i] && oracle_before[i] != oracle_arena[i]) {
			printf("  byte %x: %02x, in truth %02x%s\n", i,
			       oracle_before[i], oracle_arena[i],
			       covered[i] ? "" : ", no access");
			ok = false;
		}
	}
	return ok;
}

/*
 * Run one snippet from one random state. Returns false, and prints why, if the
 * interpreter claimed a wrong value.
 */
static bool oracle_case(const struct snippet *s, struct oracle_tally *t)
{
	static const uint8_t leave_code[] = { 0xff, 0x25, 0, 0, 0, 0 };
	struct interp *in = &oracle_interp;
	enum oracle_mode mode = oracle_random() % MODES;
	bool data = mode != SEES_LITTLE || coin();
	struct memory mem = { .read = oracle_read, .ctx = &data };
	struct oracle_tally aside = { 0 };
	size_t n = s->end - s->begin;
	const void *exit_at = oracle_exit;
	uint64_t seed = oracle_seed;
	struct cpu_state cpu;
	enum interp_end end;
	bool ok = true;

	random_state();
	cpu = oracle_cpu();
	if (mode != KNOWS_ALL) {
		aside = *t;
		t = &aside;
	}
	memcpy(oracle_code, s->begin, n);
	memset(oracle_code + n, 0xcc, 16);
	interp_begin(in, &cpu, &mem);
	in->start_ip = 0; /* a loop in a snippet does not close the window */
	if (mode != READS_LAZILY)
		in->demanded = ~TAINT_UNKNOWN;
	if (mode == SEES_LITTLE)
		blind(in);
	end = interp_run(in, 0);
	memcpy(oracle_code + n, leave_code, sizeof(leave_code));
	memcpy(oracle_code + n + sizeof(leave_code), &exit_at, 8);
	memcpy(oracle_before, oracle_arena, ARENA_BYTES);
	oracle.target = (uint64_t)oracle_code;
	oracle_faulted = false;
	oracle_call();
	t->cases++;
	if (oracle_faulted) {
		if (end == INTERP_SYSCALL &&
		    in->cpu.rip != (uint64_t)oracle_code + n)
			return true;
		if (mode != KNOWS_ALL)
			return true; /* the divisor was unknown */
		printf("%s: faulted, seed %lx\n", s->text, seed);
		return false;
	}
	if (in->cpu.rip != (uint64_t)oracle_code + n) {
		t->ended_early++;
		if (end == INTERP_SYSCALL)
			ok = false;
	} else {
		ok = compare_registers(in, s->text, t);
		ok &= compare_vectors(in, t);
		ok &= compare_memory(in, t);
	}
	if (!ok)
		printf("%s: mode %d, end %d at +%lx, seed %lx\n", s->text, mode,
		       end, in->cpu.rip - (uint64_t)oracle_code, seed);
	return ok;
}

/*
 * Run each snippet from @s up to @end that the processor executes @times.
 * Returns how many of them failed.
 */
static unsigned run_snippets(const struct snippet *s, const struct snippet *end,
			     unsigned times, struct oracle_tally *t)
{
	struct cpu_lacks lacks = { 0 };
	unsigned bad = 0, wrong = 0;

	for (; s < end; s++) {
		if (emulator_fails(s->text)) {
			wrong++;
			continue;
		}
		if (!oracle_cpu_runs(s->begin, s->end - s->begin,
				     oracle_vectors, &lacks))
			continue;
		for (unsigned i = 0; i < times; i++) {
			if (!oracle_case(s, t)) {
				bad++;
				break;
			}
		}
	}
	print_lacks(&lacks);
	if (wrong)
		printf("the emulator is wrong: %u snippets left out\n", wrong);
	printf("%u cases, %u values agree, %u unknown, %u ended early\n",
	       t->cases, t->known, t->unknown, t->ended_early);
	fflush(stdout);
	return bad;
}

/*
 * Run all snippets of this program, each @times, and require that of the
 * modelled ones at least @known values are known for one that is not.
 * ORACLE_SEED takes a seed that a failure has printed; ORACLE_TIMES replaces
 * @times.
 */
static void oracle_all(unsigned times, unsigned known)
{
	struct oracle_tally modelled = { 0 }, others = { 0 };
	const char *seed = getenv("ORACLE_SEED");
	const char *more = getenv("ORACLE_TIMES");
	unsigned bad;

	oracle_set_up();
	if (seed)
		oracle_seed = strtoull(seed, NULL, 16);
	if (more)
		times = strtoul(more, NULL, 10);
	bad = run_snippets(__start_snippets, __stop_snippets, times, &modelled);
	bad += run_snippets(__start_not_modelled, __stop_not_modelled, times,
			    &others);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_gt(modelled.known, known * modelled.unknown);
}

#endif
