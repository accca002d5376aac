/* SPDX-License-Identifier: MIT */
/*
 * test_decode - the accesses of each form of instruction, and the cache
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "src/x86/decode/decode.h"
#include "src/x86/decode/accesses.h"

enum {
	L = ACCESS_LOAD,
	S = ACCESS_STORE,
	LS = ACCESS_LOAD | ACCESS_STORE,
	K = ACCESS_LOCKED,
	I = ACCESS_IMPLICIT,
	ANY_LEN = 0xffff,
};

/* The registers of every row, see row_state(). */
#define RAX 0x100000ull
#define RCX 0x3ull
#define RDX 0x77ull
#define RBX 0x200000ull
#define RSP 0x300000ull
#define RBP 0x400000ull
#define RSI 0x500000ull
#define RDI 0x600000ull
#define R8  0x1000ull
#define FS  0x7f0000000000ull
#define GS  0x7e0000000000ull
#define IP  0x401000ull

struct want {
	uint64_t addr;
	uint32_t len, flags;
};

struct row {
	const char *text; /* as assembled, Intel syntax */
	const uint8_t *begin, *end;
	struct want want[9]; /* len 0 ends */
};

/* A row's bytes are assembled from its text. */
#define ASSEMBLE(id, text)                                                     \
	extern const uint8_t row_##id[], row_end_##id[];                       \
	__asm__(".pushsection .rodata\n\t.intel_syntax noprefix\n"             \
		"row_" #id ":\n\t" text "\nrow_end_" #id ":\n\t"               \
		".att_syntax\n\t.popsection")

#include "decode_rows.h"
#include "tests/run_suite.h"

#define ROW(id, text, ...) ASSEMBLE(id, text);
DECODE_ROWS(ROW)
#undef ROW

#define ROW(id, text, ...) { text, row_##id, row_end_##id, { __VA_ARGS__ } },
static const struct row rows[] = { DECODE_ROWS(ROW) };
#undef ROW

static uint8_t fxsave[512], ymm_high[256], zmm_high[512], hi16_zmm[1024];
static uint64_t opmask[8];

/*
 * xmm2: dwords 4 0 -1 2 (indices); xmm3: elements 0 and 2 selected (top bits
 * of dwords), xmm4: bytes 1 to 3 and 15; k1: 0b1011, k2: 1, k3: none.
 */
static struct cpu_state row_state(void)
{
	static const uint64_t gpr[16] = { RAX, RCX, RDX, RBX, RSP,
					  RBP, RSI, RDI, R8 };
	static const int32_t index[4] = { 4, 0, -1, 2 };
	static const uint32_t mask[4] = { 0x80000000, 0x7fffffff, 0xffffffff,
					  0 };
	struct cpu_state cpu = { .rip = IP,
				 .rflags = 0x202,
				 .fs_base = FS,
				 .gs_base = GS,
				 .fs_known = true,
				 .gs_known = true,
				 .fxsave = fxsave,
				 .ymm_high = ymm_high,
				 .zmm_high = zmm_high,
				 .hi16_zmm = hi16_zmm,
				 .opmask = opmask };

	memcpy(cpu.gpr, gpr, sizeof(gpr));
	memcpy(fxsave + 160 + 32, index, 16);
	memcpy(fxsave + 160 + 48, mask, 16);
	fxsave[160 + 64 + 1] = fxsave[160 + 64 + 2] = 0x80;
	fxsave[160 + 64 + 3] = fxsave[160 + 64 + 15] = 0x80;
	opmask[1] = 0xb;
	opmask[2] = 1;
	return cpu;
}

START_TEST(instruction_makes_the_accesses_it_should)
{
	const struct row *row = &rows[_i];
	struct access got[DECODE_ACCESSES_MAX];
	struct cpu_state cpu = row_state();
	struct insn insn;
	int n, want = 0;

	ck_assert_int_eq(
		decode_bytes(row->begin, row->end - row->begin, IP, &insn), 0);
	ck_assert_msg(insn.len == row->end - row->begin, "%s", row->text);
	while (want < 9 && row->want[want].len)
		want++;
	n = decode_accesses(&insn, &cpu, got);
	ck_assert_msg(n == want, "%s: %d accesses", row->text, n);
	for (int i = 0; i < n; i++) {
		const struct want *w = &row->want[i];

		ck_assert_msg(got[i].addr == w->addr, "%s: %d at %lx",
			      row->text, i, got[i].addr);
		if (w->len != ANY_LEN)
			ck_assert_msg(got[i].len == w->len, "%s: %d has %u",
				      row->text, i, got[i].len);
		ck_assert_msg(got[i].flags == w->flags, "%s: %d is %x",
			      row->text, i, got[i].flags);
		ck_assert_uint_eq(got[i].ip, IP);
	}
}
END_TEST

