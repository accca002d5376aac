/* SPDX-License-Identifier: MIT */
/*
 * elf_hooks - find out whether a program was built for the source instr
 */
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include "elf_hooks.h"
#include "elf_inspect.h"
#include "elf_loads.h"

#define NOTE_NAME    "comdet"
#define OUR_LIBRARY  "libcomdet-instr.so"
#define GCC_LIBRARY  "libtsan.so"
#define ENTRY_SYMBOL "__tsan_init" /* exported by clang's archive */

static bool has_our_name(Elf_Data *d)
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

/*
 * Look where the preload library looks: in the segments, which every program
 * has.
 */
static bool has_our_note(Elf *elf)
{
	size_t n = 0;
	GElf_Phdr ph;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n && gelf_getphdr(elf, i, &ph); i++) {
		Elf_Type type = ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;

		if (ph.p_type == PT_NOTE &&
		    has_our_name(elf_getdata_rawchunk(elf, ph.p_offset,
						      ph.p_filesz, type)))
			return true;
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

static const char *const exec_calls[] = { "execl",   "execle",   "execlp",
					  "execv",   "execve",   "execvp",
					  "execvpe", "execveat", "fexecve" };

static bool is_exec(const char *name)
{
	for (size_t i = 0; i < sizeof(exec_calls) / sizeof(exec_calls[0]); i++)
		if (!strcmp(name, exec_calls[i]))
			return true;
	return false;
}

/* What the dynamic symbols of a file say. */
struct symbols {
	bool entry; /* ENTRY_SYMBOL, of a sanitizer */
	bool execs; /* calls a function that runs another program */
};

static void look_at_symbols(Elf *elf, const GElf_Shdr *sh, Elf_Data *d,
			    struct symbols *s)
{
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < n && gelf_getsym(d, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh->sh_link, sym.st_name);

		if (!name)
			continue;
		if (sym.st_shndx == SHN_UNDEF)
			s->execs |= is_exec(name);
		else
			s->entry |= !strcmp(name, ENTRY_SYMBOL);
	}
}

/*
 * Look for our note first: with -rdynamic our programs export ENTRY_SYMBOL as
 * well. A file without section headers is taken to call exec.
 */
static enum elf_hooks look(Elf *elf, bool *execs)
{
	enum elf_hooks found = HOOKS_NONE;
	struct symbols symbols = { false, false };
	Elf_Scn *scn = NULL;
	size_t sections = 0;
	GElf_Shdr sh;

	if (has_our_note(elf))
		return HOOKS_OURS;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh)) {
		Elf_Data *d = elf_getdata(scn, NULL);

		sections++;
		if (!d)
			continue;
		if (sh.sh_type == SHT_DYNAMIC && !found)
			found = needed(elf, &sh, d);
		else if (sh.sh_type == SHT_DYNSYM)
			look_at_symbols(elf, &sh, d, &symbols);
	}
	*execs = symbols.execs || !sections;
	return found ? found : symbols.entry ? HOOKS_SANITIZER : HOOKS_NONE;
}

/* False if @path is not a readable ELF file. */
static bool look_at_file(const char *path, enum elf_hooks *found, bool *execs)
{
	int fd;
	Elf *elf = elf_file_open(path, &fd);

	if (!elf)
		return false;
	*found = look(elf, execs);
	elf_file_close(elf, fd);
	return true;
}

enum elf_hooks elf_hooks(const char *path)
{
	enum elf_hooks found = HOOKS_NONE;
	bool execs;

	look_at_file(path, &found, &execs);
	return found;
}

static bool is_not_ours(void *ctx, const char *path)
{
	bool *ours = ctx;

	*ours = elf_hooks(path) == HOOKS_OURS;
	return !*ours;
}

bool elf_loads_hooks(const char *path)
{
	bool ours = false;

	elf_loads(path, is_not_ours, &ours);
	return ours;
}

/*
 * True if this file has no hooks, and cannot start a program that may have
 * some.
 */
static bool is_without(void *ctx, const char *path)
{
	enum elf_hooks found = HOOKS_NONE;
	bool execs = false;

	return look_at_file(path, &found, &execs) && found == HOOKS_NONE &&
	       !execs;
}

bool elf_never_hooked(const char *path)
{
	return is_without(NULL, path) && !elf_loads(path, is_without, NULL);
}
