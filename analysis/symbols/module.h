/* SPDX-License-Identifier: MIT */
/*
 * module - the symbols and DWARF of one ELF file, through libdwfl
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_MODULE_H
#define COMDET_ANALYSIS_SYMBOLS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_types.h"
#include "frame.h"
#include "reg_types.h"

enum module_state {
	MODULE_GOOD,
	MODULE_GONE,    /* cannot be opened; error says why */
	MODULE_CHANGED, /* another build-id */
	MODULE_NOT_ELF,
};

struct module;

/*
 * Open @path and compare its build-id with the @id_bytes bytes at @id; with 0
 * bytes it is unknown and not compared. Never fails: the state says what was
 * found.
 */
struct module *module_open(const char *path, const uint8_t *id,
			   size_t id_bytes);
void module_close(struct module *m);
enum module_state module_state(const struct module *m);
int module_error(const struct module *m);

/*
 * The address, as in the file's program headers, of what was mapped from
 * @file_offset. Where two segments share a page, @exec chooses one.
 */
bool module_vaddr(const struct module *m, uint64_t file_offset, bool exec,
		  uint64_t *vaddr);

/*
 * Fill in the frames of the instruction at @vaddr, innermost first: the
 * function that it was written in, then the functions that this one was inlined
 * into, each with the line of the call. Returns how many, at least one.
 */
int module_code(struct module *m, uint64_t vaddr,
		struct frame frame[FRAMES_MAX]);

/*
 * The report shows the instruction at @vaddr, in the file @file, or in NULL: an
 * unknown one. module_lack() then says what was missing.
 */
void module_shown(struct module *m, uint64_t vaddr, const char *file);

/*
 * What is missing in the debug information, in words: text @i from 0 on, to be
 * freed. NULL after the last.
 */
char *module_lack(struct module *m, int i);

/* The name of the variable that contains @vaddr, malloc'ed, or NULL. */
char *module_variable(struct module *m, uint64_t vaddr, uint64_t *start,
		      uint64_t *size);

/*
 * What the instruction at @vaddr accesses, by the types that DWARF knows. Types
 * live as long as the module.
 */
bool module_access(struct module *m, uint64_t vaddr, struct typed_place *out);

/* The variable of DWARF that contains @vaddr. */
bool module_data(struct module *m, uint64_t vaddr, struct data_variable *out);

/* dwarf_types_part() and dwarf_types_holds(), for types of this module. */
bool module_part(struct module *m, const struct data_type *type,
		 uint64_t offset, struct data_part *out);
bool module_holds(struct module *m, const struct data_type *outer,
		  uint64_t offset, const struct data_type *inner);

/* True if @type, of @m, is a library's own. */
bool module_library_type(const struct module *m, const struct data_type *type);

#endif
