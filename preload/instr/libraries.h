/* SPDX-License-Identifier: MIT */
/*
 * libraries - the copies of libcomdet-instr in this process
 */
#ifndef COMDET_PRELOAD_INSTR_LIBRARIES_H
#define COMDET_PRELOAD_INSTR_LIBRARIES_H

#include <stdbool.h>

#include "runtime/instr.h"

enum instr_found {
	INSTR_NONE,
	INSTR_HOOKS,     /* ours: the source can be used */
	INSTR_TOO_NEW,   /* ours, of another version */
	INSTR_SANITIZER, /* ThreadSanitizer itself */
};

/* Find the copies, and say what there is. Context: set-up. */
enum instr_found instr_libraries_find(void);

/* How many entries the list has. Any context. */
int instr_libraries(void);

/* Entry @i; NULL: that copy was unloaded. Any context. */
struct instr_library *instr_library(int i);

/*
 * Add @l, which a library that the program loads brought; false if it is of
 * another version or there is no room. Context: the loader, under its lock.
 */
bool instr_libraries_add(struct instr_library *l);
/* True if @l was added so, and not removed. */
bool instr_libraries_was_added(const struct instr_library *l);
void instr_libraries_remove(const struct instr_library *l);

#endif
