/* SPDX-License-Identifier: MIT */
/*
 * symbols_blocks - heap blocks, by the calls that allocated them
 */
#include <stdlib.h>
#include <string.h>

#include "library_code.h"
#include "symbols_internal.h"
#include "analysis/base/util.h"

enum {
	TEXT_MAX = 512,
};

/* How the C library begins a thread, or the program. */
static bool begins(const struct place *p)
{
	return is_library_place(p) ||
	       (p->function && !strcmp(p->function, "_start"));
}

void *symbols_block_path(const struct place *place, size_t n,
			 struct object *out)
{
	struct place *caller;
	size_t first = 0;

	while (first + 1 < n && is_library_place(&place[first]))
		first++;
	if (is_library_place(&place[first]))
		first = 0;
	while (n > first + 1 && begins(&place[n - 1]))
		n--;
	out->allocated = place[first++];
	caller = xcalloc(n - first + 1, sizeof(*caller));
	memcpy(caller, &place[first], (n - first) * sizeof(*caller));
	out->caller = caller;
	out->callers = n - first;
	return caller;
}

char *symbols_block_text(const struct object *o)
{
	const struct place *p = &o->allocated;
	char names[TEXT_MAX] = "";
	size_t at = 0;

	for (size_t i = 0; i < o->callers && at < sizeof(names) - 1; i++) {
		const char *name = o->caller[i].function;

		at += (size_t)snprintf(names + at, sizeof(names) - at, " < %s",
				       name ? name : "?");
	}
	return xasprintf("%sheap block from %s%s%s%s%s",
			 o->freed ? "freed " : "", place_text(p),
			 p->function || o->callers ? " (" : "",
			 p->function  ? p->function
			 : o->callers ? "?"
				      : "",
			 names, p->function || o->callers ? ")" : "");
}

int object_compare_blocks(const struct object *x, const struct object *y)
{
	int order;

	if (x->block != y->block)
		return x->block ? 1 : -1;
	if (!x->block)
		return 0;
	order = place_compare(&x->allocated, &y->allocated);
	if (!order && x->callers != y->callers)
		order = x->callers < y->callers ? -1 : 1;
	for (size_t i = 0; !order && i < x->callers; i++)
		order = place_compare(&x->caller[i], &y->caller[i]);
	return order;
}
