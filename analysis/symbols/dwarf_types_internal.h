/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types_internal - what the files of dwarf_types share
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_DWARF_TYPES_INTERNAL_H
#define COMDET_ANALYSIS_SYMBOLS_DWARF_TYPES_INTERNAL_H

#include <dwarf.h>

#include "dwarf_types.h"
#include "ranges.h"

enum {
	DEPTH_MAX = 32,     /* of members in members, and of scopes */
	DIMENSIONS_MAX = 8, /* of an array */
};

struct named_type {
	const char *name;
	Dwarf_Die die;
};

struct dwarf_types {
	Dwarf *dwarf;
	struct data_type **type; /* hash table by the address of the DIE */
	size_t types, slots;
	bool listed, named;
	size_t dies;
	struct named_type *whole; /* ordered by name */
	size_t wholes, whole_room;
	struct data_variable *variable, *tls;
	size_t variables, variable_room, tlss, tls_room;
	struct ranges at, at_tls;
	char **kept;
	size_t keeps, keep_room;
	int depth; /* of types that are being described */
};

/*
 * Call @visit with each DIE that has @tag, wherever it is nested. The tag of
 * structures stands for classes and unions too.
 */
void dwarf_types_walk(struct dwarf_types *t, int tag,
		      void (*visit)(struct dwarf_types *t, Dwarf_Die *die));

/* Replace @die, a declaration, by the type of that name in any unit. */
void dwarf_types_whole(struct dwarf_types *t, Dwarf_Die *die);

/* The elements of each dimension of an array; 0: unknown. Returns how many. */
int dwarf_types_dimensions(Dwarf_Die *array, uint64_t n[DIMENSIONS_MAX]);

static inline bool die_is_compound(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

static inline bool die_has(Dwarf_Die *die, unsigned name)
{
	return dwarf_hasattr(die, name);
}

static inline bool die_number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, value);
}

#endif
