/* SPDX-License-Identifier: MIT */
/*
 * vdso - the kernel's own code in our address space
 *
 * Its function is called directly, not through the C library: that takes three
 * pages less, all of which are cold when a sample comes, and the name may be
 * another library's, which shows the program another time.
 */
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "sys.h"
#include "vdso.h"
#include "src/base/signal_safe.h"

static uint64_t low, high;
static int (*clock_function)(clockid_t clock, struct timespec *ts);

/* What of the image's dynamic section a search by name needs. */
struct names {
	const char *string;
	const Elf64_Sym *symbol;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static struct names find_names(const Elf64_Dyn *d, uint64_t bias)
{
	struct names n = { 0 };

	for (; d->d_tag != DT_NULL; d++) {
		const void *at =
			(const void *)(uintptr_t)(bias + d->d_un.d_ptr);

		if (d->d_tag == DT_STRTAB)
			n.string = at;
		else if (d->d_tag == DT_SYMTAB)
			n.symbol = at;
		else if (d->d_tag == DT_GNU_HASH)
			n.hash = at;
	}
	return n;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static uint64_t value_of(const struct names *n, const char *name)
{
	uint32_t h = hash_of(name), buckets, first, i;
	const uint32_t *bucket, *chain;

	if (!n->string || !n->symbol || !n->hash)
		return 0;
	buckets = n->hash[0];
	first = n->hash[1];
	bucket = n->hash + 4 + 2 * n->hash[2]; /* behind words of 64 bits */
	chain = bucket + buckets;
	i = buckets ? bucket[h % buckets] : 0;
	if (i < first)
		return 0;
	for (;; i++) {
		uint32_t is = chain[i - first];

		if ((is | 1) == (h | 1) &&
		    !strcmp(n->string + n->symbol[i].st_name, name))
			return n->symbol[i].st_value;
		if (is & 1) /* the last of its bucket */
			return 0;
	}
}

void vdso_init(void)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR), bias = 0, value;
	const Elf64_Ehdr *eh = (const void *)(uintptr_t)base;
	const Elf64_Phdr *ph, *dynamic = NULL;
	struct names names;

	if (!base)
		return;
	ph = (const void *)(uintptr_t)(base + eh->e_phoff);
	for (int i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = &ph[i];
		if (ph[i].p_type != PT_LOAD)
			continue;
		bias = base + ph[i].p_offset - ph[i].p_vaddr;
		if (base + ph[i].p_offset + ph[i].p_memsz > high)
			high = base + ph[i].p_offset + ph[i].p_memsz;
	}
	low = base;
	if (!dynamic)
		return;
	names = find_names((const void *)(uintptr_t)(base + dynamic->p_offset),
			   bias);
	value = value_of(&names, "__vdso_clock_gettime");
	if (value)
		clock_function = (int (*)(clockid_t, struct timespec *))(
			uintptr_t)(bias + value);
}

bool vdso_has(uint64_t ip)
{
	return ip >= low && ip < high;
}

int vdso_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (clock_function)
		return clock_function(clock, ts);
	return (int)sys_call2(SYS_clock_gettime, clock, ts);
}
