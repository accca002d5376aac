/* SPDX-License-Identifier: MIT */
/*
 * place - where an instruction is: its module and, if known, its source line
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_PLACE_H
#define COMDET_ANALYSIS_SYMBOLS_PLACE_H

#include <stdint.h>

/*
 * An instruction. Strings live as long as the struct symbols. Function, file
 * and line are the innermost ones outside of system headers: what the user
 * wrote, rather than what a library inlined there.
 */
struct place {
	const char *module;   /* path, "[vdso]", or "?" */
	uint64_t offset;      /* from the module's load address */
	const char *function; /* NULL: unknown */
	const char *file;     /* as given to the compiler; NULL: unknown */
	int line;             /* 0: unknown */
	/* The instruction's own place if it differs, else NULL and 0. */
	const char *inner_function, *inner_file;
	int inner_line;
};

/* Order by module and offset. */
int place_compare(const struct place *x, const struct place *y);

/*
 * Order by module, file, line and function; 0 means the same source line, or
 * the same instruction where no file is known.
 */
int place_compare_lines(const struct place *x, const struct place *y);

/* "foo.c:41", "foo.c" or "a.out+0x1139"; valid as long as safe_text's. */
const char *place_text(const struct place *p);

#endif
