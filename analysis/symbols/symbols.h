/* SPDX-License-Identifier: MIT */
/*
 * symbols - from addresses of a profiled process to names, offline
 *
 * The mapping of the address names a file; the file's symbol table and DWARF
 * lines (its own or a separate debug file's, found by build-id under
 * /usr/lib/debug, or through debuginfod if the user has set
 * DEBUGINFOD_URLS) give the rest. A file whose build-id is not the
 * recorded one is not believed: module and offset are all that is shown then.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_SYMBOLS_H
#define COMDET_ANALYSIS_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "place.h"
#include "analysis/profile/profile.h"

struct symbols;

enum object_kind {
	OBJECT_STATIC,  /* a variable of a module */
	OBJECT_MODULE,  /* data of a module, no symbol for it */
	OBJECT_HEAP,    /* the heap of brk */
	OBJECT_STACK,   /* the main thread's stack */
	OBJECT_MAPPED,  /* a file, shared memory */
	OBJECT_UNNAMED, /* memory from mmap: heaps and threads' stacks */
};

struct object {
	const char *module; /* NULL for unnamed memory */
	const char *name;   /* of the variable; else NULL */
	uint64_t start;     /* address of the variable, or of the mapping */
	uint64_t size;      /* of the variable; 0: unknown */
	uint64_t offset;    /* of the address from start */
	enum object_kind kind;
};

/* With @lookup false modules and offsets alone are given. */
struct symbols *symbols_new(bool lookup);
void symbols_free(struct symbols *s);

/* @generation as in struct pair_row. */
void symbols_place(struct symbols *s, const struct process *process,
		   uint64_t ip, uint64_t generation, struct place *out);
void symbols_object(struct symbols *s, const struct process *process,
		    uint64_t addr, uint64_t generation, struct object *out);

/*
 * What the user should hear about module number @i, counted from 0: that its
 * file is gone or another one by now. NULL when all were told.
 */
const char *symbols_problem(const struct symbols *s, size_t i);

/* "counters+8", "heap", ...; a string of safe_text's kind. */
const char *object_text(const struct object *o);
const char *object_kind_text(enum object_kind kind);

#endif
