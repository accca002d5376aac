/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types - types of data, their members, and static variables, from DWARF
 *
 * The file may be damaged or hostile: types may contain or name themselves, and
 * sizes may be absurd. Every walk has a limit; beyond it a type is unknown.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_DWARF_TYPES_H
#define COMDET_ANALYSIS_SYMBOLS_DWARF_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_types;

/* A type without typedefs and qualifiers. There is one of each. */
struct data_type {
	Dwarf_Die die;
	const char *name; /* "struct worker", or the typedef's; NULL: none */
	uint64_t size;    /* bytes; 0: unknown */
	bool pointer;     /* or a reference */
	bool compound;    /* it has members: structure, class, union */
	bool array;
};

/* A part of a variable or of a type: a member, or an element of an array. */
struct data_part {
	char *path;           /* ".stats.hits", "[3].x", ""; malloc'ed */
	uint64_t start, size; /* bytes from the start of the whole */
	const struct data_type *type;
	bool in_array;       /* the path has an index: others are alike */
	uint64_t array_from; /* then: where the outermost array begins */
};

/* A variable with a fixed address, or a fixed place in thread-local storage. */
struct data_variable {
	uint64_t start; /* address, or offset in the file's TLS segment */
	uint64_t size;
	const char *name;
	const struct data_type *type;
};

/* @dwarf outlives the result. */
struct dwarf_types *dwarf_types_new(Dwarf *dwarf);
void dwarf_types_free(struct dwarf_types *t);

/* The type that attribute DW_AT_type of @die names; NULL: none, or unknown. */
const struct data_type *dwarf_types_of(struct dwarf_types *t, Dwarf_Die *die);

/* What the pointer or reference @p points to; NULL if it is none. */
const struct data_type *dwarf_types_target(struct dwarf_types *t,
					   const struct data_type *p);

/* The elements of the array @a; NULL if it is none. */
const struct data_type *dwarf_types_element(struct dwarf_types *t,
					    const struct data_type *a);

/*
 * Find the innermost part of @type that contains the byte at @offset. It is
 * not looked for in types that libraries define: an atomic counter is one part.
 * False if no part contains the byte (padding). The caller frees out->path.
 */
bool dwarf_types_part(struct dwarf_types *t, const struct data_type *type,
		      uint64_t offset, struct data_part *out);

/*
 * The type of what begins at @offset of @type, in types of libraries too, and
 * is no part of anything smaller. NULL: nothing begins there.
 */
const struct data_type *dwarf_types_leaf(struct dwarf_types *t,
					 const struct data_type *type,
					 uint64_t offset);

/* True if a library made the type, and its members mean nothing to users. */
bool dwarf_types_of_library(const struct data_type *type);

/* True for one type, and for those of two units with one name and size. */
bool dwarf_types_same(const struct data_type *x, const struct data_type *y);

/*
 * True if @outer has an @inner at @offset: a member, or an element. */
bool dwarf_types_holds(struct dwarf_types *t, const struct data_type *outer,
		       uint64_t offset, const struct data_type *inner);

/* The static variable that contains @addr; NULL: none is known. */
const struct data_variable *dwarf_types_variable(struct dwarf_types *t,
						 uint64_t addr);
/* The same for thread-local variables, by the offset in the TLS segment. */
const struct data_variable *dwarf_types_tls(struct dwarf_types *t,
					    uint64_t offset);

#endif
