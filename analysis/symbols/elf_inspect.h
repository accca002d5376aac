/* SPDX-License-Identifier: MIT */
/*
 * elf_inspect - find out whether a program will load our preload library
 *
 * The dynamic loader silently ignores LD_PRELOAD in programs that are static,
 * of another ABI, or privileged. record looks first and says so.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_ELF_INSPECT_H
#define COMDET_ANALYSIS_SYMBOLS_ELF_INSPECT_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

enum program_kind {
	PROGRAM_FITS,       /* a dynamic x86-64 program of glibc */
	PROGRAM_NOT_FOUND,  /* exit status 127 */
	PROGRAM_CANNOT_RUN, /* exit status 126 */
	PROGRAM_NO_PRELOAD, /* it would run unprofiled */
};

struct program {
	enum program_kind kind;
	char path[4096];   /* what to exec */
	char loaded[4096]; /* the ELF file that is loaded; of a script, its
			      interpreter */
	char why[1024];    /* in words, with advice, unless it fits */
	int privileged;    /* exec gives it rights that we may not have */
	int shell; /* neither ELF nor "#!": /bin/sh reads it, as execvp does */
};

/*
 * Find @name as execvp would, follow scripts to their interpreter, and judge
 * the program.
 */
void program_inspect(struct program *p, const char *name);

/*
 * Open the ELF file @path, without waiting if it is a pipe; its descriptor goes
 * to *@fd. Returns NULL, with nothing left open, if it cannot be read or is no
 * ELF file. elf_file_close() closes both.
 */
Elf *elf_file_open(const char *path, int *fd);
void elf_file_close(Elf *elf, int fd);

/* True if the ELF file @path is a program written in Go. */
bool elf_is_go(const char *path);

#endif
