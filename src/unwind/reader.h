/* SPDX-License-Identifier: MIT */
/*
 * reader - small pieces of memory, fetched in larger ones
 *
 * The caller's function reads memory without the risk of a fault. It may be a
 * system call, so a reader fetches what follows too, as far as the page goes.
 *
 * Context: any, handler included, as far as the caller's function allows.
 */
#ifndef COMDET_UNWIND_READER_H
#define COMDET_UNWIND_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_ranges;

enum {
	READER_BYTES_MAX = 1024,
};

/*
 * The function copies @n bytes at @addr and returns 0, or an error if not all
 * of them are readable; it never faults.
 */
struct unwind_memory {
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
};

struct reader {
	const struct unwind_memory *mem;
	uint64_t at;   /* what is fetched: */
	uint32_t have; /* bytes */
	uint32_t size; /* to fetch at a time, at most READER_BYTES_MAX */
	uint64_t direct_low, direct_high; /* plain loads are safe there */
	uint8_t bytes[READER_BYTES_MAX];
};

/* A reader that fetches @size bytes at a time. */
void reader_begin(struct reader *r, const struct unwind_memory *mem,
		  uint32_t size);

/*
 * Plain loads are safe in the range of @safe with @addr, and nowhere else if
 * there is none. There the reader fetches nothing.
 */
void reader_direct(struct reader *r, const struct loaded_ranges *safe,
		   uint64_t addr);

/* Copy @n bytes at @addr. Returns 0 or -EFAULT. */
int reader_copy(struct reader *r, uint64_t addr, void *out, size_t n);

/*
 * A walk over the bytes from @at to @end, as an attacker may have written them.
 * A step that fails takes nothing and spends the walk for good: from then on
 * every step yields 0. So a decoder checks once, at the end.
 */
struct walk {
	struct reader *reader;
	uint64_t at, end;
	bool spent;
};

/* A walk over the @bytes at @at. */
struct walk walk_from(struct reader *r, uint64_t at, uint64_t bytes);

uint64_t walk_fixed(struct walk *w, unsigned bytes); /* 1, 2, 4 or 8 */
uint64_t walk_uleb(struct walk *w);
int64_t walk_sleb(struct walk *w);
void walk_skip(struct walk *w, uint64_t bytes);

/*
 * A pointer in one of the encodings DW_EH_PE_*, relative to its own address if
 * the encoding says so. Indirect ones are not followed: the walk is spent
 * where @value is wanted.
 */
uint64_t walk_pointer(struct walk *w, uint8_t encoding, bool value);

#endif
