/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types - types of data, their members, and static variables, from DWARF
 *
 * One pass over the units, made when first needed, lists the static variables
 * and the whole types that have names: a unit may only declare a type that
 * another one defines.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_types_internal.h"
#include "analysis/base/util.h"

struct dwarf_types *dwarf_types_new(Dwarf *dwarf)
{
	struct dwarf_types *t = xcalloc(1, sizeof(*t));

	t->dwarf = dwarf;
	return t;
}

void dwarf_types_free(struct dwarf_types *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->slots; i++)
		free(t->type[i]);
	for (size_t i = 0; i < t->keeps; i++)
		free(t->kept[i]);
	free(t->type);
	free(t->whole);
	free(t->variable);
	free(t->tls);
	free(t->kept);
	ranges_release(&t->at);
	ranges_release(&t->at_tls);
	free(t);
}

enum {
	ALIASES_MAX = 64, /* typedefs and qualifiers of one type */
};

static bool follow(Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) &&
	       dwarf_formref_die(&attr, to);
}

/* The whole type that @die, a declaration, stands for. */
static void complete(struct dwarf_types *t, Dwarf_Die *die)
{
	Dwarf_Die whole;

	if (follow(die, DW_AT_signature, &whole)) {
		*die = whole;
		return;
	}
	dwarf_types_whole(t, die);
}

/* Without typedefs and qualifiers; the last typedef's name goes to *@alias. */
static bool peel(Dwarf_Die *die, const char **alias)
{
	for (int i = 0; i < ALIASES_MAX; i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
			*alias = dwarf_diename(die);
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_shared_type:
		case DW_TAG_immutable_type:
			break;
		default:
			return true;
		}
		if (!follow(die, DW_AT_type, die))
			return false; /* void, or damaged */
	}
	return false;
}

int dwarf_types_dimensions(Dwarf_Die *array, uint64_t n[DIMENSIONS_MAX])
{
	Dwarf_Die die;
	int dims = 0, seen = 0;

	if (dwarf_child(array, &die))
		return 0;
	do {
		uint64_t value;

		if (seen++ > 2 * DIMENSIONS_MAX || dims == DIMENSIONS_MAX)
			return 0;
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (die_number(&die, DW_AT_count, &value))
			n[dims++] = value;
		else if (die_number(&die, DW_AT_upper_bound, &value) &&
			 value < INT64_MAX)
			n[dims++] = value + 1;
		else
			n[dims++] = 0;
	} while (!dwarf_siblingof(&die, &die));
	return dims;
}

static uint64_t array_size(struct dwarf_types *t, Dwarf_Die *array)
{
	const struct data_type *element = dwarf_types_of(t, array);
	uint64_t n[DIMENSIONS_MAX], size = element ? element->size : 0;
	int dims = dwarf_types_dimensions(array, n);

	if (!dims)
		return 0;
	for (int i = 0; i < dims; i++)
		if (__builtin_mul_overflow(size, n[i], &size))
			return 0;
	return size;
}

/* "struct worker" in C, "worker" in languages where that is its name. */
static const char *type_name(struct dwarf_types *t, Dwarf_Die *die,
			     const char *alias)
{
	const char *name = dwarf_diename(die), *word;
	Dwarf_Die unit;
	char *text;
	int lang;

	if (!name)
		return alias;
	if (!die_is_compound(dwarf_tag(die)) ||
	    !dwarf_diecu(die, &unit, NULL, NULL))
		return name;
	lang = dwarf_srclang(&unit);
	if (lang != DW_LANG_C && lang != DW_LANG_C89 && lang != DW_LANG_C99 &&
	    lang != DW_LANG_C11)
		return name;
	word = dwarf_tag(die) == DW_TAG_union_type ? "union" : "struct";
	text = xasprintf("%s %s", word, name);
	t->kept = grow(t->kept, t->keeps, &t->keep_room, sizeof(*t->kept));
	t->kept[t->keeps++] = text;
	return text;
}

static void describe(struct dwarf_types *t, struct data_type *type,
		     const char *alias)
{
	int tag = dwarf_tag(&type->die);

	type->compound = die_is_compound(tag);
	type->array = tag == DW_TAG_array_type;
	type->pointer = tag == DW_TAG_pointer_type ||
			tag == DW_TAG_reference_type ||
			tag == DW_TAG_rvalue_reference_type;
	type->name = type_name(t, &type->die, alias);
	if (!die_number(&type->die, DW_AT_byte_size, &type->size))
		type->size = type->pointer ? 8
			     : type->array ? array_size(t, &type->die)
					   : 0;
}

static size_t slot_of(const struct dwarf_types *t, const void *die)
{
	size_t i = ((uintptr_t)die * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	for (i %= t->slots; t->type[i] && t->type[i]->die.addr != die;)
		i = (i + 1) % t->slots;
	return i;
}

static void make_room(struct dwarf_types *t)
{
	struct data_type **old = t->type;
	size_t n = t->slots;

	if (t->types * 2 < t->slots)
		return;
	t->slots = n ? 2 * n : 256;
	t->type = xcalloc(t->slots, sizeof(*t->type));
	for (size_t i = 0; i < n; i++)
		if (old[i])
			t->type[slot_of(t, old[i]->die.addr)] = old[i];
	free(old);
}

const struct data_type *dwarf_types_of(struct dwarf_types *t, Dwarf_Die *die)
{
	const char *alias = NULL;
	struct data_type *type;
	Dwarf_Die to;
	size_t i;

	if (t->depth > DEPTH_MAX || !follow(die, DW_AT_type, &to) ||
	    !peel(&to, &alias))
		return NULL;
	if (die_has(&to, DW_AT_declaration))
		complete(t, &to);
	make_room(t);
	i = slot_of(t, to.addr);
	if (t->type[i])
		return t->type[i];
	/* It is there, without a size, while its own parts are looked at. */
	type = xcalloc(1, sizeof(*type));
	type->die = to;
	t->type[i] = type;
	t->types++;
	t->depth++;
	describe(t, type, alias);
	t->depth--;
	return type;
}

const struct data_type *dwarf_types_target(struct dwarf_types *t,
					   const struct data_type *p)
{
	Dwarf_Die die;

	if (!p || !p->pointer)
		return NULL;
	die = p->die;
	return dwarf_types_of(t, &die);
}

const struct data_type *dwarf_types_element(struct dwarf_types *t,
					    const struct data_type *a)
{
	Dwarf_Die die;

	if (!a || !a->array)
		return NULL;
	die = a->die;
	return dwarf_types_of(t, &die);
}
