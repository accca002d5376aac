/* SPDX-License-Identifier: MIT */
/*
 * memory - how decoder and interpreter read the program's memory
 */
#ifndef COMDET_X86_DECODE_MEMORY_H
#define COMDET_X86_DECODE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MEMORY_READ_MAX = 256, /* bytes of one call of read */
	MEMORY_DATA_RANGES = 2,
};

struct memory_range {
	uint64_t low, high; /* both 0: empty */
};

/*
 * The function read copies @n bytes (at most MEMORY_READ_MAX) at @addr and
 * returns 0, or -EFAULT if not all of them are readable; it never faults.
 * Between direct_low and direct_high plain loads are safe, as on the page of
 * the program counter; both are 0 if they are safe nowhere. If direct_is_all,
 * they hold all the code there is near the program counter. The ranges of data
 * are further memory where they are safe.
 */
struct memory {
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	uint64_t direct_low, direct_high;
	bool direct_is_all;
	struct memory_range data[MEMORY_DATA_RANGES];
};

static inline bool memory_is_direct(const struct memory *mem, uint64_t addr,
				    size_t n)
{
	return addr >= mem->direct_low && addr < mem->direct_high &&
	       mem->direct_high - addr >= n;
}

/* The same of data, which may also lie in the ranges for it. */
static inline bool memory_is_direct_data(const struct memory *mem,
					 uint64_t addr, size_t n)
{
	for (int i = 0; i < MEMORY_DATA_RANGES; i++)
		if (addr >= mem->data[i].low && addr < mem->data[i].high &&
		    mem->data[i].high - addr >= n)
			return true;
	return memory_is_direct(mem, addr, n);
}

typedef uint64_t memory_word __attribute__((aligned(1), may_alias));

/*
 * Copy @n bytes at @addr with plain loads. Another thread of the program may
 * write there at the same time; the caller must accept a torn value.
 */
__attribute__((no_sanitize("thread", "address"))) static inline void
memory_copy_direct(void *to, uint64_t addr, size_t n)
{
	uint8_t *out = to;
	uint64_t word;

	for (; n >= sizeof(word); n -= sizeof(word), addr += sizeof(word)) {
		word = *(const volatile memory_word *)addr;
		__builtin_memcpy(out, &word, sizeof(word));
		out += sizeof(word);
	}
	for (; n; n--)
		*out++ = *(const volatile uint8_t *)addr++;
}

/* Copy @n bytes of data at @addr, by plain loads where that is safe. */
static inline int memory_read_data(const struct memory *mem, uint64_t addr,
				   void *to, size_t n)
{
	if (!memory_is_direct_data(mem, addr, n))
		return mem->read(mem->ctx, addr, to, n);
	memory_copy_direct(to, addr, n);
	return 0;
}

#endif
