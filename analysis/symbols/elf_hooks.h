/* SPDX-License-Identifier: MIT */
/*
 * elf_hooks - find out whether a program was built for the source instr
 *
 * libcomdet-instr.a leaves a note in the file that it is linked into. The
 * shared library is named among the libraries that the file needs; so is
 * ThreadSanitizer's.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_ELF_HOOKS_H
#define COMDET_ANALYSIS_SYMBOLS_ELF_HOOKS_H

#include <stdbool.h>

enum elf_hooks {
	HOOKS_NONE,
	HOOKS_OURS,
	HOOKS_SANITIZER, /* libtsan, or clang's own in the program */
};

/* The hooks of the program at @path; HOOKS_NONE if it cannot be read. */
enum elf_hooks elf_hooks(const char *path);

/*
 * True if a library that the program at @path is started with has our hooks;
 * false if the loader cannot be asked.
 */
bool elf_loads_hooks(const char *path);

/*
 * True if the process that starts as @path certainly never has hooks: neither
 * the program nor a library that it is started with has them, and none of them
 * calls exec. False if that cannot be found out.
 */
bool elf_never_hooked(const char *path);

#endif
