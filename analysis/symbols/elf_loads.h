/* SPDX-License-Identifier: MIT */
/*
 * elf_loads - the libraries that a program is started with
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_ELF_LOADS_H
#define COMDET_ANALYSIS_SYMBOLS_ELF_LOADS_H

#include <stdbool.h>

/*
 * Call @look with @ctx and the path of each library that glibc's loader would
 * load before the program at @path starts, those of LD_PRELOAD too, until one
 * call returns false. The loader itself is asked; the program does not run,
 * if it is one that program_inspect() finds fit: another loader than glibc's
 * would start it.
 *
 * Returns 0 if all of them were looked at, -1 if not: @look had enough, the
 * file names no loader, a library is missing, or the loader told of none or
 * took longer than five seconds.
 */
int elf_loads(const char *path, bool (*look)(void *ctx, const char *library),
	      void *ctx);

#endif
