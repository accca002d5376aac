/* SPDX-License-Identifier: MIT */
/*
 * space - the mappings of a watched process, and the keys of its memory
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "space.h"
#include "now.h"
#include "analysis/base/util.h"
#include "src/maps/map_lines.h"

enum {
	RANGES_MAX = 65536, /* as many as vm.max_map_count allows by default */
	LINE_MAX_BYTES = 4096,
	REREAD_NS = 100 * 1000 * 1000,
	REREAD_SHARE = 50,
};

void space_init(struct space *s, pid_t pid, uint32_t number, struct keys *keys)
{
	memset(s, 0, sizeof(*s));
	s->pid = pid;
	s->number = number;
	s->keys = keys;
	/* Pages that are not touched take no memory. */
	s->memory = xcalloc(2 * (size_t)RANGES_MAX, sizeof(*s->memory));
	map_table_init(&s->table, s->memory, RANGES_MAX);
}

void space_release(struct space *s)
{
	free(s->range);
	free(s->memory);
	memset(s, 0, sizeof(*s));
}

static uint64_t ipc_namespace(struct space *s)
{
	char path[64], text[64];
	ssize_t n;

	if (s->ipc_namespace)
		return s->ipc_namespace;
	snprintf(path, sizeof(path), "/proc/%d/ns/ipc", (int)s->pid);
	n = readlink(path, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "ipc:[%lu]", &s->ipc_namespace) != 1)
		s->ipc_namespace = 1;
	return s->ipc_namespace;
}

static uint32_t backing_of(struct space *s, bool shared, const char *path,
			   uint64_t inode, uint32_t major, uint32_t minor)
{
	struct backing b = { .inode = inode,
			     .dev_major = major,
			     .dev_minor = minor };

	if (!shared)
		return KEY_NONE;
	b.system_v = keys_path_is_system_v(path);
	if (b.system_v)
		b.ipc_namespace = ipc_namespace(s);
	else if (!inode) /* of a device: no memory; segments may have 0 */
		return KEY_NONE;
	return keys_backing(s->keys, &b);
}

static void append(struct space *s, const struct space_range *r)
{
	s->range = grow(s->range, s->ranges, &s->room, sizeof(*s->range));
	s->range[s->ranges++] = *r;
}

static int open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int space_read(struct space *s, const struct space_sink *sink)
{
	static char buffer[LINE_MAX_BYTES];
	struct map_lines lines;
	struct cdp_map m;
	int fd = open_maps(s->pid);
	bool any = false;

	if (fd < 0)
		return -errno;
	map_lines_begin(&lines, fd, buffer, sizeof(buffer));
	while (map_lines_next(&lines, &m)) {
		struct space_range r = {
			.start = m.start,
			.end = m.end,
			.offset = m.file_offset,
			.prot = m.prot,
			.file = m.inode,
		};

		if (!any) {
			s->ranges = 0;
			map_table_begin(&s->table);
			any = true;
		}
		r.backing = backing_of(s, m.flags & CDP_MAP_SHARED, m.path,
				       m.inode, m.dev_major, m.dev_minor);
		append(s, &r);
		if (r.backing != KEY_NONE && keys_path_is_system_v(m.path))
			m.ipc_namespace = ipc_namespace(s);
		if (map_table_take(&s->table, &m) && sink->mapping)
			sink->mapping(sink->ctx, &m);
	}
	close(fd);
	if (!any)
		return -ESRCH;
	map_table_end(&s->table);
	s->code_changes++;
	return 0;
}

void space_reread(struct space *s, uint64_t now, const struct space_sink *sink)
{
	uint64_t took;

	if (now < s->next_read)
		return;
	space_read(s, sink);
	took = outside_now() - now;
	s->next_read = now + took +
		       (took * REREAD_SHARE > REREAD_NS ? took * REREAD_SHARE
							: REREAD_NS);
}

/* The first range that ends behind @addr. */
static size_t first_behind(const struct space *s, uint64_t addr)
{
	size_t first = 0, n = s->ranges;

	while (n) {
		size_t half = n / 2;

		if (s->range[first + half].end <= addr) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first;
}

/* Make room for [@start, @end): cut what overlaps. Returns where it goes. */
static size_t clear(struct space *s, uint64_t start, uint64_t end)
{
	size_t first = first_behind(s, start), last;
	struct space_range *r;

	if (first < s->ranges && s->range[first].start < start) {
		struct space_range head = s->range[first];

		head.end = start;
		s->range[first].offset += start - s->range[first].start;
		s->range[first].start = start;
		append(s, &head);
		r = &s->range[first];
		memmove(r + 1, r, (s->ranges - 1 - first) * sizeof(*r));
		*r = head;
		first++;
	}
	last = first_behind(s, end);
	r = s->range;
	if (last < s->ranges && r[last].start < end) {
		r[last].offset += end - r[last].start;
		r[last].start = end;
	}
	if (last > first)
		memmove(r + first, r + last, (s->ranges - last) * sizeof(*r));
	s->ranges -= last - first;
	return first;
}

void space_map(struct space *s, const struct outside_record *record)
{
	struct space_range new = {
		.start = record->map.start,
		.end = record->map.end,
		.offset = record->map.offset,
		.prot = record->map.prot,
		.file = record->map.inode,
	};
	struct space_range *r;
	size_t at;

	if (new.end <= new.start)
		return;
	new.backing = backing_of(s, record->map.shared, record->map.path,
				 record->map.inode, record->map.dev_major,
				 record->map.dev_minor);
	at = clear(s, new.start, new.end);
	append(s, &new);
	r = &s->range[at];
	memmove(r + 1, r, (s->ranges - 1 - at) * sizeof(*r));
	*r = new;
	if (new.prot & PROT_EXEC)
		s->code_changes++;
}

const struct space_range *space_at(const struct space *s, uint64_t addr)
{
	size_t i = first_behind(s, addr);

	return i < s->ranges && s->range[i].start <= addr ? &s->range[i] : NULL;
}

uint64_t space_key(const struct space *s, const struct space_range *r,
		   uint64_t addr)
{
	if (r->backing == KEY_NONE)
		return key_of_private(s->number, addr);
	return key_of_shared(r->backing, r->offset + (addr - r->start));
}

uint64_t space_address(const struct space *s, uint64_t key)
{
	uint64_t place = key_place(key);

	if (!key_is_shared(key))
		return key_number(key) == s->number % KEY_NUMBERS ? place : 0;
	for (size_t i = 0; i < s->ranges; i++) {
		const struct space_range *r = &s->range[i];

		if (r->backing != KEY_NONE &&
		    r->backing % KEY_NUMBERS == key_number(key) &&
		    place >= r->offset && place - r->offset < r->end - r->start)
			return r->start + (place - r->offset);
	}
	return 0;
}
