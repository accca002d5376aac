/* SPDX-License-Identifier: MIT */
/*
 * map_table - the mappings of an address space, and which of them are new
 */
#include <string.h>
#include <sys/mman.h>

#include "map_table.h"

#include "src/base/signal_safe.h"

/* Mappings are the same if all that is written of them is the same. */
static struct map_range range_of(const struct cdp_map *m)
{
	uint64_t key = m->inode * 0x9E3779B97F4A7C15ull;

	key ^= m->file_offset + ((uint64_t)m->dev_major << 40) +
	       ((uint64_t)m->dev_minor << 20) + m->prot +
	       ((uint64_t)m->flags << 8);
	for (const char *p = m->path; *p; p++)
		key = (key ^ (uint8_t)*p) * 0x100000001B3ull;
	return (struct map_range){ m->start, m->end, key, m->prot & PROT_EXEC };
}

/* The first of @n ranges that ends behind @addr, @n if none does. */
static uint32_t first_behind(const struct map_range *r, uint32_t n,
			     uint64_t addr)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (r[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct map_range *map_range_at(const struct map_range *r, uint32_t n,
				     uint64_t addr)
{
	uint32_t i = first_behind(r, n, addr);

	return i < n && r[i].start <= addr ? &r[i] : NULL;
}

/*
 * If @m is the part of a file's data that the file does not fill (.bss), name
 * it after @file, the latest mapping of one.
 */
static void name_bss(struct cdp_map *m, const struct cdp_map *file)
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

void map_table_init(struct map_table *t, struct map_range *memory, uint32_t max)
{
	memset(t, 0, sizeof(*t));
	t->range[0] = memory;
	t->range[1] = memory + max;
	t->max = max;
}

void map_table_begin(struct map_table *t)
{
	t->taken = 0;
	memset(&t->last_file, 0, sizeof(t->last_file));
}

bool map_table_take(struct map_table *t, struct cdp_map *m)
{
	uint32_t last = atomic_load(&t->current);
	uint32_t n = atomic_load(&t->count[last]);
	const struct map_range *before;
	struct map_range x;

	name_bss(m, &t->last_file);
	if (!m->path[0] && !(m->prot & PROT_EXEC))
		return false;
	if (m->path[0] == '/')
		t->last_file = *m;
	if (t->taken == t->max)
		return false;
	x = range_of(m);
	t->range[!last][t->taken++] = x;
	before = map_range_at(t->range[last], n, x.start);
	if (before && before->start == x.start && before->end == x.end &&
	    before->key == x.key)
		return false;
	m->generation = atomic_load(&t->generation) + 1;
	return true;
}

void map_table_end(struct map_table *t)
{
	uint32_t next = !atomic_load(&t->current);

	atomic_store(&t->count[next], t->taken);
	atomic_store(&t->current, next);
	atomic_fetch_add(&t->generation, 1);
}

bool map_table_has_code(const struct map_table *t, uint64_t ip)
{
	uint32_t at = atomic_load(&t->current);
	uint32_t n = atomic_load(&t->count[at]);
	const struct map_range *r = map_range_at(t->range[at], n, ip);

	return r && r->exec;
}
