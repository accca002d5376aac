/* SPDX-License-Identifier: MIT */
/*
 * elf_hooks - was a program built for the source instr?
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "analysis/elf_hooks.h"

#define NOTE_NAME    "comdet"
#define OUR_LIBRARY  "libcomdet-instr.so"
#define GCC_LIBRARY  "libtsan.so"
#define ENTRY_SYMBOL "__tsan_init" /* clang's archive exports it */

static bool has_our_note(Elf_Data *d)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr n;

	while (d && (next = gelf_getnote(d, at, &n, &name, &desc))) {
		if (n.n_namesz == sizeof(NOTE_NAME) &&
		    !memcmp((char *)d->d_buf + name, NOTE_NAME,
			    sizeof(NOTE_NAME)))
			return true;
		at = next;
	}
	return false;
}

static enum elf_hooks needed(Elf *elf, const GElf_Shdr *sh, Elf_Data *d)
{
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Dyn dyn;

	for (size_t i = 0; i < n && gelf_getdyn(d, i, &dyn); i++) {
		const char *name;

		if (dyn.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, sh->sh_link, dyn.d_un.d_val);
		if (!name)
			continue;
		if (!strncmp(name, OUR_LIBRARY, strlen(OUR_LIBRARY)))
			return HOOKS_OURS;
		if (!strncmp(name, GCC_LIBRARY, strlen(GCC_LIBRARY)))
			return HOOKS_SANITIZER;
	}
	return HOOKS_NONE;
}

/* Ours is seen by its note first: -rdynamic exports this of ours as well. */
static bool defines_entry(Elf *elf, const GElf_Shdr *sh, Elf_Data *d)
{
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < n && gelf_getsym(d, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh->sh_link, sym.st_name);

		if (sym.st_shndx != SHN_UNDEF && name &&
		    !strcmp(name, ENTRY_SYMBOL))
			return true;
	}
	return false;
}

static enum elf_hooks look(Elf *elf)
{
	enum elf_hooks found = HOOKS_NONE;
	bool entry = false;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		Elf_Data *d = elf_getdata(scn, NULL);

		if (!d)
			continue;
		if (sh.sh_type == SHT_NOTE && has_our_note(d))
			return HOOKS_OURS;
		if (sh.sh_type == SHT_DYNAMIC && !found)
			found = needed(elf, &sh, d);
		else if (sh.sh_type == SHT_DYNSYM)
			entry = defines_entry(elf, &sh, d);
	}
	return found ? found : entry ? HOOKS_SANITIZER : HOOKS_NONE;
}

enum elf_hooks elf_hooks(const char *path)
{
	enum elf_hooks found = HOOKS_NONE;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf;

	if (fd < 0)
		return HOOKS_NONE;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		found = look(elf);
	elf_end(elf);
	close(fd);
	return found;
}
