/* SPDX-License-Identifier: MIT */
/*
 * dwarf_code - the source lines and functions of instructions, from DWARF
 *
 * One pass over the units gives their ranges. A unit's functions are listed
 * when an address in it is first asked for. dwarf_getscopes() would not do:
 * it never looks into namespaces, where rustc and clang put functions.
 */
#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_code.h"
#include "demangle.h"
#include "ranges.h"
#include "analysis/base/util.h"

enum {
	DEPTH_MAX = 200 /* of nested DIEs, in a file that may be damaged */
};

/* A file's name in DWARF, and with the directory of the compilation. */
struct file {
	const char *given;
	char *whole;
};

struct unit {
	Dwarf_Die die;     /* with the line table */
	struct file *file; /* those asked for whose names are relative */
	size_t files, file_room;
	bool listed;
	bool split; /* without the file that it names */
	bool shown; /* an instruction of it is */
	Dwarf_Die *function;
	size_t functions, room;
	struct ranges code; /* value: index of the function */
};

struct dwarf_code {
	uint64_t lowest;
	struct unit *unit;
	size_t units, room;
	struct ranges code; /* value: index of the unit */
};

/* Add the ranges of @die; the shortest has the highest rank. */
static bool add_ranges(const struct dwarf_code *d, struct ranges *r,
		       Dwarf_Die *die, size_t value)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	size_t before = r->n;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start >= d->lowest && start < end)
			ranges_add(r, start, end, UINT64_MAX - (end - start),
				   value);
	return r->n > before;
}

/* A unit without ranges, as an assembler may write: those of its line table. */
static void add_line_ranges(const struct dwarf_code *d, struct ranges *r,
			    Dwarf_Die *die, size_t value)
{
	Dwarf_Addr start = 0, end;
	Dwarf_Lines *lines;
	bool open = false;
	size_t n;

	if (dwarf_getsrclines(die, &lines, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		bool ends = false;

		if (!l || dwarf_lineaddr(l, &end) ||
		    dwarf_lineendsequence(l, &ends))
			continue;
		if (!open)
			start = end;
		open = !ends;
		if (ends && start >= d->lowest && start < end)
			ranges_add(r, start, end, UINT64_MAX - (end - start),
				   value);
	}
}

struct dwarf_code *dwarf_code_new(Dwarf *dwarf, uint64_t lowest)
{
	struct dwarf_code *d = xcalloc(1, sizeof(*d));
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	d->lowest = lowest;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		size_t i = d->units;

		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		d->unit = grow(d->unit, i, &d->room, sizeof(*d->unit));
		d->unit[d->units++] = (struct unit){ .die = die };
		if (!add_ranges(d, &d->code, &die, i))
			add_line_ranges(d, &d->code, &die, i);
	}
	ranges_flatten(&d->code);
	return d;
}

void dwarf_code_free(struct dwarf_code *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->units; i++) {
		for (size_t k = 0; k < d->unit[i].files; k++)
			free(d->unit[i].file[k].whole);
		free(d->unit[i].file);
		free(d->unit[i].function);
		ranges_release(&d->unit[i].code);
	}
	free(d->unit);
	ranges_release(&d->code);
	free(d);
}

/* True if functions with code may be below a DIE of this kind. */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static void list_functions(const struct dwarf_code *d, struct unit *u,
			   Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (!holds_functions(tag))
			continue;
		if (tag == DW_TAG_subprogram &&
		    add_ranges(d, &u->code, &die, u->functions)) {
			u->function = grow(u->function, u->functions, &u->room,
					   sizeof(*u->function));
			u->function[u->functions++] = die;
		}
		list_functions(d, u, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/* The functions of a unit may be in a file of their own (-gsplit-dwarf). */
static void list_unit(const struct dwarf_code *d, struct unit *u)
{
	Dwarf_Die tree = u->die, split;
	uint8_t type;

	u->listed = true;
	if (!dwarf_cu_info(u->die.cu, NULL, &type, NULL, &split, NULL, NULL,
			   NULL) &&
	    type == DW_UT_skeleton) {
		u->split = !split.cu;
		if (split.cu)
			tree = split;
	}
	list_functions(d, u, &tree, 0);
	ranges_flatten(&u->code);
}

/* The inlined functions around an address, outermost first. */
struct chain {
	Dwarf_Die die[FRAMES_MAX - 1];
	int n;
};

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) ||
	       dwarf_hasattr(die, DW_AT_ranges);
}

