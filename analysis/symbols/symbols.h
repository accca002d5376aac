/* SPDX-License-Identifier: MIT */
/*
 * symbols - turn addresses of a profiled process into names, offline
 *
 * The mapping that contains an address names a file. Its symbol table and DWARF
 * lines give the names; they may be in a separate debug file, found by build-id
 * under /usr/lib/debug, or through debuginfod if the user has set
 * DEBUGINFOD_URLS. A file with another build-id than the recorded one is not
 * used: then only module and offset are shown. Code that no file holds has the
 * names that its JIT compiler reported.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_SYMBOLS_H
#define COMDET_ANALYSIS_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_types.h"
#include "place.h"
#include "analysis/profile/profile.h"

struct symbols;

enum object_kind {
	OBJECT_STATIC,  /* a variable of a module */
	OBJECT_MODULE,  /* data of a module, without a symbol */
	OBJECT_HEAP,    /* the heap that brk extends */
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
	bool block; /* of the heap; start, size and offset are its */
	bool freed; /* it was, when the detection was made */
	struct place allocated; /* by the call there; module "?" if unknown */
	/* The calls that led there, innermost first (record -g). */
	const struct place *caller;
	size_t callers;
};

/*
 * With @lookup false it gives modules and offsets only. The profile is that of
 * @path, as for profile_load(); beside it is what JIT compilers said of their
 * code (jit_files.h).
 */
struct symbols *symbols_new(bool lookup, const char *path);
void symbols_free(struct symbols *s);

/* @generation means the same as in struct pair_row. */
void symbols_place(struct symbols *s, const struct process *process,
		   uint64_t ip, uint64_t generation, struct place *out);
/*
 * The same of an instruction that a table of the report shows, not of a call
 * that led to it: symbols_problem() then says why its line is not known.
 */
void symbols_site(struct symbols *s, const struct process *process, uint64_t ip,
		  uint64_t generation, struct place *out);
void symbols_object(struct symbols *s, const struct process *process,
		    uint64_t addr, uint64_t generation, struct object *out);

/* A type that the DWARF of a module describes. It lives as long as symbols. */
struct type_ref {
	struct module *module;
	const struct data_type *type;
	const char *name; /* NULL: it has none */
	uint64_t size;
	bool compound; /* it has members */
	bool library;  /* it is a library's own, as malloc's chunks are */
};

/* What an instruction accesses: a byte of an object of a type. */
struct typed_access {
	struct type_ref type;
	uint64_t offset; /* of the access from the start of its object */
	bool indexed;    /* something that is not known is added to it */
};

struct typed_variable {
	struct type_ref type;
	const char *name;
	uint64_t start; /* address in the process */
};

/* The type of what the instruction at @ip accesses; false: not known. */
bool symbols_access(struct symbols *s, const struct process *process,
		    uint64_t ip, uint64_t generation, struct typed_access *out);

/* The static variable at @addr with its type; false: not known. */
bool symbols_variable(struct symbols *s, const struct process *process,
		      uint64_t addr, uint64_t generation,
		      struct typed_variable *out);

/* dwarf_types_part(), dwarf_types_holds() and dwarf_types_same() */
bool symbols_part(const struct type_ref *type, uint64_t offset,
		  struct data_part *out);
bool symbols_holds(const struct type_ref *outer, uint64_t offset,
		   const struct type_ref *inner);
bool symbols_same_type(const struct type_ref *x, const struct type_ref *y);

/*
 * A message for the user, number @i from 0 on: about a file that is gone or has
 * changed, or about debug information that is missing. NULL after the last.
 * Valid until it is called with @i 0, after the last look-up.
 */
const char *symbols_problem(struct symbols *s, size_t i);

/* "counters+8", "heap", ...; valid as long as a result of safe_text. */
const char *object_text(const struct object *o);

/*
 * Order objects by the calls that allocated them, those of no known block
 * first. 0: the same calls, or no blocks.
 */
int object_compare_blocks(const struct object *x, const struct object *y);
const char *object_kind_text(enum object_kind kind);

#endif
