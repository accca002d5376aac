/* SPDX-License-Identifier: MIT */
/*
 * debug_lack - why the debug information of a file is not known, in words
 *
 * libdw looks for a file of debug information and takes it or not, without
 * saying why. So its places are gone through again, and the first file that is
 * there is compared with what it should be.
 */
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_lack.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"

static const char debug_root[] = "/usr/lib/debug";

/* What the sections of a file say; release() it. */
struct facts {
	bool elf, symtab, dwarf;
	char *link; /* the name in .gnu_debuglink, or NULL */
	uint8_t id[64];
	size_t id_bytes; /* 0: no build-id */
};

static void look_at_sections(Elf *elf, struct facts *f)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr h;
		const char *name;

		if (!gelf_getshdr(section, &h) || h.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, h.sh_name);
		f->symtab |= h.sh_type == SHT_SYMTAB;
		f->dwarf |= name && (!strcmp(name, ".debug_info") ||
				     !strcmp(name, ".zdebug_info"));
	}
}

/* Returns 0, or what regular_file_open() does. */
static int look_at(const char *path, struct facts *f)
{
	int fd = regular_file_open(path);
	const void *id;
	const char *link;
	GElf_Word crc;
	ssize_t n;
	Elf *elf;

	memset(f, 0, sizeof(*f));
	if (fd < 0)
		return fd;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f->elf = elf && elf_kind(elf) == ELF_K_ELF;
	if (f->elf) {
		look_at_sections(elf, f);
		link = dwelf_elf_gnu_debuglink(elf, &crc);
		f->link = link && link[0] ? xstrdup(link) : NULL;
		n = dwelf_elf_gnu_build_id(elf, &id);
		if (n > 0 && (size_t)n <= sizeof(f->id)) {
			memcpy(f->id, id, (size_t)n);
			f->id_bytes = (size_t)n;
		}
	}
	elf_end(elf);
	close(fd);
	return 0;
}

static void release(struct facts *f)
{
	free(f->link);
}

/* The first bytes of a build-id: "a1b2c3d4...". */
static const char *id_text(const uint8_t *id, size_t bytes, char text[16])
{
	if (bytes < 4)
		return "none";
	snprintf(text, 16, "%02x%02x%02x%02x...", id[0], id[1], id[2], id[3]);
	return text;
}