static bool follow(Dwarf_Die *parent, Dwarf_Addr addr, struct chain *c,
		   int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || c->n == FRAMES_MAX - 1 ||
	    dwarf_child(parent, &die))
		return false;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			if (dwarf_haspc(&die, addr) <= 0)
				break;
			c->die[c->n++] = die;
			follow(&die, addr, c, depth + 1);
			return true;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if ((!has_code(&die) || dwarf_haspc(&die, addr) > 0) &&
			    follow(&die, addr, c, depth + 1))
				return true;
		}
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
			       dwarf_attr_integrate(
				       die, DW_AT_MIPS_linkage_name, &attr)
		       ? dwarf_formstring(&attr)
		       : NULL;
}

/* Names of C are as they stand. */
static bool is_c(struct unit *u)
{
	switch (dwarf_srclang(&u->die)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

static char *die_name(Dwarf_Die *die)
{
	const char *name = linkage_name(die);

	if (!name)
		name = dwarf_diename(die);
	return name ? demangle(name) : NULL;
}

/* "" if @die has no such attribute. */
static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *text =
		dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;

	return text ? text : "";
}

/* @name, from the directory of the compilation if it is relative. */
static const char *whole_name(struct unit *u, const char *name)
{
	const char *dir;
	size_t n;

	if (!name || name[0] == '/')
		return name;
	for (size_t i = 0; i < u->files; i++)
		if (u->file[i].given == name)
			return u->file[i].whole;
	dir = text_of(&u->die, DW_AT_comp_dir);
	/* libdw puts it before the names of files in that very directory. */
	n = strlen(dir);
	if (!n || (!strncmp(name, dir, n) && name[n] == '/'))
		return name;
	u->file = grow(u->file, u->files, &u->file_room, sizeof(*u->file));
	u->file[u->files] =
		(struct file){ name, xasprintf("%s/%s", dir, name) };
	return u->file[u->files++].whole;
}

/* Put the place where the inlined function @die was called into @f. */
static void call_site(struct unit *u, Dwarf_Die *die, struct frame *f)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Die cu;
	Dwarf_Word n;
	size_t count;

	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &n))
		f->line = n <= INT_MAX ? (int)n : 0;
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &n) &&
	    dwarf_diecu(die, &cu, NULL, NULL) &&
	    !dwarf_getsrcfiles(&cu, &files, &count) && n < count)
		f->file = whole_name(u, dwarf_filesrc(files, n, NULL, NULL));
}

int dwarf_code_frames(struct dwarf_code *d, uint64_t addr,
		      struct frame frame[FRAMES_MAX], bool *bare)
{
	const struct range *in = ranges_find(&d->code, addr);
	struct unit *u = in ? &d->unit[in->value] : NULL;
	struct chain chain = { .n = 0 };
	Dwarf_Line *l;
	int n = 0;

	if (!u)
		return 0;
	if (!u->listed)
		list_unit(d, u);
	l = dwarf_getsrc_die(&u->die, addr);
	if (l) {
		frame[0].file = whole_name(u, dwarf_linesrc(l, NULL, NULL));
		if (dwarf_lineno(l, &frame[0].line))
			frame[0].line = 0;
	}
	in = ranges_find(&u->code, addr);
	if (!in)
		return 0;
	follow(&u->function[in->value], addr, &chain, 0);
	while (chain.n--) {
		frame[n++].function = die_name(&chain.die[chain.n]);
		call_site(u, &chain.die[chain.n], &frame[n]);
	}
	frame[n++].function = die_name(&u->function[in->value]);
	*bare = !is_c(u) && !linkage_name(&u->function[in->value]);
	return n;
}

bool dwarf_code_function(struct dwarf_code *d, uint64_t addr,
			 Dwarf_Die *function)
{
	const struct range *in = ranges_find(&d->code, addr);
	struct unit *u = in ? &d->unit[in->value] : NULL;

	if (!u)
		return false;
	if (!u->listed)
		list_unit(d, u);
	in = ranges_find(&u->code, addr);
	if (in)
		*function = u->function[in->value];
	return in;
}

void dwarf_code_shown(struct dwarf_code *d, uint64_t addr)
{
	const struct range *in = ranges_find(&d->code, addr);

	if (in)
		d->unit[in->value].shown = true;
}

size_t dwarf_code_split(const struct dwarf_code *d, const char **name,
			const char **dir)
{
	size_t n = 0;

	for (size_t i = 0; i < d->units; i++) {
		struct unit *u = &d->unit[i];

		if (!u->shown || !u->split || n++)
			continue;
		*name = text_of(&u->die, DW_AT_dwo_name);
		if (!**name)
			*name = text_of(&u->die, DW_AT_GNU_dwo_name);
		*dir = text_of(&u->die, DW_AT_comp_dir);
	}
	return n;
}
