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
	/* Of loaded_symbol_for: */
	const void *caller, *own, *later;
	unsigned first, at;
};

struct table {
	const ElfW(Sym) * symbols;
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
static const ElfW(Sym) * look_up(const struct table *t, const char *name)
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

static bool has(const struct dl_phdr_info *info, const void *address)
{
	ElfW(Addr) here = (ElfW(Addr))(uintptr_t)address;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return true;
	}
	return false;
}

/* What @info has of the name that is looked for; NULL before us as well. */
static const void *symbol_in(const struct dl_phdr_info *info, struct search *s)
{
	const ElfW(Sym) * symbol;
	struct table t;

	if (!s->after_us) {
		s->after_us = has(info, (const void *)loaded_symbol);
		return NULL;
	}
	symbol = find_table(info, &t) ? look_up(&t, s->name) : NULL;
	return symbol ? (const void *)(info->dlpi_addr + symbol->st_value)
		      : NULL;
}

static int search_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	s->found = symbol_in(info, s);
	return s->found != NULL;
}

static int search_for(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const void *symbol = symbol_in(info, s);
	bool begins_with = s->at++ < s->first;

	(void)size;
	if (symbol && begins_with)
		s->found = symbol;
	else if (symbol && has(info, s->caller))
		s->own = symbol;
	else if (symbol && !s->later)
		s->later = symbol;
	return s->found != NULL;
}

static int count_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned *n = arg;

	(void)info;
	(void)size;
	++*n;
	return 0;
}

static int take_table(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loaded_ranges *r = arg;
	uint64_t table = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			table = info->dlpi_phdr[i].p_vaddr;
	for (int i = 0; table && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || table - p->p_vaddr >= p->p_filesz ||
		    (p->p_flags & (PF_R | PF_W)) != PF_R ||
		    r->count == LOADED_RANGES_MAX)
			continue;
		r->range[r->count].low = info->dlpi_addr + p->p_vaddr;
		r->range[r->count].high = r->range[r->count].low + p->p_filesz;
		r->count++;
	}
	return 0;
}

void loaded_tables(struct loaded_ranges *out)
{
	out->count = 0;
	dl_iterate_phdr(take_table, out);
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

unsigned loaded_count(void)
{
	unsigned n = 0;

	dl_iterate_phdr(count_in, &n);
	return n;
}

const void *loaded_symbol_for(const char *name, const void *caller,
			      unsigned first, bool *by_all)
{
	struct search s = { .name = name, .caller = caller, .first = first };

	dl_iterate_phdr(search_for, &s);
	*by_all = s.found;
	return s.found ? s.found : s.own ? s.own : s.later;
}
