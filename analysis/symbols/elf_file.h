/* SPDX-License-Identifier: MIT */
/*
 * elf_file - open what may be an ELF file, to look at its headers
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_ELF_FILE_H
#define COMDET_ANALYSIS_SYMBOLS_ELF_FILE_H

#include <libelf.h>

/*
 * The file at @path with its descriptor in *@fd, which does not wait for a
 * pipe's other end. NULL, with nothing left open, if it cannot be read or is
 * no ELF file.
 */
Elf *elf_file_open(const char *path, int *fd);
void elf_file_close(Elf *elf, int fd);

#endif
