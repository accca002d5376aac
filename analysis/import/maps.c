/* SPDX-License-Identifier: MIT */
/*
 * maps - write the mappings that the samples of a process need
 *
 * These are the mappings that contain an instruction or the data of a sample,
 * and the others of the same files: offsets count from the first mapping of a
 * file, and only a file that is also mapped executable is a module. A recording
 * of a whole machine has a thousand times as many.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "maps.h"
#include "analysis/base/util.h"

enum {
	MAPS_MAX = 65536, /* of a process and its ancestors */
	ANCESTORS_MAX = 1024,
};

/* A mapping, and its number in order of time. */
struct seen_map {
	const struct import_task *task;
	uint64_t generation;
};

struct seen_maps {
	struct seen_map *map;
	size_t maps;
	const char **name; /* of the files that are needed, ordered */
	size_t names;
	uint64_t *address; /* of samples, ordered */
	size_t addresses;
};

struct origin {
	const struct import_process *process;
	size_t maps;
};

/*
 * List the process and its ancestors, with how many mappings each had when it
 * forked.
 */
static size_t origins(const struct import *im, const struct import_process *s,
		      struct origin *o)
{
	size_t n = 0, maps = s->maps;

	while (n < ANCESTORS_MAX) {
		o[n++] = (struct origin){ s, maps < s->maps ? maps : s->maps };
		if (s->parent == IMPORT_NONE)
			break;
		maps = s->parent_maps;
		s = &im->process[s->parent];
	}
	return n;
}

/* Collect the mappings of them all, the oldest ancestor's first. */
static void gather(const struct import *im, const struct import_process *s,
		   struct seen_maps *to)
{
	struct origin *o = xcalloc(ANCESTORS_MAX, sizeof(*o));
	size_t n = origins(im, s, o), all = 0;

	for (size_t i = 0; i < n; i++)
		all += o[i].maps;
	if (all > MAPS_MAX)
		all = MAPS_MAX;
	to->map = xcalloc(all + 1, sizeof(*to->map));
	while (n--) {
		s = o[n].process;
		for (size_t i = 0; i < o[n].maps && to->maps < all; i++)
			to->map[to->maps++] =
				(struct seen_map){ &im->task[s->map[i]],
						   s->base + i + 1 };
	}
	free(o);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_sampled(const struct seen_maps *m, const struct import_task *t)
{
	size_t low = 0, high = m->addresses;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (m->address[mid] < t->start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->addresses && m->address[low] < t->end;
}

static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/'; /* "//anon" is not a file */
}

static bool is_needed(const struct seen_maps *m, const struct import_task *t)
{
	return is_sampled(m, t) || (m->names && is_file(t->text) &&
				    bsearch(&t->text, m->name, m->names,
					    sizeof(*m->name), compare_names));
}

/* Find the addresses that are needed, and thereby the files. */
static void find_needed(const struct import *im, const struct import_process *s,
			struct seen_maps *m)
{
	m->address = xcalloc(2 * s->samples + 1, sizeof(*m->address));
	for (size_t i = 0; i < s->samples; i++) {
		const struct import_sample *x =
			&im->sample[im->by_process[s->from + i]];

		m->address[m->addresses++] = x->ip;
		m->address[m->addresses++] = x->addr;
	}
	qsort(m->address, m->addresses, sizeof(*m->address), compare_u64);
	m->name = xcalloc(m->maps + 1, sizeof(*m->name));
	for (size_t i = 0; i < m->maps; i++)
		if (is_file(m->map[i].task->text) &&
		    is_sampled(m, m->map[i].task))
			m->name[m->names++] = m->map[i].task->text;
	if (m->names)
		qsort(m->name, m->names, sizeof(*m->name), compare_names);
}

static int compare_build_ids(const void *a, const void *b)
{
	const struct perf_data_build_id *x = a, *y = b;

	return strcmp(x->file, y->file);
}

static void find_build_id(struct import *im, struct cdp_map *m)
{
	struct perf_data *d = &im->data;
	struct perf_data_build_id key = { .file = m->path }, *found;

	if (!d->build_ids || !m->path[0])
		return;
	if (!im->build_ids_ordered)
		qsort(d->build_id, d->build_ids, sizeof(*d->build_id),
		      compare_build_ids);
	im->build_ids_ordered = true;
	found = bsearch(&key, d->build_id, d->build_ids, sizeof(*d->build_id),
			compare_build_ids);
	if (!found || !found->user)
		return;
	memcpy(m->build_id, found->id, found->bytes);
	m->build_id_bytes = found->bytes;
}

static void fill_map(struct import *im, struct cdp_map *m,
		     const struct seen_map *from)
{
	const struct import_task *t = from->task;

	*m = (struct cdp_map){
		.start = t->start,
		.end = t->end,
		.file_offset = t->file_offset,
		.generation = from->generation,
		.inode = t->inode,
		.dev_major = t->dev_major,
		.dev_minor = t->dev_minor,
		.prot = t->prot,
		.build_id_bytes = t->build_id_bytes,
	};
	memcpy(m->build_id, t->build_id, sizeof(m->build_id));
	/* perf writes "//anon" where /proc has an empty name. */
	if (strcmp(t->text, "//anon"))
		snprintf(m->path, sizeof(m->path), "%s", t->text);
	if (m->path[0] != '/')
		m->file_offset = 0; /* perf wrote the address there */
	if (!m->build_id_bytes)
		find_build_id(im, m);
}

int import_maps_write(struct import *im, const struct import_process *s,
		      struct store *store)
{
	struct store_writer records = { .section = CDP_MAPS };
	struct seen_maps m = { 0 };
	int err = 0;

	gather(im, s, &m);
	find_needed(im, s, &m);
	for (size_t i = 0; i < m.maps && !err; i++) {
		struct cdp_map *record;

		if (!is_needed(&m, m.map[i].task))
			continue;
		record = store_record(store, &records);
		if (record) {
			fill_map(im, record, &m.map[i]);
			store_commit(&records);
		} else {
			err = -ENOSPC;
		}
	}
	free(m.map);
	free(m.name);
	free(m.address);
	return err;
}

/* Look among executable mappings for the file with the program's name. */
const char *import_program(const struct import *im,
			   const struct import_process *s)
{
	const char *name = s->name && s->name[0] ? s->name : NULL;
	const char *first = NULL, *alike = NULL;
	struct seen_maps m = { 0 };

	gather(im, s, &m);
	for (size_t i = 0; i < m.maps && !alike; i++) {
		const struct import_task *t = m.map[i].task;

		if (!is_file(t->text) || !(t->prot & PROT_EXEC))
			continue;
		if (!first)
			first = t->text;
		/* COMM holds only 15 characters of the name. */
		if (name &&
		    !strncmp(strrchr(t->text, '/') + 1, name, strlen(name)))
			alike = t->text;
	}
	free(m.map);
	return alike ? alike : first ? first : name ? name : "unknown";
}