static int decode_text(const uint8_t *begin, const uint8_t *end,
		       struct insn *insn)
{
	return decode_bytes(begin, end - begin, IP, insn);
}

ASSEMBLE(gather, "vpgatherdd ymm1, [rax+ymm2*4], ymm3");
ASSEMBLE(masked, "vmovdqu8 [rax]{k1}, zmm1");
ASSEMBLE(fs, "mov eax, fs:[8]");
ASSEMBLE(gs, "mov eax, gs:[8]");
ASSEMBLE(tile, ".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x0c, 0x08");
ASSEMBLE(deep_enter, "enter 16, 3");

START_TEST(what_is_not_known_is_not_guessed)
{
	struct access out[DECODE_ACCESSES_MAX];
	struct cpu_state cpu = row_state();
	struct insn insn;

	cpu.ymm_high = NULL;
	ck_assert_int_eq(decode_text(row_gather, row_end_gather, &insn), 0);
	ck_assert_int_eq(decode_accesses(&insn, &cpu, out), -EAGAIN);
	cpu.opmask = NULL;
	ck_assert_int_eq(decode_text(row_masked, row_end_masked, &insn), 0);
	ck_assert_int_eq(decode_accesses(&insn, &cpu, out), -EAGAIN);
	cpu.fs_known = false;
	ck_assert_int_eq(decode_text(row_fs, row_end_fs, &insn), 0);
	ck_assert_int_eq(decode_accesses(&insn, &cpu, out), -EAGAIN);
	cpu.gs_known = false;
	ck_assert_int_eq(decode_text(row_gs, row_end_gs, &insn), 0);
	ck_assert_int_eq(decode_accesses(&insn, &cpu, out), -EAGAIN);
	ck_assert_int_eq(decode_text(row_tile, row_end_tile, &insn), 0);
	ck_assert_int_eq(decode_accesses(&insn, &cpu, out), -EOPNOTSUPP);
	ck_assert_int_eq(decode_text(row_deep_enter, row_end_deep_enter, &insn),
			 0);
	ck_assert_int_eq(decode_accesses(&insn, &cpu, out), -EOPNOTSUPP);
}
END_TEST

ASSEMBLE(jump, "jmp .+0x20");
ASSEMBLE(jne, "jne .-0x200");
ASSEMBLE(call, "call .+0x1000");
ASSEMBLE(ret, "ret");
ASSEMBLE(indirect, "jmp [rax]");
ASSEMBLE(far_return, "retfq");
ASSEMBLE(in_port, "in al, dx");
ASSEMBLE(privileged, "mov cr3, rax");

START_TEST(flow_and_targets_are_told)
{
	struct insn insn;

	ck_assert_int_eq(decode_text(row_jump, row_end_jump, &insn), 0);
	ck_assert_int_eq(insn.flow, FLOW_JUMP);
	ck_assert_uint_eq(insn.imm, IP + 0x20);
	ck_assert_int_eq(decode_text(row_jne, row_end_jne, &insn), 0);
	ck_assert_int_eq(insn.flow, FLOW_COND);
	ck_assert_int_eq(insn.condition, 5);
	ck_assert_uint_eq(insn.imm, IP - 0x200);
	ck_assert_int_eq(decode_text(row_call, row_end_call, &insn), 0);
	ck_assert_int_eq(insn.flow, FLOW_CALL);
	ck_assert_uint_eq(insn.imm, IP + 0x1000);
	ck_assert_int_eq(decode_text(row_ret, row_end_ret, &insn), 0);
	ck_assert_int_eq(insn.flow, FLOW_RET);
	ck_assert_int_eq(decode_text(row_indirect, row_end_indirect, &insn), 0);
	ck_assert_int_eq(insn.flow, FLOW_JUMP);
	ck_assert_int_eq(insn.op[0].kind, OPERAND_MEM);
	ck_assert_int_eq(decode_text(row_far_return, row_end_far_return, &insn),
			 0);
	ck_assert_int_eq(insn.flow, FLOW_SYSTEM);
	ck_assert_int_eq(decode_text(row_in_port, row_end_in_port, &insn), 0);
	ck_assert_int_eq(insn.flow, FLOW_SYSTEM);
	ck_assert_int_eq(decode_text(row_privileged, row_end_privileged, &insn),
			 0);
	ck_assert_int_eq(insn.flow, FLOW_SYSTEM);
}
END_TEST

