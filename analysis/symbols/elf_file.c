/* SPDX-License-Identifier: MIT */
/*
 * elf_file - open what may be an ELF file
 */
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "elf_file.h"

Elf *elf_file_open(const char *path, int *fd)
{
	Elf *elf;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(*fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_file_close(elf, *fd);
	return NULL;
}

void elf_file_close(Elf *elf, int fd)
{
	elf_end(elf);
	close(fd);
}
