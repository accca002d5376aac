/* SPDX-License-Identifier: MIT */
/*
 * library - where the libraries and programs are that reusetrack needs
 */
#ifndef COMDET_ANALYSIS_BASE_LIBRARY_H
#define COMDET_ANALYSIS_BASE_LIBRARY_H

#include <stdbool.h>

/*
 * The absolute path of library @name, beside reusetrack or in ../lib;
 * malloc'ed, NULL if it is nowhere.
 */
char *library_path(const char *name);

/* Whether PATH has an executable file of this name. */
bool in_path(const char *name);

#endif
