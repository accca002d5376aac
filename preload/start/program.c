/* SPDX-License-Identifier: MIT */
/*
 * program - ask the loader about the program, once at the start
 */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "program.h"
#include "preload/core/runtime.h"

/*
 * The loader never unmaps the code that the program started with, nor its
 * tables of frames, so we may read both directly, without the kernel's help
 * against faults.
 */
static int take_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD ||
		    (ph->p_flags & (PF_R | PF_X | PF_W)) != (PF_R | PF_X) ||
		    runtime.code_count == CODE_RANGES)
			continue;
		runtime.code[runtime.code_count].low = low;
		runtime.code[runtime.code_count++].high = low + ph->p_memsz;
	}
	return 0;
}

/* A Go program installs its handlers by raw system calls. */
static int is_go_note(struct dl_phdr_info *info, size_t size, void *found)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *p = (const char *)info->dlpi_addr + ph->p_vaddr;
		const char *end = p + ph->p_memsz;

		if (ph->p_type != PT_NOTE)
			continue;
		while (p + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *n = (const void *)p;
			const char *name = p + sizeof(*n);

			if (n->n_namesz == 4 && !memcmp(name, "Go\0", 4))
				*(bool *)found = true;
			p = name + ((n->n_namesz + 3) & ~3u) +
			    ((n->n_descsz + 3) & ~3u);
		}
	}
	return 1; /* the main program alone, which comes first */
}

void program_look(void)
{
	static bool looked;
	bool go = false;

	/* A forked child has libraries that were loaded since. */
	if (!looked) {
		dl_iterate_phdr(take_code, NULL);
		loaded_tables(&runtime.tables);
	}
	looked = true;
	dl_iterate_phdr(is_go_note, &go);
	runtime.waits_for_thread = go;
}
