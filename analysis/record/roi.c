/* SPDX-License-Identifier: MIT */
/*
 * roi - the region of interest of a trace, from names to addresses
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roi.h"
#include "analysis/base/util.h"

static bool is_number(const char *s, size_t n)
{
	return n && strspn(s, "0123456789") >= n;
}

/* As the plugin takes them: settled already. */
static bool is_place(const char *s)
{
	return *s == '+' || !strncmp(s, "0x", 2);
}

void record_check_roi(const char *name, const char *value)
{
	size_t n = strcspn(value, ",");
	const char *end = value[n] ? value + n + 1 : "";
	bool numbers = is_number(value, n) && is_number(end, strlen(end));

	if (!n || !*end || strchr(end, ',') ||
	    is_number(value, n) != is_number(end, strlen(end)))
		die("%s needs BEGIN,END: two functions of the program, or two "
		    "numbers of instructions; not '%s'",
		    name, safe_text(value));
	if (numbers && strtoull(value, NULL, 10) >= strtoull(end, NULL, 10))
		die("%s: the second number must be larger, not '%s'", name,
		    safe_text(value));
	if (strlen(end) == n && !strncmp(value, end, n))
		die("%s needs two different functions, not '%s'", name,
		    safe_text(value));
}

/* The address of function @name by the symbols of @section. */
static bool find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		    const char *name, uint64_t *addr)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n =
		header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; data && i < n; i++) {
		const char *is;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		is = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (is && !strcmp(is, name)) {
			*addr = symbol.st_value;
			return true;
		}
	}
	return false;
}

static bool find_function(Elf *elf, const char *name, uint64_t *addr)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB ||
		     header.sh_type == SHT_DYNSYM) &&
		    find_in(elf, section, &header, name, addr))
			return true;
	return false;
}

/* The lowest address of an executable segment. */
static bool first_code(Elf *elf, uint64_t *addr)
{
	bool found = false;
	GElf_Phdr p;
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD &&
		    p.p_flags & PF_X && (!found || p.p_vaddr < *addr)) {
			*addr = p.p_vaddr;
			found = true;
		}
	return found;
}

static uint64_t place_of(Elf *elf, const char *path, const char *name)
{
	uint64_t addr, code = 0;

	if (!elf || !first_code(elf, &code))
		die("--roi (COMDET_ROI): cannot read the functions of %s",
		    safe_text(path));
	if (!find_function(elf, name, &addr))
		die("--roi (COMDET_ROI): %s has no function '%s'; name two of "
		    "its own functions, or give two numbers of instructions",
		    safe_text(path), safe_text(name));
	return addr - code;
}

void record_settle_roi(const char *path)
{
	const char *value = getenv("COMDET_ROI");
	char *begin, *end, *places;
	Elf *elf;
	int fd;

	if (!value || !*value || is_place(value) ||
	    is_number(value, strcspn(value, ",")))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	end = xstrdup(value);
	begin = strsep(&end, ",");
	places = xasprintf("+0x%llx,+0x%llx",
			   (unsigned long long)place_of(elf, path, begin),
			   (unsigned long long)place_of(elf, path, end));
	if (setenv("COMDET_ROI", places, 1))
		die("cannot set COMDET_ROI: %s", strerror(errno));
	elf_end(elf);
	close(fd);
	free(places);
	free(begin);
}
