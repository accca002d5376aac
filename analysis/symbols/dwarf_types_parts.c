/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types_parts - members of types, and elements of arrays
 */
#include <stdlib.h>
#include <string.h>

#include "dwarf_types_internal.h"
#include "library_code.h"
#include "analysis/base/util.h"

enum {
	MEMBERS_MAX = 65536,      /* of one structure */
	EMPTY_MEMBERS_MAX = 1000, /* of classes without members of their own */
	PATH_BYTES_MAX = 400,     /* of a part's path */
};

struct walk {
	char path[PATH_BYTES_MAX];
	size_t used;
	struct data_part *out;
};

static void add_text(struct walk *w, const char *before, const char *text,
		     const char *after)
{
	int n = snprintf(w->path + w->used, sizeof(w->path) - w->used, "%s%s%s",
			 before, text, after);

	w->used += n > 0 ? (size_t)n : 0;
	if (w->used >= sizeof(w->path))
		w->used = sizeof(w->path) - 1;
}

/* The first bit of a bit-field, from the start of the structure. */
static bool first_bit(Dwarf_Die *m, uint64_t bits, uint64_t size, uint64_t *at)
{
	uint64_t byte = 0, unit = size, offset;

	if (die_number(m, DW_AT_data_bit_offset, at))
		return *at < INT64_MAX;
	/* DWARF 2 and 3 count from the most significant bit of a unit. */
	if (!die_number(m, DW_AT_bit_offset, &offset))
		return false;
	die_number(m, DW_AT_data_member_location, &byte);
	die_number(m, DW_AT_byte_size, &unit);
	if (byte >= INT64_MAX / 8 || unit > 16 || offset + bits > 8 * unit)
		return false;
	*at = 8 * byte + 8 * unit - offset - bits;
	return true;
}

/* Where the member begins, and how many bytes it has. */
static bool member_place(struct dwarf_types *t, Dwarf_Die *m, uint64_t *at,
			 uint64_t *size, const struct data_type **type)
{
	uint64_t bits, first;

	*at = 0;
	*type = dwarf_types_of(t, m);
	if (!*type)
		return false;
	*size = (*type)->size;
	if (die_number(m, DW_AT_bit_size, &bits) && bits && bits <= 128 &&
	    first_bit(m, bits, *size, &first)) {
		*at = first / 8;
		*size = (first + bits + 7) / 8 - *at;
		return true;
	}
	if (!die_has(m, DW_AT_data_member_location))
		return true;
	return die_number(m, DW_AT_data_member_location, at) && *at < INT64_MAX;
}

/* True for a member of the objects themselves: no static one. */
static bool is_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_member && !die_has(die, DW_AT_external) &&
		!die_has(die, DW_AT_declaration)) ||
	       tag == DW_TAG_inheritance;
}

/*
 * True for a class without members. It has a byte all the same; as a base, it
 * shares that byte with the first member of the object, as the allocator of a
 * vector and the deleter of a unique_ptr do. Looks at *@left members.
 */
static bool is_empty(struct dwarf_types *t, const struct data_type *type,
		     int *left)
{
	Dwarf_Die parent = type->die, die;
	const struct data_type *member;
	uint64_t at, size;

	if (!type->compound || !type->size)
		return false; /* a mere declaration has no size */
	if (dwarf_child(&parent, &die))
		return true;
	while ((*left)-- > 0) {
		if (is_member(&die) &&
		    (!member_place(t, &die, &at, &size, &member) ||
		     !is_empty(t, member, left)))
			return false;
		if (dwarf_siblingof(&die, &die))
			return true;
	}
	return false;
}

static bool has_no_members(struct dwarf_types *t, const struct data_type *type)
{
	int left = EMPTY_MEMBERS_MAX;

	return is_empty(t, type, &left);
}

/* Go into the member of *@type that contains *@offset. */
static bool into_member(struct dwarf_types *t, struct walk *w,
			const struct data_type **type, uint64_t *offset)
{
	Dwarf_Die parent = (*type)->die, die, found;
	uint64_t at, size, found_at = 0, found_size = 0;
	const struct data_type *member, *found_type = NULL;
	const char *name;

	if (dwarf_child(&parent, &die))
		return false;
	for (int n = 0; n < MEMBERS_MAX; n++) {
		if (is_member(&die) &&
		    member_place(t, &die, &at, &size, &member) &&
		    *offset >= at &&
		    (*offset - at < size || (!size && member->array)) &&
		    !has_no_members(t, member)) {
			found = die;
			found_at = at;
			found_size = size;
			found_type = member;
			/* A flexible array gives way to what lies there. */
			if (size)
				break;
		}
		if (dwarf_siblingof(&die, &die))
			break;
	}
	if (!found_type)
		return false;
	name = dwarf_tag(&found) == DW_TAG_member ? dwarf_diename(&found)
						  : NULL;
	if (name)
		add_text(w, ".", name, "");
	*offset -= found_at;
	*type = found_type;
	w->out->start += found_at;
	w->out->size = found_size;
	return true;
}

