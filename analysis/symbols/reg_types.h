/* SPDX-License-Identifier: MIT */
/*
 * reg_types - what the registers of a function point to, and so what its
 * accesses touch
 *
 * DWARF says which variable is in which register at which instruction. The
 * types of these pointers are followed through moves, loads of members, lea
 * and additions, over all paths of the function: where two paths disagree,
 * nothing is known. This is what perf's data type profiling does for the
 * kernel.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_REG_TYPES_H
#define COMDET_ANALYSIS_SYMBOLS_REG_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_code.h"
#include "dwarf_types.h"

/* What a file knows. Addresses are those of DWARF. */
struct reg_types_file {
	struct dwarf_code *code;
	struct dwarf_types *types;
	/* @n bytes of code at @addr, NULL if there are not so many. */
	const uint8_t *(*bytes)(void *ctx, uint64_t addr, size_t n);
	void *ctx;
	uint64_t tls_bytes; /* of the TLS segment below fs; 0: not known */
};

/* A place of memory: a byte of an object of a type. */
struct typed_place {
	const struct data_type *type; /* not NULL */
	int64_t offset; /* from the start of one of these objects, perhaps of a
			   neighbour's in an array of them */
	bool indexed;   /* something is added that is no multiple of its size */
	bool fixed;     /* it is a static or a thread-local variable */
};

struct reg_types;

struct reg_types *reg_types_new(const struct reg_types_file *file);
void reg_types_free(struct reg_types *r);

/*
 * Find what the instruction at @ip accesses. False if that is not known, or if
 * the instruction has more than one operand in memory.
 */
bool reg_types_access(struct reg_types *r, uint64_t ip,
		      struct typed_place *out);

#endif
