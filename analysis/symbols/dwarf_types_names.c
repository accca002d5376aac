/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types_names - the whole types of all units, by name
 *
 * A unit may only declare a type that another one defines.
 */
#include <stdlib.h>
#include <string.h>

#include "dwarf_types_internal.h"
#include "analysis/base/util.h"

enum {
	DIES_MAX = 4000000, /* looked at in one file */
};

static void list_type(struct dwarf_types *t, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (!name || die_has(die, DW_AT_declaration))
		return;
	t->whole = grow(t->whole, t->wholes, &t->whole_room, sizeof(*t->whole));
	t->whole[t->wholes++] = (struct named_type){ name, *die };
}

static void walk_below(struct dwarf_types *t, Dwarf_Die *parent, int wanted,
		       void (*visit)(struct dwarf_types *t, Dwarf_Die *die),
		       int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (t->dies++ > DIES_MAX)
			return;
		if (tag == wanted ||
		    (wanted == DW_TAG_structure_type && die_is_compound(tag)))
			visit(t, &die);
		if (tag == DW_TAG_namespace || tag == DW_TAG_module ||
		    die_is_compound(tag) || tag == DW_TAG_subprogram ||
		    tag == DW_TAG_lexical_block)
			walk_below(t, &die, wanted, visit, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

void dwarf_types_walk(struct dwarf_types *t, int tag,
		      void (*visit)(struct dwarf_types *t, Dwarf_Die *die))
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	t->dies = 0;
	while (!dwarf_get_units(t->dwarf, cu, &cu, NULL, &type, &die, &split))
		walk_below(t,
			   type == DW_UT_skeleton && split.cu ? &split : &die,
			   tag, visit, 0);
}

static int compare_names(const void *a, const void *b)
{
	const struct named_type *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void dwarf_types_whole(struct dwarf_types *t, Dwarf_Die *die)
{
	struct named_type key = { .name = dwarf_diename(die) };
	const struct named_type *found;

	if (!t->named) {
		t->named = true;
		dwarf_types_walk(t, DW_TAG_structure_type, list_type);
		if (t->wholes)
			qsort(t->whole, t->wholes, sizeof(*t->whole),
			      compare_names);
	}
	if (!key.name || !t->wholes)
		return;
	found = bsearch(&key, t->whole, t->wholes, sizeof(key), compare_names);
	if (found)
		*die = found->die;
}
