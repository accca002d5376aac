/* SPDX-License-Identifier: MIT */
/*
 * vdso - where the kernel's own code lies in our address space
 */
#include <elf.h>
#include <sys/auxv.h>

#include "vdso.h"
#include "src/base/signal_safe.h"

static uint64_t low, high;

void vdso_init(void)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *eh = (const void *)(uintptr_t)base;
	const Elf64_Phdr *ph;

	if (!base)
		return;
	ph = (const void *)(uintptr_t)(base + eh->e_phoff);
	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD &&
		    base + ph[i].p_offset + ph[i].p_memsz > high)
			high = base + ph[i].p_offset + ph[i].p_memsz;
	low = base;
}

bool vdso_has(uint64_t ip)
{
	return ip >= low && ip < high;
}
