/* SPDX-License-Identifier: MIT */
/*
 * module_table - the objects of an address space, by address
 */
#include <elf.h>
#include <string.h>

#include "module_table.h"

#include "src/base/signal_safe.h"

enum {
	SEGMENTS_MAX = 64,
	PAGE_MASK = 4095,
};

static bool read_headers(const struct unwind_memory *memory, uint64_t start,
			 Elf64_Ehdr *eh)
{
	return !memory->read(memory->ctx, start, eh, sizeof(*eh)) &&
	       !memcmp(eh->e_ident, ELFMAG, SELFMAG) &&
	       eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_phentsize == sizeof(Elf64_Phdr) &&
	       eh->e_phnum <= SEGMENTS_MAX;
}

/* Addresses in the file are moved by @start - that of offset 0. */
static bool describe(const struct unwind_memory *memory, uint64_t start,
		     struct unwind_module *m)
{
	uint64_t first = UINT64_MAX, high = 0, index = 0;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (!read_headers(memory, start, &eh))
		return false;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (memory->read(memory->ctx,
				 start + eh.e_phoff + i * sizeof(ph), &ph,
				 sizeof(ph)))
			return false;
		if (ph.p_type == PT_GNU_EH_FRAME)
			index = ph.p_vaddr;
		if (ph.p_type != PT_LOAD)
			continue;
		if (ph.p_vaddr < first)
			first = ph.p_vaddr & ~(uint64_t)PAGE_MASK;
		if (ph.p_vaddr + ph.p_memsz > high)
			high = ph.p_vaddr + ph.p_memsz;
	}
	if (first >= high)
		return false;
	*m = (struct unwind_module){
		.low = start,
		.high = start + (high - first),
		.index = index ? start + (index - first) : 0,
	};
	return m->high > m->low;
}

void module_table_begin(struct module_table *t)
{
	t->taken = 0;
}

void module_table_take(struct module_table *t,
		       const struct unwind_memory *memory, uint64_t start)
{
	uint32_t next = !atomic_load(&t->current);
	struct unwind_module m;

	if (t->taken == MODULES_MAX || !describe(memory, start, &m))
		return;
	m.identity = (m.index ^ m.high << 20) * 0x9E3779B97F4A7C15u;
	t->module[next][t->taken++] = m;
}

void module_table_end(struct module_table *t)
{
	uint32_t next = !atomic_load(&t->current);

	atomic_store(&t->count[next], t->taken);
	atomic_store(&t->current, next);
	atomic_fetch_add(&t->generation, 1);
}

bool module_table_find(void *ctx, uint64_t pc, struct unwind_module *out)
{
	struct module_table *t = ctx;
	uint32_t at = atomic_load(&t->current);
	uint32_t n = atomic_load(&t->count[at]);
	const struct unwind_module *m = t->module[at];

	while (n > 1) {
		uint32_t half = n / 2;

		if (m[half].low <= pc) {
			m += half;
			n -= half;
		} else {
			n = half;
		}
	}
	if (!n || pc < m->low || pc >= m->high)
		return false;
	*out = *m;
	return true;
}
