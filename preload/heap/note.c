/* SPDX-License-Identifier: MIT */
/*
 * note - note who allocated a block: the call, or the calls that led to it
 */
#include <stdlib.h>
#include <string.h>

#include "heap_path.h"
#include "note.h"
#include "recall.h"
#include "shadow.h"
#include "src/base/loaded.h"

static bool wants_paths;

void note_begin(void)
{
	static struct loaded_ranges tables;
	const char *paths = getenv("COMDET_PATHS");

	wants_paths = paths && !strcmp(paths, "1");
	if (!wants_paths)
		return;
	/* The loader never unloads what the program started with. */
	loaded_tables(&tables);
	heap_path_use(&tables);
}

/* The path is walked. */
__attribute__((noinline)) static void note_new(uint64_t start, size_t bytes,
					       struct note_from from,
					       struct own_stack *s)
{
	shadow_add_site(start, bytes,
			heap_path_site(s, from.caller, from.frame));
}

__attribute__((noinline)) static void note_path(uint64_t start, size_t bytes,
						struct note_from from)
{
	struct own_stack *s = own_stack();
	uint32_t site = s ? recall(s, from.caller, from.frame) : 0;

	if (__builtin_expect(site != 0, 1))
		shadow_add_site(start, bytes, site);
	else
		note_new(start, bytes, from, s);
}

void note(const void *p, size_t bytes, struct note_from from)
{
	if (!p)
		return;
	if (__builtin_expect(wants_paths, 0))
		note_path((uint64_t)(uintptr_t)p, bytes, from);
	else
		shadow_add((uint64_t)(uintptr_t)p, bytes, from.caller);
}
