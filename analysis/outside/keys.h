/* SPDX-License-Identifier: MIT */
/*
 * keys - one number for each byte that processes may share
 *
 * The engine tells places apart by one 64-bit number. Within a process an
 * address would do; between processes memory may be shared at different
 * addresses, and private memory of different processes has equal ones. A key is
 *
 *	private	0 | number of the address space, 16 bits | address, 47 bits
 *	shared	1 | number of what backs it, 16 bits     | offset, 47 bits
 *
 * so bytes of one line have keys of one line. What backs a shared mapping is a
 * device and an inode; System V segments have inode numbers of their own on a
 * device that others use too, and these numbers mean something in one IPC
 * namespace only, so both are part of it.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_KEYS_H
#define COMDET_ANALYSIS_OUTSIDE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KEY_NUMBERS = 1 << 16, /* of address spaces, of backings */
	KEY_NONE = UINT32_MAX,
};

struct backing {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool system_v;
	uint64_t ipc_namespace; /* of a System V segment, else 0 */
};

/* All backings that were met, by number. Zero-initialized it is empty. */
struct keys {
	struct backing *backing;
	size_t backings, room;
	uint32_t *bucket; /* number + 1, 0: free */
	size_t buckets;
};

/* The number of @b, KEY_NONE if there are too many. */
uint32_t keys_backing(struct keys *k, const struct backing *b);
void keys_release(struct keys *k);

/* True if the kernel's name @path of a mapping is that of a System V segment.
 */
bool keys_path_is_system_v(const char *path);

static inline uint64_t key_of_private(uint32_t space, uint64_t addr)
{
	return ((uint64_t)(space % KEY_NUMBERS) << 47) |
	       (addr & ((UINT64_C(1) << 47) - 1));
}

static inline uint64_t key_of_shared(uint32_t backing, uint64_t offset)
{
	return UINT64_C(1) << 63 | (uint64_t)(backing % KEY_NUMBERS) << 47 |
	       (offset & ((UINT64_C(1) << 47) - 1));
}

static inline bool key_is_shared(uint64_t key)
{
	return key >> 63;
}

/* Of what backs it, or of the address space. */
static inline uint32_t key_number(uint64_t key)
{
	return (key >> 47) % KEY_NUMBERS;
}

/* The offset, or the address. */
static inline uint64_t key_place(uint64_t key)
{
	return key & ((UINT64_C(1) << 47) - 1);
}

#endif
