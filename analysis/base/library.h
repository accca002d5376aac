/* SPDX-License-Identifier: MIT */
/*
 * library - find the libraries and programs that reusetrack needs
 */
#ifndef COMDET_ANALYSIS_BASE_LIBRARY_H
#define COMDET_ANALYSIS_BASE_LIBRARY_H

#include <stdbool.h>

/*
 * The absolute path of library @name, looked up beside reusetrack and in
 * ../lib; malloc'ed, NULL if it is not found.
 */
char *library_path(const char *name);

/* True if a directory of PATH has an executable file of this name. */
bool in_path(const char *name);

#endif
