/* SPDX-License-Identifier: MIT */
/*
 * library_code - tell the user's source files from those of libraries
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_LIBRARY_CODE_H
#define COMDET_ANALYSIS_SYMBOLS_LIBRARY_CODE_H

#include <stdbool.h>

#include "place.h"

/*
 * True if @path, as a compiler recorded it, belongs to a compiler, the system
 * or a package manager's store of libraries. False for NULL.
 */
bool is_library_code(const char *path);

/* The same of an instruction, whose module tells where no file is known. */
bool is_library_place(const struct place *p);

#endif
