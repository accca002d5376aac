/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types_list - the static variables of all units
 */
#include <stdlib.h>
#include <string.h>

#include "dwarf_types_internal.h"
#include "analysis/base/util.h"

/*
 * Go's linker writes an address as a block, as until DWARF 3, which libdw does
 * not take for an expression in DWARF 4.
 */
static bool address_in_block(Dwarf_Attribute *attr, uint64_t *at)
{
	Dwarf_Block block;

	if (dwarf_whatform(attr) == DW_FORM_exprloc ||
	    dwarf_formblock(attr, &block) || block.length != 9 ||
	    block.data[0] != DW_OP_addr)
		return false;
	memcpy(at, block.data + 1, 8);
	return true;
}

/* The address, or the offset in thread-local storage, of a variable. */
static bool fixed_place(Dwarf_Die *die, uint64_t *at, bool *tls)
{
	Dwarf_Attribute attr, addr;
	Dwarf_Op *op;
	size_t n;

	*tls = false;
	if (!dwarf_attr(die, DW_AT_location, &attr))
		return false;
	if (address_in_block(&attr, at))
		return true;
	if (dwarf_whatform(&attr) == DW_FORM_sec_offset ||
	    dwarf_whatform(&attr) == DW_FORM_loclistx ||
	    dwarf_getlocation(&attr, &op, &n) || !n)
		return false;
	*tls = n == 2 && (op[1].atom == DW_OP_GNU_push_tls_address ||
			  op[1].atom == DW_OP_form_tls_address);
	if (n != 1 && !*tls)
		return false;
	switch (op[0].atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
		*at = op[0].number;
		return *tls || op[0].atom == DW_OP_addr;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return !dwarf_getlocation_attr(&attr, op, &addr) &&
		       !dwarf_formaddr(&addr, at);
	default:
		return false;
	}
}

static void list_variable(struct dwarf_types *t, Dwarf_Die *die)
{
	const char *name;
	struct data_variable v = { .start = 0 };
	bool tls;

	if (!fixed_place(die, &v.start, &tls))
		return;
	name = dwarf_diename(die);
	v.type = name ? dwarf_types_of(t, die) : NULL;
	if (!v.type || !v.type->size || v.type->size > INT64_MAX)
		return;
	v.name = name;
	v.size = v.type->size;
	if (tls) {
		t->tls = grow(t->tls, t->tlss, &t->tls_room, sizeof(*t->tls));
		t->tls[t->tlss++] = v;
	} else {
		t->variable = grow(t->variable, t->variables, &t->variable_room,
				   sizeof(*t->variable));
		t->variable[t->variables++] = v;
	}
}

static void list(struct dwarf_types *t)
{
	if (t->listed)
		return;
	t->listed = true;
	dwarf_types_walk(t, DW_TAG_variable, list_variable);
	for (size_t i = 0; i < t->variables; i++)
		ranges_add(&t->at, t->variable[i].start,
			   t->variable[i].start + t->variable[i].size,
			   UINT64_MAX - t->variable[i].size, i);
	for (size_t i = 0; i < t->tlss; i++)
		ranges_add(&t->at_tls, t->tls[i].start,
			   t->tls[i].start + t->tls[i].size,
			   UINT64_MAX - t->tls[i].size, i);
	ranges_flatten(&t->at);
	ranges_flatten(&t->at_tls);
}

const struct data_variable *dwarf_types_variable(struct dwarf_types *t,
						 uint64_t addr)
{
	const struct range *r;

	list(t);
	r = ranges_find(&t->at, addr);
	return r ? &t->variable[r->value] : NULL;
}

const struct data_variable *dwarf_types_tls(struct dwarf_types *t,
					    uint64_t offset)
{
	const struct range *r;

	list(t);
	r = ranges_find(&t->at_tls, offset);
	return r ? &t->tls[r->value] : NULL;
}
