/* SPDX-License-Identifier: MIT */
/*
 * preload_list - the libraries that LD_PRELOAD names
 */
#ifndef COMDET_PRELOAD_CORE_PRELOAD_LIST_H
#define COMDET_PRELOAD_CORE_PRELOAD_LIST_H

#include <stdbool.h>

/*
 * Write LD_PRELOAD's @value without the library at @path to @out: at most
 * strlen(@value) + 1 bytes. Returns false if the library is not in it. An entry
 * names the library if it is @path or has the same file name.
 */
bool preload_without(const char *value, const char *path, char *out);

#endif