START_TEST(short_or_wrong_bytes_are_refused)
{
	static const uint8_t invalid[] = { 0x06, 0x90 };
	struct insn insn;
	size_t n = row_end_masked - row_masked;

	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(decode_bytes(row_masked, i, IP, &insn),
				 -ENODATA);
	ck_assert_int_eq(decode_bytes(row_masked, n, IP, &insn), 0);
	ck_assert_int_eq(decode_bytes(invalid, 2, IP, &insn), -EILSEQ);
}
END_TEST

/* A page of code; memory behind it cannot be read. */
struct page {
	uint64_t base;
	uint8_t bytes[256];
	unsigned reads;
};

static int page_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct page *p = ctx;

	p->reads++;
	if (addr < p->base || addr + n > p->base + sizeof(p->bytes))
		return -EFAULT;
	memcpy(buf, p->bytes + (addr - p->base), n);
	return 0;
}

START_TEST(code_at_the_end_of_what_can_be_read_is_decoded)
{
	static struct page p = { .base = 0x10000 };
	struct memory mem = { .read = page_read, .ctx = &p };
	struct insn insn;
	int error = 0;

	p.bytes[254] = 0x89; /* mov eax, eax */
	p.bytes[255] = 0xc0;
	ck_assert_ptr_nonnull(decode_at(&mem, p.base + 254, &insn, &error));
	ck_assert_uint_eq(insn.len, 2);
	p.bytes[255] = 0xe8; /* a call whose last bytes cannot be read */
	ck_assert_ptr_null(decode_at(&mem, p.base + 255, &insn, &error));
	ck_assert_int_eq(error, -EFAULT);
	ck_assert_ptr_null(decode_at(&mem, p.base + 256, &insn, &error));
	ck_assert_int_eq(error, -EFAULT);
	p.bytes[60] = 0x06;
	ck_assert_ptr_null(decode_at(&mem, p.base + 60, &insn, &error));
	ck_assert_int_eq(error, -EILSEQ);
	memcpy(p.bytes + 62, row_call, 5); /* across the end of a cache line */
	ck_assert_ptr_nonnull(decode_at(&mem, p.base + 62, &insn, &error));
	ck_assert_uint_eq(insn.imm, p.base + 62 + 0x1000);
}
END_TEST

START_TEST(cached_instruction_is_used_only_while_its_bytes_are_there)
{
	static struct page p = { .base = 0x20000 };
	struct memory mem = { .read = page_read, .ctx = &p };
	struct insn insn;
	int error = 0;

	memcpy(p.bytes, "\xb8\x01\x00\x00\x00", 5); /* mov eax, 1 */
	for (int i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(decode_at(&mem, p.base, &insn, &error));
		ck_assert_uint_eq(insn.imm, 1);
	}
	ck_assert(decode_unchanged(&mem, &insn));
	p.bytes[4] = 0x70;
	ck_assert(!decode_unchanged(&mem, &insn));
	ck_assert_ptr_nonnull(decode_at(&mem, p.base, &insn, &error));
	ck_assert_uint_eq(insn.imm, 0x70000001);
}
END_TEST

/*
 * Threads decode at the same addresses, where each sees other code, as if the
 * code changed all the time. They compete for the same slots of the cache; a
 * thread that gets another's instruction, or a part of it, fails.
 */
enum {
	FIGHTERS = 4,
	ROUNDS = 20000,
	PLACES = 3
};

static atomic_uint wrong;