static bool is_there(const char *path)
{
	int fd = regular_file_open(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* @name in the directory of @path, or beside it in @below; to be freed. */
static char *beside(const char *path, const char *below, const char *name)
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;

	return xasprintf("%.*s%s%s", dir, path, below, name);
}

/* @path if a file is there; else it is freed, and NULL. */
static char *if_there(char *path)
{
	if (path && is_there(path))
		return path;
	free(path);
	return NULL;
}

/* Debian's place of the debug file of a build-id; to be freed. */
static char *place_of_id(const uint8_t *id, size_t bytes)
{
	char hex[2 * 64 + 1] = "";

	for (size_t i = 0; i < bytes && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return bytes ? xasprintf("%s/.build-id/%.2s/%s.debug", debug_root, hex,
				 hex + 2)
		     : NULL;
}

/* The first file that libdw finds as the debug file of @path; to be freed. */
static char *debug_file_of(const char *path, const struct facts *f)
{
	const char *slash = strrchr(path, '/');
	char *found = if_there(place_of_id(f->id, f->id_bytes));

	if (found || !f->link)
		return found;
	if (f->link[0] == '/')
		return if_there(xstrdup(f->link));
	found = if_there(beside(path, "", f->link));
	if (!found)
		found = if_there(beside(path, ".debug/", f->link));
	if (!found && slash)
		found = if_there(xasprintf("%s%.*s/%s", debug_root,
					   (int)(slash - path), path, f->link));
	return found;
}

static const char *what_is_shown(const struct facts *f)
{
	return f->symtab ? "its functions are shown without source lines"
			 : "no source lines are shown, and only functions that "
			   "it exports";
}

static char *refused(const char *path, const struct facts *f,
		     const char *debug_path, const struct facts *debug)
{
	char own[16], other[16];

	if (!debug->elf || !debug->dwarf)
		return xasprintf("%s, the debug file of %s, %s: %s; get the "
				 "debug file of this build, or build it with "
				 "-g",
				 safe_text(debug_path), safe_text(path),
				 debug->elf ? "has no debug information"
					    : "is not an ELF file",
				 what_is_shown(f));
	if (f->id_bytes && (f->id_bytes != debug->id_bytes ||
			    memcmp(f->id, debug->id, f->id_bytes) != 0))
		return xasprintf(
			"%s is not used, it is the debug file of another build "
			"than %s (build-id %s instead of %s): %s; get the "
			"debug file of this build, or build both again",
			safe_text(debug_path), safe_text(path),
			id_text(debug->id, debug->id_bytes, other),
			id_text(f->id, f->id_bytes, own), what_is_shown(f));
	return xasprintf("%s is not used, it is the debug file of another "
			 "build than %s (its checksum is another one): %s; get "
			 "the debug file of this build, or build both again",
			 safe_text(debug_path), safe_text(path),
			 what_is_shown(f));
}

char *debug_lack_all(const char *path)
{
	struct facts f, debug = { .elf = false };
	char *debug_path, *text;
	int err = look_at(path, &f);

	if (err)
		return xasprintf("%s cannot be opened any more (%s)",
				 safe_text(path), regular_file_error(err));
	debug_path = debug_file_of(path, &f);
	if (f.dwarf)
		text = xasprintf("the debug information in %s cannot be read: "
				 "%s",
				 safe_text(path), what_is_shown(&f));
	else if (debug_path && !look_at(debug_path, &debug))
		text = refused(path, &f, debug_path, &debug);
	else if (f.link)
		text = xasprintf("%s is stripped, and its debug file %s is not "
				 "here: %s; install its debug package, put "
				 "that file beside it, or build it with -g",
				 safe_text(path), safe_text(f.link),
				 what_is_shown(&f));
	else if (f.symtab)
		text = xasprintf("%s has no debug information: %s; build it "
				 "with -g",
				 safe_text(path), what_is_shown(&f));
	else
		text = xasprintf("%s is stripped: %s; install its debug "
				 "package, or build it with -g and do not "
				 "strip it",
				 safe_text(path), what_is_shown(&f));
	release(&debug);
	release(&f);
	free(debug_path);
	return text;
}

char *debug_lack_part(const char *path)
{
	return xasprintf("%s has no debug information about a part of its "
			 "code: that part is shown without source lines; build "
			 "all of it with -g",
			 safe_text(path));
}

/* libdw reads .dwp files since elfutils 0.191. */
static bool reads_packages(void)
{
	return strverscmp(dwfl_version(NULL), "0.191") >= 0;
}

char *debug_lack_split(const char *path, const char *name, const char *dir,
		       size_t n)
{
	static const char shown[] =
		"functions and source lines are shown, but no types, members "
		"and inlined functions";
	char *package = if_there(xasprintf("%s.dwp", path));
	char *file = name[0] == '/' ? NULL : if_there(beside(path, "", name));
	char *others =
		n > 1 ? xasprintf(" and %zu other%s", n - 1, n == 2 ? "" : "s")
		      : xstrdup("");
	const char *whose = n > 1 ? "their" : "its";
	char *text;

	if (!file)
		file = name[0] == '/' ? if_there(xstrdup(name))
				      : if_there(xasprintf("%s/%s", dir, name));
	if (file)
		text = xasprintf("%s%s: not used, of another build than %s: of "
				 "%s code %s; build it again",
				 safe_text(file), others, safe_text(path),
				 whose, shown);
	else if (package && !reads_packages())
		text = xasprintf("%s is not used, elfutils reads such packages "
				 "from version 0.191 on, and this is %s: of "
				 "the code of %s %s; keep the .dwo files",
				 safe_text(package), dwfl_version(NULL),
				 safe_text(path), shown);
	else if (package)
		text = xasprintf("%s has no part for %s%s, it is of another "
				 "build than %s: of %s code %s; package the "
				 ".dwo files again",
				 safe_text(package), safe_text(name), others,
				 safe_text(path), whose, shown);
	else
		text = xasprintf("%s%s, split debug information of %s, not "
				 "here: of %s code %s; keep the .dwo files "
				 "where the compiler put them",
				 safe_text(name), others, safe_text(path),
				 whose, shown);
	free(others);
	free(package);
	free(file);
	return text;
}

char *debug_lack_alternate(const char *path, const char *debug_path,
			   Dwarf *dwarf, bool *refuse)
{
	const char *name;
	const void *wanted, *id;
	char own[16], other[16], *file, *text = NULL;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &wanted);
	ssize_t bytes;
	Dwarf *alt;

	*refuse = false;
	if (n <= 0)
		return NULL;
	file = name[0] == '/' ? xstrdup(name) : beside(debug_path, "", name);
	*refuse = !regular_file_or_none(file);
	alt = *refuse ? NULL : dwarf_getalt(dwarf);
	bytes = alt ? dwelf_elf_gnu_build_id(dwarf_getelf(alt), &id) : 0;
	if (!alt) {
		text = xasprintf("%s, which has a part of the debug "
				 "information of %s, is not here: names of "
				 "types, members and functions may be missing; "
				 "install all of the debug package",
				 safe_text(file), safe_text(path));
	} else if (bytes != n || memcmp(id, wanted, (size_t)n) != 0) {
		*refuse = true;
		text = xasprintf(
			"the debug information of %s is not used, a "
			"part of it is in %s, which belongs to "
			"another build (build-id %s instead of %s): "
			"functions are shown without source lines; "
			"install the debug package of this build",
			safe_text(path), safe_text(file),
			id_text(id, bytes > 0 ? (size_t)bytes : 0, other),
			id_text(wanted, (size_t)n, own));
	}
	free(file);
	return text;
}
