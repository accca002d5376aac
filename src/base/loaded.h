/* SPDX-License-Identifier: MIT */
/*
 * loaded - ask the loaded libraries for a symbol
 *
 * dlsym allocates a message in the program's heap if there is no such symbol,
 * and the program's next dlerror returns it. Here nothing is allocated.
 */
#ifndef COMDET_BASE_LOADED_H
#define COMDET_BASE_LOADED_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LOADED_RANGES_MAX = 128,
};

struct loaded_range {
	uint64_t low, high;
};

struct loaded_ranges {
	uint32_t count;
	struct loaded_range range[LOADED_RANGES_MAX];
};

/*
 * The read-only segments with the .eh_frame_hdr of the objects that are loaded
 * now, as many as there is room for. Context: set-up.
 */
void loaded_tables(struct loaded_ranges *out);

/* The range of @r, or NULL, with @addr in it; none if that is empty. Context:
 * any. */
static inline struct loaded_range loaded_range_of(const struct loaded_ranges *r,
						  uint64_t addr)
{
	for (uint32_t i = 0; r && i < r->count; i++)
		if (addr >= r->range[i].low && addr < r->range[i].high)
			return r->range[i];
	return (struct loaded_range){ 0, 0 };
}

/*
 * The address of the first variable or function @name, of any version, that the
 * program or a library exports, or a library loaded after this one; NULL if
 * there is none. Context: set-up.
 */
const void *loaded_symbol(const char *name);
const void *loaded_symbol_after_us(const char *name);

/* How many objects are loaded, the program among them. Any context but a
 * handler. */
unsigned loaded_count(void);

/*
 * What a call of @name from @caller means if this library, which stands before
 * all others, did not have it: the function of the first of the @first objects
 * that were loaded first (then *@by_all), else that of the library with
 * @caller, else of any loaded later. A library that dlopen loads does not lend
 * its functions to others, so the loader asks the libraries of the caller only;
 * which those are is not known here. NULL if there is none. Any context but a
 * handler.
 */
const void *loaded_symbol_for(const char *name, const void *caller,
			      unsigned first, bool *by_all);

#endif
