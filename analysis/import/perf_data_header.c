/* SPDX-License-Identifier: MIT */
/*
 * perf_data_header - the events and features of a recording
 *
 * In a file, attributes come before the data and features after it, each with
 * offset and size. In a stream each is a record with the same content.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf_data_internal.h"
#include "analysis/base/util.h"
#include "src/base/cursor.h"

/* Feature numbers (perf.data-file-format.txt of tools/perf). */
enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURES = 256,
};

enum {
	ATTR_BYTES_MIN = 64, /* of the first version of perf_event_attr */
	IDS_SECTION_BYTES = 2 * sizeof(uint64_t),
	EVENTS_MAX = 4096,
	IDS_MAX = 1024 * 1024, /* one per event and processor */
	BUILD_IDS_MAX = 1024 * 1024,
	FEATURE_BYTES_MAX = 64 * 1024 * 1024,
	BUILD_ID_FIELD_BYTES = 24,
	MISC_BUILD_ID_SIZE = 1 << 15, /* a field says how many bytes */
	UPDATE_NAME = 2,
};

/* Copy a padded string that follows its length, cut to @size. */
static void scan_string(struct cursor *s, char *to, size_t size)
{
	uint32_t bytes = cursor_u32(s);
	const char *at = cursor_take(s, bytes);
	size_t n = at ? strnlen(at, bytes) : 0;

	if (n >= size)
		n = size - 1;
	if (n)
		memcpy(to, at, n);
	to[n] = 0;
}

static int read_all(struct perf_data *d, char *to, size_t bytes,
		    uint64_t offset)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t n =
			pread(d->fd, to + have, bytes - have, offset + have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return perf_data_fail(
				d, "cannot be read at byte %llu",
				(unsigned long long)(offset + have));
		have += n;
	}
	return 0;
}

static bool lies_in(const struct perf_data *d, uint64_t offset, uint64_t bytes)
{
	return offset <= d->bytes && bytes <= d->bytes - offset;
}

/* Add an event with the first @bytes of an attribute; the rest stays 0. */
static int add_event(struct perf_data *d, const char *at, size_t bytes)
{
	struct perf_data_event *e;

	if (d->events == EVENTS_MAX)
		return perf_data_fail(d, "has more than %d events", EVENTS_MAX);
	d->event =
		grow(d->event, d->events, &d->events_room, sizeof(*d->event));
	e = &d->event[d->events++];
	memset(e, 0, sizeof(*e));
	if (bytes > sizeof(e->attr))
		bytes = sizeof(e->attr);
	memcpy(&e->attr, at, bytes);
	e->kind_at = d->kinds - 1;
	return 0;
}

static int add_id(struct perf_data *d, uint64_t id, size_t event)
{
	if (d->ids == IDS_MAX)
		return perf_data_fail(d, "has more than %d ids", IDS_MAX);
	if (import_index_find(&d->by_id, id) == IMPORT_NONE)
		import_index_set(&d->by_id, id, (uint32_t)d->ids);
	d->id = grow(d->id, d->ids, &d->ids_room, sizeof(*d->id));
	d->id[d->ids++] =
		(struct perf_data_id){ .id = id, .event = (uint32_t)event };
	return 0;
}

static int read_ids(struct perf_data *d, uint64_t offset, uint64_t bytes)
{
	uint64_t id[512];
	int err = 0;

	if (!lies_in(d, offset, bytes) || bytes % sizeof(id[0]))
		return perf_data_fail(d, "is damaged: ids of an event that "
					 "are not in the file");
	while (bytes && !err) {
		size_t part = bytes < sizeof(id) ? bytes : sizeof(id);

		err = read_all(d, (char *)id, part, offset);
		for (size_t i = 0; !err && i < part / sizeof(id[0]); i++)
			err = add_id(d, id[i], d->events - 1);
		offset += part;
		bytes -= part;
	}
	return err;
}

int perf_data_read_attrs(struct perf_data *d, uint64_t offset, uint64_t bytes,
			 uint64_t stride)
{
	if (!lies_in(d, offset, bytes) ||
	    stride < ATTR_BYTES_MIN + IDS_SECTION_BYTES || bytes % stride)
		return perf_data_fail(d, "is damaged: its events cannot be "
					 "found");
	for (; bytes; bytes -= stride, offset += stride) {
		char attr[sizeof(struct perf_event_attr)];
		uint64_t have = stride - IDS_SECTION_BYTES, ids[2];
		int err;

		if (have > sizeof(attr))
			have = sizeof(attr);
		err = read_all(d, attr, have, offset);
		if (!err)
			err = read_all(d, (char *)ids, sizeof(ids),
				       offset + stride - IDS_SECTION_BYTES);
		if (!err)
			err = add_event(d, attr, have);
		if (!err)
			err = read_ids(d, ids[0], ids[1]);
		if (err)
			return err;
	}
	return 0;
}

