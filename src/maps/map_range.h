/* SPDX-License-Identifier: MIT */
/*
 * map_range - what tells one mapping of the address space from another
 *
 * Only mappings that the reading before did not have are written to the file.
 * They are the same if all that is written of them is: place, file, rights.
 */
#ifndef COMDET_MAPS_MAP_RANGE_H
#define COMDET_MAPS_MAP_RANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "src/store/cdp.h"

struct map_range {
	uint64_t start, end;
	uint64_t key; /* a hash of everything else about the mapping */
	bool exec;
};

static inline struct map_range map_range(const struct cdp_map *m)
{
	uint64_t key = m->inode * 0x9E3779B97F4A7C15ull;

	key ^= m->file_offset + ((uint64_t)m->dev_major << 40) +
	       ((uint64_t)m->dev_minor << 20) + m->prot;
	for (const char *p = m->path; *p; p++)
		key = (key ^ (uint8_t)*p) * 0x100000001B3ull;
	return (struct map_range){ m->start, m->end, key, m->prot & PROT_EXEC };
}

static inline bool map_range_same(const struct map_range *a,
				  const struct map_range *b)
{
	return a->start == b->start && a->end == b->end && a->key == b->key;
}

/*
 * If @m is the part of a file's data that the file does not fill (.bss), name
 * it after @file, the latest mapping of one.
 */
static inline void map_name_bss(struct cdp_map *m, const struct cdp_map *file)
{
	if (m->path[0] || m->prot != (PROT_READ | PROT_WRITE) ||
	    !file->path[0] || file->end != m->start ||
	    !(file->prot & PROT_WRITE))
		return;
	memcpy(m->path, file->path, sizeof(m->path));
	m->inode = file->inode;
	m->dev_major = file->dev_major;
	m->dev_minor = file->dev_minor;
	m->file_offset = file->file_offset + m->start - file->start;
}

#endif
