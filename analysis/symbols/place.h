/* SPDX-License-Identifier: MIT */
/*
 * place - where an instruction is: its module and, if known, its source line
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_PLACE_H
#define COMDET_ANALYSIS_SYMBOLS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * An instruction. Strings live as long as the struct symbols. Function, file
 * and line are the innermost ones outside of libraries (library_code.h): what
 * the user wrote, rather than what a library inlined there.
 */
struct place {
	const char *module;   /* path, "[vdso]", "[anonymous code]", or "?" */
	uint64_t offset;      /* from the module's load address */
	const char *function; /* NULL: unknown */
	const char *file;     /* as given to the compiler; NULL: unknown */
	int line;             /* 0: unknown */
	bool jit;             /* a JIT compiler made it, and named it */
	/* The instruction's own place if it differs, else NULL and 0. */
	const char *inner_function, *inner_file;
	int inner_line;
};

/* Order by module and offset. */
int place_compare(const struct place *x, const struct place *y);

/*
 * Order by module, file, line and function; 0 means the same source line, or
 * where no file is known the same instruction, of a JIT compiler the same
 * function.
 */
int place_compare_lines(const struct place *x, const struct place *y);

/*
 * "foo.c:41", "foo.c", "a.out+0x1139", or the function that a JIT compiler
 * named; valid as long as safe_text's.
 */
const char *place_text(const struct place *p);

#endif
