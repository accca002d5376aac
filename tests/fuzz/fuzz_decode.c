/* SPDX-License-Identifier: MIT */
/*
 * fuzz_decode - bytes of a fuzzer as code and registers (make fuzz)
 *
 * The decoder, the interpreter and the search backwards run on whatever a
 * program has mapped executable, which may be data. They must read nothing
 * but through the memory they are given, end, and keep the limits they
 * promise. The input is sixteen registers, flags, and code; all other memory
 * is a pattern with holes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/x86/decode/backdecode.h"
#include "src/x86/decode/accesses.h"
#include "src/x86/decode/decode.h"
#include "src/x86/interp/interp.h"

enum {
	REGISTER_BYTES = 16 * 8 + 8,
	VECTOR_BYTES = 512 + 256,
	ACCESS_BYTES_MAX = 16384, /* xsave, at most */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct code {
	const uint8_t *bytes;
	size_t n;
	uint64_t at;
};

static int read_pattern(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const struct code *code = ctx;
	uint8_t *out = buf;

	for (size_t i = 0; i < n; i++, addr++) {
		if (addr - code->at < code->n)
			out[i] = code->bytes[addr - code->at];
		else if (addr >> 12 & 1)
			return -EFAULT;
		else
			out[i] = (uint8_t)(addr * 37 ^ addr >> 7);
	}
	return 0;
}

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_one(const struct code *code, const struct cpu_state *cpu)
{
	struct access out[DECODE_ACCESSES_MAX];
	struct insn insn;
	int n;

	if (decode_bytes(code->bytes, code->n, code->at, &insn))
		return;
	require(insn.len >= 1 && insn.len <= INSN_BYTES_MAX);
	require(insn.len <= code->n);
	n = decode_accesses(&insn, cpu, out);
	require(n <= DECODE_ACCESSES_MAX);
	for (int i = 0; i < n; i++)
		require(out[i].len >= 1 && out[i].len <= ACCESS_BYTES_MAX);
}

static void check_window(const struct cpu_state *cpu, const struct memory *mem)
{
	static struct interp *in;

	if (!in) {
		in = aligned_alloc(64, (interp_bytes + 63) / 64 * 64);
		require(in != NULL);
		memset(in, 0, interp_bytes);
	}
	interp_begin(in, cpu, mem);
	interp_run(in, 0);
	require(interp_count(in) <= WINDOW_ACCESSES_MAX);
	require(interp_instructions(in) <= WINDOW_INSTRUCTIONS_MAX);
	for (uint32_t i = 0; i < interp_count(in); i++)
		require(interp_access(in, i)->len >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t runs;
	static uint8_t vectors[VECTOR_BYTES] __attribute__((aligned(64)));
	struct cpu_state cpu = { 0 };
	struct memory mem = { .read = read_pattern };
	struct access a;
	struct code code;

	if (size <= REGISTER_BYTES)
		return 0;
	memcpy(cpu.gpr, data, sizeof(cpu.gpr));
	memcpy(&cpu.rflags, data + sizeof(cpu.gpr), 8);
	code.bytes = data + REGISTER_BYTES;
	code.n = size - REGISTER_BYTES;
	/* another place each time: the decoder may remember what was there */
	code.at = 0x10000000 + ++runs % (1 << 24) * 4096;
	mem.ctx = &code;
	cpu.rip = code.at;
	cpu.fs_known = !(data[0] & 2);
	cpu.gs_known = data[0] & 4;
	for (size_t i = 0; i < sizeof(vectors); i++)
		vectors[i] = data[i % size];
	if (data[0] & 1) {
		/* the kernel hands out no reserved bits of MXCSR */
		vectors[26] = vectors[27] = 0;
		cpu.fxsave = vectors;
		cpu.ymm_high = vectors + 512;
	}

	check_one(&code, &cpu);
	check_window(&cpu, &mem);
	cpu.rip = code.at + code.n;
	backdecode_stalled(&cpu, &mem, &a);
	backdecode_trapped(&cpu, &mem, cpu.gpr[data[1] % 16], 8, data[1] & 16,
			   &a);
	return 0;
}