/* In a stream the ids follow the attribute, whose own size says where. */
int perf_data_take_attr(struct perf_data *d, const char *at, size_t bytes)
{
	uint32_t attr_bytes;
	struct cursor s;
	int err;

	if (bytes < ATTR_BYTES_MIN)
		return perf_data_fail(d, "is damaged: an event of %zu bytes",
				      bytes);
	/* Read the second word of the attribute, its size. */
	memcpy(&attr_bytes, at + sizeof(uint32_t), sizeof(attr_bytes));
	if (!attr_bytes)
		attr_bytes = ATTR_BYTES_MIN;
	if (attr_bytes < ATTR_BYTES_MIN || attr_bytes > bytes)
		return perf_data_fail(d, "is damaged: an event of %u bytes",
				      attr_bytes);
	err = add_event(d, at, attr_bytes);
	s = (struct cursor){ .at = at + attr_bytes,
			     .left = bytes - attr_bytes };
	while (!err && s.left >= sizeof(uint64_t))
		err = add_id(d, cursor_u64(&s), d->events - 1);
	return err;
}

int perf_data_take_update(struct perf_data *d, const char *at, size_t bytes)
{
	struct cursor s = { .at = at, .left = bytes };
	uint64_t type = cursor_u64(&s), id = cursor_u64(&s);
	struct perf_data_event *e;
	uint32_t found;

	if (type != UPDATE_NAME || s.spent)
		return 0;
	found = import_index_find(&d->by_id, id);
	if (found == IMPORT_NONE)
		return 0;
	e = &d->event[d->id[found].event];
	snprintf(e->name, sizeof(e->name), "%.*s", (int)strnlen(s.at, s.left),
		 s.at);
	e->kind_at = d->kinds - 1;
	return 0;
}

