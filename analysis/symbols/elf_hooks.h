/* SPDX-License-Identifier: MIT */
/*
 * elf_hooks - was a program built for the source instr?
 *
 * libcomdet-instr.a leaves a note in the file that it is linked to, the shared
 * library is named among the libraries it needs; so is ThreadSanitizer's.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_ELF_HOOKS_H
#define COMDET_ANALYSIS_SYMBOLS_ELF_HOOKS_H

#include <stdbool.h>

enum elf_hooks {
	HOOKS_NONE,
	HOOKS_OURS,
	HOOKS_SANITIZER, /* libtsan, or clang's own in the program */
};

/* What the program at @path has; what cannot be read has none. */
enum elf_hooks elf_hooks(const char *path);

/*
 * Has a library that the program at @path is started with our hooks? False if
 * the loader cannot be asked.
 */
bool elf_loads_hooks(const char *path);

/*
 * Is it certain that the process that starts as @path never has hooks? Then
 * neither the program has them nor a library that it is started with, and none
 * of them calls exec. False of what cannot be looked at.
 */
bool elf_never_hooked(const char *path);

#endif
