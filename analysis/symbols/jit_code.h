/* SPDX-License-Identifier: MIT */
/*
 * jit_code - what a JIT compiler says of the code that it made
 *
 * Two formats are read, those of perf. A perf map is text, "START SIZE NAME" in
 * hexadecimal for each piece of code. A jitdump has records, with source lines
 * too. Where pieces of code overlap, the one that was reported last counts, as
 * the compiler has reused the memory.
 *
 * Both come from a file that any process may have written: whatever is in them,
 * reading them ends, takes memory in proportion to their length, and gives
 * names that may hold any characters.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_JIT_CODE_H
#define COMDET_ANALYSIS_SYMBOLS_JIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_code;

struct jit_place {
	const char *function; /* these live as long as the struct jit_code */
	const char *file;     /* NULL: unknown */
	int line;             /* 0: unknown */
};

struct jit_code *jit_code_new(void);
void jit_code_free(struct jit_code *j);

/* Add the @n bytes of a perf map. Lines that make no sense are left out. */
void jit_code_add_map(struct jit_code *j, const char *text, size_t n);

/*
 * Add the @n bytes of a jitdump, up to the first record that makes no sense.
 * False if it is no jitdump of a machine like this one.
 */
bool jit_code_add_dump(struct jit_code *j, const uint8_t *bytes, size_t n);

/* Call it after the last addition and before the first jit_code_find(). */
void jit_code_ready(struct jit_code *j);

/* True if code at @addr was reported. */
bool jit_code_find(const struct jit_code *j, uint64_t addr,
		   struct jit_place *out);

#endif
