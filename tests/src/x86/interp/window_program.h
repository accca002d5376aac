/* SPDX-License-Identifier: MIT */
/*
 * window_program - small programs for the interpreter
 *
 * A program is assembled in the test, copied to an address of its own and
 * interpreted. Its accesses are known by construction, and each read of its
 * code and data is counted.
 */
#ifndef COMDET_TESTS_SRC_X86_INTERP_WINDOW_PROGRAM_H
#define COMDET_TESTS_SRC_X86_INTERP_WINDOW_PROGRAM_H

#include <errno.h>
#include <string.h>

#include "src/x86/interp/interp.h"
#include "src/x86/interp/state.h"

#define CODE(name, text)                                                       \
	extern const uint8_t name[], name##_end[];                             \
	__asm__(".pushsection .rodata\n\t.intel_syntax noprefix\n" #name       \
		":\n\t" text "\n" #name "_end:\n\t.att_syntax\n\t.popsection")

enum {
	DATA_AT = 0x600000,
	DATA_BYTES = 8192,
};

/* The memory of a program, and how often it was read. */
struct program {
	uint8_t code[512];
	uint8_t data[DATA_BYTES];
	unsigned code_reads, data_reads;
};

static struct program program;
/* Each program has its own address, because hints and caches go by address. */
static uint64_t code_at = 0x400000;
static struct interp interp;
static struct memory memory;
static struct cpu_state cpu;

static int program_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct program *p = ctx;

	if (addr >= code_at && addr + n <= code_at + sizeof(p->code)) {
		p->code_reads++;
		memcpy(buf, p->code + (addr - code_at), n);
		return 0;
	}
	if (addr >= DATA_AT && addr + n <= DATA_AT + DATA_BYTES) {
		p->data_reads++;
		memcpy(buf, p->data + (addr - DATA_AT), n);
		return 0;
	}
	return -EFAULT;
}

static inline void load_program(const uint8_t *begin, const uint8_t *end)
{
	code_at += 0x1040;
	memset(&program, 0, sizeof(program));
	memset(program.code, 0xcc, sizeof(program.code));
	memcpy(program.code, begin, end - begin);
	memory = (struct memory){ .read = program_read, .ctx = &program };
	memset(&cpu, 0, sizeof(cpu));
	cpu.rip = code_at;
	cpu.rflags = 0x202;
	cpu.gpr[GPR_RSP] = DATA_AT + 4096;
	cpu.gpr[GPR_RSI] = DATA_AT;
	cpu.gpr[GPR_RDI] = DATA_AT + 1024;
	cpu.gpr[GPR_RCX] = 1000;
}

#define LOAD_PROGRAM(name) load_program(name, name##_end)

static inline void put_word(unsigned at, uint64_t v)
{
	memcpy(program.data + at, &v, sizeof(v));
}

static inline enum interp_end begin_and_run(uint32_t stop_at)
{
	interp_begin(&interp, &cpu, &memory);
	return interp_run(&interp, stop_at);
}

#endif
