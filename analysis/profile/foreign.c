/* SPDX-License-Identifier: MIT */
/*
 * foreign - detections between processes that share memory
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "foreign.h"
#include "mapping.h"
#include "rows.h"
#include "analysis/base/util.h"

enum {
	SHARED_MAX = 1024, /* mappings to compare a line with */
};

struct owner {
	uint64_t number; /* of the process */
	uint32_t id, row;
};

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return x->number != y->number ? order_u64(x->number, y->number)
				      : order_u64(x->id, y->id);
}

/* The row of thread @id of process @number, or NO_THREAD. */
static uint32_t find_owner(const struct owner *owner, size_t n, uint64_t number,
			   uint32_t id)
{
	struct owner key = { .number = number, .id = id };
	const struct owner *o =
		n ? bsearch(&key, owner, n, sizeof(*owner), compare_owners)
		  : NULL;

	return o ? o->row : NO_THREAD;
}

static bool any_foreign(const struct profile *p)
{
	for (size_t i = 0; i < p->pairs; i++)
		if (p->pair[i].foreign)
			return true;
	for (size_t i = 0; i < p->slices; i++)
		if (p->slice[i].foreign)
			return true;
	return false;
}

void foreign_publishers(struct profile *p)
{
	struct owner *owner;
	size_t n = p->threads;

	if (!any_foreign(p))
		return;
	owner = xcalloc(n, sizeof(*owner));
	for (size_t i = 0; i < n; i++)
		owner[i] = (struct owner){
			.number =
				p->process[p->thread[i].process].header.number,
			.id = p->thread[i].id,
			.row = (uint32_t)i,
		};
	if (n)
		qsort(owner, n, sizeof(*owner), compare_owners);
	for (size_t i = 0; i < p->pairs; i++) {
		struct pair_row *pair = &p->pair[i];
		uint32_t row;

		if (!pair->foreign)
			continue;
		row = find_owner(owner, n, pair->foreign, pair->publisher);
		if (row == NO_THREAD) {
			row = (uint32_t)p->threads;
			rows_add_unknown(p, pair->process, &pair->publisher, 1);
		} else {
			pair->publisher_process = p->thread[row].process;
		}
		pair->publisher = row;
	}
	for (size_t i = 0; i < p->slices; i++) {
		struct slice_row *s = &p->slice[i];

		if (s->foreign)
			s->publisher =
				find_owner(owner, n, s->foreign, s->publisher);
	}
	free(owner);
}

/* A mapping of shared memory. */
struct shared {
	uint32_t process;
	const struct cdp_map *map;
};

static bool is_shared(const struct cdp_map *m)
{
	return m->flags & CDP_MAP_SHARED;
}

/* Do both map the same? System V segments are told from files by their name. */
static bool same_backing(const struct cdp_map *a, const struct cdp_map *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor &&
	       a->ipc_namespace == b->ipc_namespace &&
	       !strncmp(a->path, "/SYSV", 5) == !strncmp(b->path, "/SYSV", 5);
}

static size_t list_shared(const struct profile *p, struct shared *shared)
{
	size_t n = 0;

	for (size_t i = 0; i < p->processes; i++)
		for (size_t j = 0; j < p->process[i].maps; j++)
			if (n < SHARED_MAX && is_shared(&p->process[i].map[j]))
				shared[n++] = (struct shared){
					(uint32_t)i, &p->process[i].map[j]
				};
	return n;
}

/* Move the line of @pair to the first process that has it. */
static void move(struct pair_row *pair, const struct cdp_map *m,
		 const struct shared *shared, size_t n)
{
	uint64_t offset = m->file_offset + (pair->line - m->start);

	for (size_t i = 0; i < n; i++) {
		const struct cdp_map *to = shared[i].map;
		uint64_t by;

		if (!same_backing(m, to) || offset < to->file_offset ||
		    offset - to->file_offset >= to->end - to->start)
			continue;
		by = to->start + (offset - to->file_offset) - pair->line;
		pair->process = shared[i].process;
		pair->line += by;
		pair->publisher_addr += by;
		pair->detector_addr += by;
		pair->line_generation = to->generation;
		return;
	}
}

void foreign_lines(struct profile *p)
{
	struct shared *shared;
	size_t n;

	if (p->processes < 2)
		return;
	shared = xcalloc(SHARED_MAX, sizeof(*shared));
	n = list_shared(p, shared);
	for (size_t i = 0; n && i < p->pairs; i++) {
		struct pair_row *pair = &p->pair[i];
		const struct cdp_map *m =
			pair->line
				? process_map(&p->process[pair->process],
					      pair->line, pair->line_generation)
				: NULL;

		if (m && is_shared(m))
			move(pair, m, shared, n);
	}
	free(shared);
}

/* Was the mapping's process profiled alone, and could it write there? */
static bool is_unseen(const struct profile *p, const struct shared *s)
{
	return !p->process[s->process].header.number &&
	       s->map->prot & PROT_WRITE;
}

const char *foreign_unseen(const struct profile *p)
{
	struct shared *shared = xcalloc(SHARED_MAX, sizeof(*shared));
	size_t n = list_shared(p, shared);
	const char *path = NULL;

	for (size_t i = 0; i < n && !path; i++) {
		if (!is_unseen(p, &shared[i]))
			continue;
		for (size_t j = i + 1; j < n && !path; j++)
			if (shared[j].process != shared[i].process &&
			    is_unseen(p, &shared[j]) &&
			    same_backing(shared[i].map, shared[j].map))
				path = shared[i].map->path;
	}
	free(shared);
	return path;
}
