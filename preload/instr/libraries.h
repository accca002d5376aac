/* SPDX-License-Identifier: MIT */
/*
 * libraries - the copies of libcomdet-instr in this process
 */
#ifndef COMDET_PRELOAD_INSTR_LIBRARIES_H
#define COMDET_PRELOAD_INSTR_LIBRARIES_H

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

#endif
