/* SPDX-License-Identifier: MIT */
/*
 * module_table - the objects of an address space, by address
 *
 * Filled from a list of mappings, by rising address:
 *
 *	module_table_begin(&t);
 *	for each mapping of a file from its beginning, at @start:
 *		module_table_take(&t, &memory, start);
 *	module_table_end(&t);
 *
 * One thread at a time fills it. Look-ups may run beside that, and see the
 * table that was complete before. One that is overtaken by two whole fillings
 * may name a wrong object; reading what that says does no harm.
 */
#ifndef COMDET_UNWIND_MODULE_TABLE_H
#define COMDET_UNWIND_MODULE_TABLE_H

#include <stdatomic.h>

#include "module.h"
#include "reader.h"

enum {
	MODULES_MAX = 1024,
};

struct module_table {
	struct unwind_module module[2][MODULES_MAX];
	_Atomic uint32_t count[2];
	_Atomic uint32_t current;
	_Atomic uint64_t generation; /* of the filling that is current */
	uint32_t taken;
};

void module_table_begin(struct module_table *t);

/*
 * Take in the object whose ELF header is at @start; ignored if there is none,
 * or no room. The headers are read through @memory and not trusted. Context:
 * any, handler included.
 */
void module_table_take(struct module_table *t,
		       const struct unwind_memory *memory, uint64_t start);

void module_table_end(struct module_table *t);

/* A value for unwind_space.find; @ctx is a struct module_table. */
bool module_table_find(void *ctx, uint64_t pc, struct unwind_module *out);

#endif