int perf_data_take_build_id(struct perf_data *d, const char *at, size_t bytes)
{
	struct cursor s = { .at = at, .left = bytes };
	struct perf_event_header h;
	struct perf_data_build_id b = { .bytes = PERF_DATA_ID_BYTES };
	const char *id;

	if (d->build_ids == BUILD_IDS_MAX)
		return perf_data_fail(d, "has more than %d build-ids",
				      BUILD_IDS_MAX);
	id = cursor_take(&s, sizeof(h));
	if (!id)
		return 0;
	memcpy(&h, id, sizeof(h));
	b.pid = (int32_t)cursor_u32(&s);
	id = cursor_take(&s, BUILD_ID_FIELD_BYTES);
	if (s.spent)
		return 0;
	memcpy(b.id, id, sizeof(b.id));
	if (h.misc & MISC_BUILD_ID_SIZE)
		b.bytes = (uint8_t)id[PERF_DATA_ID_BYTES];
	if (b.bytes > PERF_DATA_ID_BYTES)
		b.bytes = PERF_DATA_ID_BYTES;
	b.user = (h.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		 PERF_RECORD_MISC_USER;
	b.file = strndup(s.at, s.left);
	if (!b.file)
		die("out of memory");
	d->build_id = grow(d->build_id, d->build_ids, &d->build_ids_room,
			   sizeof(*d->build_id));
	d->build_id[d->build_ids++] = b;
	return 0;
}

/* In a file, the section is a sequence of such records. */
static int take_build_ids(struct perf_data *d, struct cursor *s)
{
	struct perf_event_header h;

	while (s->left >= sizeof(h)) {
		const char *at = s->at;
		int err;

		memcpy(&h, at, sizeof(h));
		if (h.size < sizeof(h) || !cursor_take(s, h.size))
			return perf_data_fail(d, "is damaged: its list of "
						 "build-ids");
		err = perf_data_take_build_id(d, at, h.size);
		if (err)
			return err;
	}
	return 0;
}

/* Join the arguments of perf. */
static void take_command(struct perf_data *d, struct cursor *s)
{
	uint32_t n = cursor_u32(s);
	size_t used = 0;

	d->command[0] = 0;
	while (n-- && !s->spent && used + 1 < sizeof(d->command)) {
		if (used)
			d->command[used++] = ' ';
		scan_string(s, d->command + used, sizeof(d->command) - used);
		used += strlen(d->command + used);
	}
}

/*
 * Take the names of events. They are in the order of the attributes, each with
 * a copy of its attribute, which is skipped.
 */
static void take_names(struct perf_data *d, struct cursor *s)
{
	uint32_t n = cursor_u32(s), attr_bytes = cursor_u32(s);

	for (uint32_t i = 0; i < n && !s->spent; i++) {
		char name[PERF_DATA_NAME_BYTES];
		uint32_t ids;

		cursor_take(s, attr_bytes);
		ids = cursor_u32(s);
		scan_string(s, name, sizeof(name));
		if (ids > s->left / sizeof(uint64_t))
			break;
		cursor_take(s, ids * sizeof(uint64_t));
		if (i < d->events)
			memcpy(d->event[i].name, name, sizeof(name));
	}
	d->kinds++;
}

static void take_pmus(struct perf_data *d, struct cursor *s)
{
	uint32_t n = cursor_u32(s);

	while (n-- && !s->spent && d->pmus < EVENTS_MAX) {
		struct perf_data_pmu *p;

		d->pmu = grow(d->pmu, d->pmus, &d->pmus_room, sizeof(*d->pmu));
		p = &d->pmu[d->pmus++];
		p->type = cursor_u32(s);
		scan_string(s, p->name, sizeof(p->name));
	}
	d->kinds++;
}

/* "AuthenticAMD,25,17,1" gives family and model; Intel has no IBS. */
static void take_cpuid(struct perf_data *d)
{
	unsigned int family, model;

	if (sscanf(d->cpuid, "AuthenticAMD,%u,%u", &family, &model) == 2 ||
	    sscanf(d->cpuid, "HygonGenuine,%u,%u", &family, &model) == 2)
		d->ibs_cpu = (struct ibs_cpu){ family, model };
}

int perf_data_take_feature(struct perf_data *d, uint64_t feature,
			   const char *at, size_t bytes)
{
	struct cursor s = { .at = at, .left = bytes };

	switch (feature) {
	case FEATURE_BUILD_ID:
		return take_build_ids(d, &s);
	case FEATURE_HOSTNAME:
		scan_string(&s, d->host, sizeof(d->host));
		break;
	case FEATURE_OSRELEASE:
		scan_string(&s, d->kernel, sizeof(d->kernel));
		break;
	case FEATURE_VERSION:
		scan_string(&s, d->perf, sizeof(d->perf));
		break;
	case FEATURE_ARCH:
		scan_string(&s, d->arch, sizeof(d->arch));
		break;
	case FEATURE_NRCPUS:
		d->cpus = cursor_u32(&s);
		break;
	case FEATURE_CPUDESC:
		scan_string(&s, d->cpu, sizeof(d->cpu));
		break;
	case FEATURE_CPUID:
		scan_string(&s, d->cpuid, sizeof(d->cpuid));
		take_cpuid(d);
		break;
	case FEATURE_CMDLINE:
		take_command(d, &s);
		break;
	case FEATURE_EVENT_DESC:
		take_names(d, &s);
		break;
	case FEATURE_PMU_MAPPINGS:
		take_pmus(d, &s);
		break;
	}
	return 0;
}

/* After the data come offset and size of each feature in the header's flags. */
int perf_data_read_features(struct perf_data *d, const uint64_t flags[4],
			    uint64_t offset)
{
	for (uint64_t f = 0; f < FEATURES; f++) {
		uint64_t section[2];
		char *content;
		int err;

		if (!(flags[f / 64] >> f % 64 & 1))
			continue;
		if (!lies_in(d, offset, sizeof(section)))
			return perf_data_fail(d, "is cut short: the list of "
						 "its features is missing");
		err = read_all(d, (char *)section, sizeof(section), offset);
		if (err)
			return err;
		offset += sizeof(section);
		if (!lies_in(d, section[0], section[1]))
			return perf_data_fail(d,
					      "is cut short or damaged: "
					      "feature %llu is missing",
					      (unsigned long long)f);
		if (section[1] > FEATURE_BYTES_MAX)
			continue;
		content = xcalloc(1, section[1] + 1);
		err = read_all(d, content, section[1], section[0]);
		if (!err)
			err = perf_data_take_feature(d, f, content, section[1]);
		free(content);
		if (err)
			return err;
	}
	return 0;
}

/* The number of words before the id in a sample; -1 if it has no id. */
static int id_place(const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(type &
					(PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
}

int perf_data_check(struct perf_data *d)
{
	if (d->arch[0] && strcmp(d->arch, "x86_64"))
		return perf_data_fail(d,
				      "was recorded on %s; import reads "
				      "recordings of x86-64",
				      safe_text(d->arch));
	for (size_t i = 1; i < d->events; i++)
		if (id_place(&d->event[i].attr) < 0 ||
		    id_place(&d->event[i].attr) != id_place(&d->event[0].attr))
			return perf_data_fail(
				d, "has several events, and samples that do "
				   "not say which one they belong to");
	return 0;
}
