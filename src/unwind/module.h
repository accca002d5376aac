/* SPDX-License-Identifier: MIT */
/*
 * module - a mapped object whose frames .eh_frame describes
 */
#ifndef COMDET_UNWIND_MODULE_H
#define COMDET_UNWIND_MODULE_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_module {
	uint64_t low, high; /* its addresses */
	uint64_t index;     /* address of its .eh_frame_hdr, 0: it has none */
	/*
	 * Differs between objects that lay at the same addresses one after the
	 * other, so that what is remembered of one is not taken for the other.
	 */
	uint64_t identity;
};

/*
 * Find the object that has code at @pc. Returns false if there is none. It must
 * be callable where the unwinder is called.
 */
typedef bool unwind_find_function(void *ctx, uint64_t pc,
				  struct unwind_module *out);

/* struct dl_find_object of glibc 2.35 and later on x86-64. */
struct loaded_object {
	unsigned long long flags;
	void *start, *end;
	void *link_map;
	void *eh_frame;
	unsigned long long reserved[7];
};

/* _dl_find_object, without a lock: 0 if an object has code at @address. */
typedef int loaded_find_function(void *address, struct loaded_object *out);

#endif
