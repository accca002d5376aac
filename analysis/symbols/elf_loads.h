/* SPDX-License-Identifier: MIT */
/*
 * elf_loads - list the libraries that a program is started with
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_ELF_LOADS_H
#define COMDET_ANALYSIS_SYMBOLS_ELF_LOADS_H

#include <stdbool.h>

/*
 * Call @look with @ctx and the path of each library that glibc's loader would
 * load before the program at @path starts, those of LD_PRELOAD included, until
 * a call returns false. This asks the loader itself. The program does not run,
 * provided that program_inspect() finds it fit: a loader other than glibc's
 * would start it.
 *
 * Returns 0 if @look saw all libraries, else -1: @look returned false, the file
 * names no loader, a library is missing, or the loader named none or took
 * longer than five seconds.
 */
int elf_loads(const char *path, bool (*look)(void *ctx, const char *library),
	      void *ctx);

#endif
