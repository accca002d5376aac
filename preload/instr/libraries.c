/* SPDX-License-Identifier: MIT */
/*
 * libraries - the copies of libcomdet-instr in this process
 *
 * The copies that the program started with are found by their notes; a copy in
 * a library that is loaded later calls us (attach.c). Entries are written at
 * set-up, and by the loader under its lock, and read at any time.
 */
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "libraries.h"
#include "state.h"
#include "src/base/loaded.h"

struct look {
	/* NULL: unloaded */
	struct instr_library *_Atomic library[INSTR_LIBRARIES_MAX];
	_Atomic int libraries;
	int lasting; /* how many were there when the program started; they come
			first */
	bool done;
	bool too_new;
	uint64_t sanitizer; /* address of ThreadSanitizer's entry; 0: it is in
			       our own library */
};

static struct look look;

int instr_libraries(void)
{
	return atomic_load_explicit(&look.libraries, memory_order_acquire);
}

struct instr_library *instr_library(int i)
{
	return atomic_load_explicit(&look.library[i], memory_order_relaxed);
}

bool instr_libraries_add(struct instr_library *l)
{
	if (l->abi != INSTR_ABI || l->bytes < sizeof(*l) ||
	    l->thread_bytes != sizeof(struct instr_thread) ||
	    l->watched_bytes != INSTR_WATCHED) {
		look.too_new = true;
		return false;
	}
	for (int i = 0; i < look.libraries; i++)
		if (look.library[i] == l)
			return false;
	for (int i = look.lasting; i < look.libraries; i++)
		if (!look.library[i]) {
			atomic_store_explicit(&look.library[i], l,
					      memory_order_release);
			return true;
		}
	if (look.libraries == INSTR_LIBRARIES_MAX)
		return false;
	look.library[look.libraries] = l;
	atomic_store_explicit(&look.libraries, look.libraries + 1,
			      memory_order_release);
	return true;
}

/* Our notes are 4-aligned; segments of another alignment are skipped. */
static bool read_notes(const char *p, const char *end)
{
	bool found = false;

	while (p + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *n = (const void *)p;
		const char *name = p + sizeof(*n);
		const char *desc = name + ((n->n_namesz + 3) & ~3u);

		p = desc + ((n->n_descsz + 3) & ~3u);
		if (p > end)
			break;
		if (n->n_type == INSTR_NOTE_TYPE &&
		    n->n_namesz == sizeof(INSTR_NOTE_NAME) &&
		    n->n_descsz >= sizeof(struct instr_note) &&
		    !memcmp(name, INSTR_NOTE_NAME, sizeof(INSTR_NOTE_NAME))) {
			const struct instr_note *note = (const void *)desc;
			const char *base = (const char *)&note->library;

			found = true;
			instr_libraries_add((void *)(base + note->library));
		}
	}
	return found;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool ours = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *p = (const char *)info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_NOTE && ph->p_align <= 4)
			ours |= read_notes(p, p + ph->p_memsz);
	}
	for (int i = 0; ours && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    look.sanitizer - info->dlpi_addr - ph->p_vaddr <
			    ph->p_memsz)
			look.sanitizer = 0;
	}
	return 0;
}

enum instr_found instr_libraries_find(void)
{
	/* A forked child has the copies of its parent. */
	if (!look.done) {
		look.sanitizer =
			(uint64_t)(uintptr_t)loaded_symbol("__tsan_init");
		dl_iterate_phdr(look_at, NULL);
		look.lasting = look.libraries;
		look.done = true;
	}
	if (look.sanitizer)
		return INSTR_SANITIZER;
	if (look.libraries)
		return INSTR_HOOKS;
	return look.too_new ? INSTR_TOO_NEW : INSTR_NONE;
}

/* The entry of @l among the later ones, or NULL. */
static struct instr_library *_Atomic *entry_of(const struct instr_library *l)
{
	for (int i = look.lasting; i < look.libraries; i++)
		if (look.library[i] == l)
			return &look.library[i];
	return NULL;
}

bool instr_libraries_was_added(const struct instr_library *l)
{
	return entry_of(l);
}

void instr_libraries_remove(const struct instr_library *l)
{
	struct instr_library *_Atomic *entry = entry_of(l);

	if (entry)
		atomic_store_explicit(entry, NULL, memory_order_relaxed);
}