static bool into_element(struct dwarf_types *t, struct walk *w,
			 const struct data_type **type, uint64_t *offset)
{
	const struct data_type *element = dwarf_types_element(t, *type);
	uint64_t n[DIMENSIONS_MAX], index, below = 1;
	Dwarf_Die die = (*type)->die;
	int dims = dwarf_types_dimensions(&die, n);

	if (!element || !element->size || !dims)
		return false;
	index = *offset / element->size;
	for (int i = 1; i < dims; i++)
		if (!n[i] || __builtin_mul_overflow(below, n[i], &below))
			return false;
	if (!w->out->in_array)
		w->out->array_from = w->out->start;
	w->out->in_array = true;
	w->out->start += index * element->size;
	w->out->size = element->size;
	*offset %= element->size;
	for (int i = 0; i < dims; i++) {
		char text[32];
		uint64_t here = index / below;

		if (n[i] && here >= n[i])
			return false;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)here);
		add_text(w, "[", text, "]");
		index %= below;
		below /= i + 1 < dims ? n[i + 1] : 1;
	}
	*type = element;
	return true;
}

static const char *const whole_in_rust[] = { "Atomic", "UnsafeCell", "Cell<",
					     "SyncUnsafeCell" };

/*
 * The file that declares @die, or NULL. dwarf_decl_file() would end the program
 * where a unit has no table of files.
 */
static const char *declared_in(Dwarf_Die *die)
{
	Dwarf_Files *files;
	uint64_t file;
	Dwarf_Die unit;
	size_t n;

	if (!die_number(die, DW_AT_decl_file, &file) ||
	    !dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &n) || file >= n)
		return NULL;
	return dwarf_filesrc(files, file, NULL, NULL);
}

bool dwarf_types_of_library(const struct data_type *type)
{
	Dwarf_Die die = type->die, unit;

	if (!type->compound)
		return false;
	if (dwarf_diecu(&die, &unit, NULL, NULL) &&
	    dwarf_srclang(&unit) == DW_LANG_Rust)
		for (size_t i = 0;
		     type->name && i < sizeof(whole_in_rust) / sizeof(char *);
		     i++)
			if (!strncmp(type->name, whole_in_rust[i],
				     strlen(whole_in_rust[i])))
				return true;
	return is_library_code(declared_in(&die));
}

static bool find_part(struct dwarf_types *t, const struct data_type *type,
		      uint64_t offset, bool into_libraries,
		      struct data_part *out)
{
	struct walk w = { .out = out };
	bool inside = true;

	memset(out, 0, sizeof(*out));
	out->size = type->size;
	if (type->size && offset >= type->size)
		return false;
	for (int depth = 0; depth < DEPTH_MAX && inside; depth++) {
		if (!into_libraries && dwarf_types_of_library(type))
			break;
		if (type->array)
			inside = into_element(t, &w, &type, &offset);
		else if (type->compound)
			inside = into_member(t, &w, &type, &offset);
		else
			break;
	}
	if (!inside || w.out->start > INT64_MAX)
		return false;
	out->type = type;
	out->path = xstrdup(w.path);
	return true;
}

bool dwarf_types_part(struct dwarf_types *t, const struct data_type *type,
		      uint64_t offset, struct data_part *out)
{
	return find_part(t, type, offset, false, out);
}

const struct data_type *dwarf_types_leaf(struct dwarf_types *t,
					 const struct data_type *type,
					 uint64_t offset)
{
	struct data_part part;

	if (!find_part(t, type, offset, true, &part))
		return NULL;
	free(part.path);
	return part.start == offset ? part.type : NULL;
}

bool dwarf_types_same(const struct data_type *x, const struct data_type *y)
{
	return x == y ||
	       (x->name && y->name && x->size == y->size &&
		x->compound == y->compound && !strcmp(x->name, y->name));
}

bool dwarf_types_holds(struct dwarf_types *t, const struct data_type *outer,
		       uint64_t offset, const struct data_type *inner)
{
	struct data_part part;
	struct walk w = { .out = &part };
	bool inside = true;

	memset(&part, 0, sizeof(part));
	for (int depth = 0; depth < DEPTH_MAX && inside; depth++) {
		if (!offset && depth && dwarf_types_same(outer, inner))
			return true;
		if (outer->array)
			inside = into_element(t, &w, &outer, &offset);
		else
			inside = outer->compound &&
				 into_member(t, &w, &outer, &offset);
	}
	return false;
}
