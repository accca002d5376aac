/* SPDX-License-Identifier: MIT */
/*
 * loaded - ask the loaded libraries for a symbol
 */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "loaded.h"

struct search {
	const char *name;
	const void *found;
	bool after_us;
};

struct table {
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
};

/* The loader has made most addresses absolute, but not those of the vdso. */
static const void *absolute(const struct dl_phdr_info *info, ElfW(Addr) a)
{
	return (const void *)(a < info->dlpi_addr ? a + info->dlpi_addr : a);
}

static bool find_table(const struct dl_phdr_info *info, struct table *t)
{
	const ElfW(Dyn) *d = NULL;

	memset(t, 0, sizeof(*t));
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(info->dlpi_addr +
					   info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		const void *at = absolute(info, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			t->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			t->names = at;
		else if (d->d_tag == DT_GNU_HASH)
			t->hash = at;
	}
	return t->symbols && t->names && t->hash;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

/* The table is: four numbers, a filter of 64-bit words, buckets, chains. */
static const ElfW(Sym) *look_up(const struct table *t, const char *name)
{
	uint32_t buckets = t->hash[0], first = t->hash[1], words = t->hash[2];
	const uint32_t *bucket = t->hash + 4 + 2 * (size_t)words;
	const uint32_t *chain = bucket + buckets;
	uint32_t h = gnu_hash(name);
	uint32_t i = buckets ? bucket[h % buckets] : 0;

	for (; i >= first && i; i++) {
		const ElfW(Sym) *s = &t->symbols[i];

		if ((chain[i - first] | 1) == (h | 1) && s->st_shndx &&
		    !strcmp(t->names + s->st_name, name))
			return s;
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static bool is_us(const struct dl_phdr_info *info)
{
	ElfW(Addr) here = (ElfW(Addr))(uintptr_t)loaded_symbol;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

static int search_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	struct table t;
	const ElfW(Sym) *symbol;

	(void)size;
	if (!s->after_us) {
		s->after_us = is_us(info);
		return 0;
	}
	symbol = find_table(info, &t) ? look_up(&t, s->name) : NULL;
	if (symbol)
		s->found = (const void *)(info->dlpi_addr + symbol->st_value);
	return s->found != NULL;
}

const void *loaded_symbol(const char *name)
{
	struct search s = { .name = name, .after_us = true };

	dl_iterate_phdr(search_in, &s);
	return s.found;
}

const void *loaded_symbol_after_us(const char *name)
{
	struct search s = { .name = name };

	dl_iterate_phdr(search_in, &s);
	return s.found;
}