static void *fight(void *arg)
{
	struct page *p = arg;
	struct memory mem = { .read = page_read, .ctx = p };
	struct insn insn;
	int error = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned at = i % PLACES * 16;
		uint32_t mine = p->reads * 2654435761u;
		bool is_long = mine & 1;

		p->bytes[at] = is_long ? 0x48 : 0xb8;
		p->bytes[at + 1] = 0xc7;
		p->bytes[at + 2] = 0xc0;
		memcpy(p->bytes + at + (is_long ? 3 : 1), &mine, 4);
		if (!decode_at(&mem, p->base + at, &insn, &error) ||
		    insn.ip != p->base + at || insn.len != (is_long ? 7 : 5) ||
		    (uint32_t)insn.imm != mine ||
		    insn.op[0].bytes != (is_long ? 8 : 4) ||
		    memcmp(insn.bytes, p->bytes + at, insn.len))
			atomic_fetch_add(&wrong, 1);
		if (!decode_at(&mem, p->base + at, &insn, &error) ||
		    (uint32_t)insn.imm != mine)
			atomic_fetch_add(&wrong, 1);
	}
	return NULL;
}

START_TEST(threads_that_fight_for_a_slot_get_their_own_instruction)
{
	static struct page pages[FIGHTERS];
	pthread_t threads[FIGHTERS];

	for (int i = 0; i < FIGHTERS; i++) {
		pages[i].base = 0x30000;
		pages[i].reads = i * 1000003;
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, fight, &pages[i]), 0);
	}
	for (int i = 0; i < FIGHTERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(atomic_load(&wrong), 0);
}
END_TEST

/* Of @n bytes; true if they are an instruction. */
static bool shape_is_right(const uint8_t *code, size_t n)
{
	struct insn_shape shape;
	struct insn insn;
	int err = decode_bytes(code, n, IP, &insn);

	ck_assert_int_eq(decode_shape(code, n, IP, &shape), err);
	if (err)
		return false;
	ck_assert_uint_eq(shape.len, insn.len);
	ck_assert_msg(shape.flow == insn.flow, "flow of %02x %02x %02x %02x",
		      code[0], code[1], code[2], code[3]);
	if (insn.operands && insn.op[0].kind == OPERAND_IMM &&
	    insn.flow != FLOW_NEXT && insn.flow != FLOW_SYSTEM &&
	    insn.flow != FLOW_RET)
		ck_assert_uint_eq(shape.target, insn.imm);
	if (insn.flow == FLOW_NEXT || insn.flow == FLOW_RET)
		ck_assert_uint_eq(shape.target, 0);
	return true;
}

START_TEST(shape_is_what_the_whole_decoding_says)
{
	const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3, 0x48, 0xf0 };
	unsigned good = 0, tried = 0;
	uint64_t rng = 1;

	/* Each opcode of one and of two bytes, prefixed, then at random. */
	for (unsigned i = 0; i < 2 * 256 * 256 * 6; i++) {
		uint8_t code[INSN_BYTES_MAX], *p = code;

		for (unsigned j = 0; j < sizeof(code); j++) {
			rng = rng * 6364136223846793005u + 1442695040888963407u;
			code[j] = rng >> 56;
		}
		if (prefixes[i % 6])
			*p++ = prefixes[i % 6];
		if (i & 1)
			*p++ = 0x0f;
		*p++ = i / 2 / 6 % 256;
		*p++ = i / 2 / 6 / 256;
		good += shape_is_right(code, i % 16 ? sizeof(code) : 1 + i % 7);
		tried++;
	}
	ck_assert_uint_gt(good, tried / 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("decode");
	TCase *forms = tcase_create("forms");
	TCase *cache = tcase_create("cache");

	tcase_add_loop_test(forms, instruction_makes_the_accesses_it_should, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(forms, what_is_not_known_is_not_guessed);
	tcase_add_test(forms, flow_and_targets_are_told);
	tcase_add_test(forms, shape_is_what_the_whole_decoding_says);
	tcase_add_test(forms, short_or_wrong_bytes_are_refused);
	suite_add_tcase(s, forms);
	tcase_add_test(cache, code_at_the_end_of_what_can_be_read_is_decoded);
	tcase_add_test(
		cache,
		cached_instruction_is_used_only_while_its_bytes_are_there);
	tcase_add_test(cache,
		       threads_that_fight_for_a_slot_get_their_own_instruction);
	tcase_set_timeout(cache, 60);
	suite_add_tcase(s, cache);
	return run_suite(s);
}
