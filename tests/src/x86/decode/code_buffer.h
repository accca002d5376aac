/* SPDX-License-Identifier: MIT */
/*
 * code_buffer - code and data of a test, for the backward decoder
 *
 * The code is in a buffer of the test, at its real address. Only that buffer
 * and an array of data can be read, and every read is counted. Each of the
 * sixteen registers points into data, register n to REG(n).
 */
#ifndef COMDET_TESTS_SRC_X86_DECODE_CODE_BUFFER_H
#define COMDET_TESTS_SRC_X86_DECODE_CODE_BUFFER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/x86/decode/cpu_state.h"
#include "src/x86/decode/memory.h"

enum {
	PAGE = 4096,
	CODE_BYTES = 4 * PAGE,
	DATA_BYTES = 1024,
	HERE = 2 * PAGE + 512, /* the program counter, as an offset */
	NOP = 0x90,
};

static _Alignas(PAGE) uint8_t code[CODE_BYTES];
static _Alignas(PAGE) uint8_t data[DATA_BYTES];
static uint64_t readable_low, readable_high; /* of the code */
__attribute__((unused)) static _Atomic unsigned reads;
static struct cpu_state cpu;
static struct memory mem;

static bool within(uint64_t addr, size_t n, uint64_t low, uint64_t high)
{
	return addr >= low && addr < high && n <= high - addr;
}

static int read_buffers(void *ctx, uint64_t addr, void *buf, size_t n)
{
	uint64_t d = (uint64_t)data;

	reads++;
	if (!within(addr, n, readable_low, readable_high) &&
	    !within(addr, n, d, d + DATA_BYTES))
		return -EFAULT;
	memcpy(buf, (const void *)addr, n);
	return 0;
}

static uint64_t address_of(uint32_t offset)
{
	return (uint64_t)code + offset;
}

static inline void set_up(void)
{
	memset(code, NOP, sizeof(code));
	memset(data, 0, sizeof(data));
	readable_low = address_of(0);
	readable_high = address_of(CODE_BYTES);
	mem = (struct memory){ .read = read_buffers };
	cpu = (struct cpu_state){
		.rip = address_of(HERE),
		.rflags = 0x202,
		.fs_base = (uint64_t)data + 512,
		.fs_known = true,
	};
	for (int i = 0; i < 16; i++)
		cpu.gpr[i] = (uint64_t)data + 32 * (uint64_t)i;
}

/* Put code so that it ends @gap bytes before the program counter. */
static inline void put_before(const void *bytes, size_t n, uint32_t gap)
{
	memcpy(code + HERE - gap - n, bytes, n);
}

#define REG(n) (32 * (n))
#define RIP    0x10000 /* relative to the program counter */

/* mov rax, [rbx+8] */
static const uint8_t load[] = { 0x48, 0x8b, 0x43, 8 };

#endif
