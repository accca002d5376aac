/* SPDX-License-Identifier: MIT */
/*
 * debug_lack - why the debug information of a file is not known, in words
 *
 * Each text says what is missing, what is shown nevertheless, and what to do;
 * it is to be freed. Paths in it are safe to print.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_DEBUG_LACK_H
#define COMDET_ANALYSIS_SYMBOLS_DEBUG_LACK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* Of the ELF file @path, for which libdw found no debug information. */
char *debug_lack_all(const char *path);

/* Of @path, which has debug information, but none of some of its code. */
char *debug_lack_part(const char *path);

/*
 * Of @n units of @path (1 or more), whose .dwo files libdw did not take: the
 * first is @name, from the directory @dir of its compilation.
 */
char *debug_lack_split(const char *path, const char *name, const char *dir,
		       size_t n);

/*
 * Of @path, whose debug information @dwarf, from the file @debug_path, has a
 * part in another file (dwz): NULL if it has none, or if that file is there.
 * *@refuse: that file belongs to another build. libdw would take it, and wrong
 * names from it, so do not use @dwarf.
 */
char *debug_lack_alternate(const char *path, const char *debug_path,
			   Dwarf *dwarf, bool *refuse);

#endif
