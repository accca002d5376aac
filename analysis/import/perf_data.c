/* SPDX-License-Identifier: MIT */
/*
 * perf_data - the records of a perf.data file or stream, one after another
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf_data_internal.h"
#include "analysis/base/util.h"

#define MAGIC         UINT64_C(0x32454c4946524550) /* PERFILE2 */
#define MAGIC_SWAPPED UINT64_C(0x50455246494c4532)
#define MAGIC_OLD     UINT64_C(0x454c494646524550) /* PERFFILE */

enum {
	IN_BYTES = 128 * 1024, /* a record has at most 64 KiB */
	ALIGN = sizeof(uint64_t),
};

struct section {
	uint64_t offset, bytes;
};

/* At the start of a file; a stream has the first two words only. */
struct file_header {
	uint64_t magic;
	uint64_t bytes; /* of this header */
	uint64_t attr_bytes;
	struct section attrs, data, event_types;
	uint64_t flags[4]; /* which features follow the data */
};
_Static_assert(sizeof(struct file_header) == 104, "perf.data header");

enum {
	STREAM_HEADER_BYTES = 2 * sizeof(uint64_t),
};

static int fail_errno(struct perf_data *d, int error)
{
	snprintf(d->error, sizeof(d->error), "cannot be read: %s",
		 strerror(error));
	return -error;
}

/* Read up to @bytes more; returns 0 at the end. */
static ssize_t read_more(struct perf_data *d, char *to, size_t bytes)
{
	ssize_t n;

	if (!d->stream && bytes > d->end - d->at)
		bytes = d->end - d->at;
	if (!bytes)
		return 0;
	do
		n = d->stream ? read(d->fd, to, bytes)
			      : pread(d->fd, to, bytes, d->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail_errno(d, errno);
	d->at += n;
	return n;
}

/*
 * Make sure that d->in holds @bytes, at most IN_BYTES. Returns 1, or 0 if the
 * recording ends before.
 */
static int need(struct perf_data *d, size_t bytes)
{
	struct perf_data_buffer *in = &d->in;

	if (in->end - in->at >= bytes)
		return 1;
	memmove(in->bytes, in->bytes + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	while (in->end < bytes) {
		ssize_t n =
			read_more(d, in->bytes + in->end, in->room - in->end);

		if (n < 0)
			return n;
		if (!n)
			return 0;
		in->end += n;
	}
	return 1;
}

static uint64_t place(const struct perf_data *d)
{
	return d->at - (d->in.end - d->in.at);
}

/* Skip @bytes of payload that we do not use. */
static int skip(struct perf_data *d, uint64_t bytes)
{
	struct perf_data_buffer *in = &d->in;
	size_t have = in->end - in->at;

	if (bytes <= have) {
		in->at += bytes;
		return 0;
	}
	bytes -= have;
	in->at = in->end = 0;
	if (!d->stream) {
		if (bytes > d->end - d->at)
			goto cut;
		d->at += bytes;
		return 0;
	}
	while (bytes) {
		size_t part = bytes < in->room ? bytes : in->room;
		ssize_t n = read_more(d, in->bytes, part);

		if (n < 0)
			return n;
		if (!n)
			goto cut;
		bytes -= n;
	}
	return 0;
cut:
	return perf_data_fail(d, "ends within a record; was it cut short?");
}

static int open_file(struct perf_data *d, const struct file_header *h,
		     uint64_t bytes)
{
	int err;

	if (h->bytes < sizeof(*h))
		return perf_data_fail(d, "has a header of %llu bytes",
				      (unsigned long long)h->bytes);
	if (!h->data.bytes)
		return perf_data_fail(d, "has no data: perf record did not "
					 "finish; record it again");
	if (h->data.offset > bytes || h->data.bytes > bytes - h->data.offset)
		return perf_data_fail(
			d, "is cut short: it should have %llu bytes more",
			(unsigned long long)(h->data.offset + h->data.bytes -
					     bytes));
	d->at = h->data.offset;
	d->end = h->data.offset + h->data.bytes;
	d->bytes = bytes;
	err = perf_data_read_attrs(d, h->attrs.offset, h->attrs.bytes,
				   h->attr_bytes);
	if (err)
		return err;
	err = perf_data_read_features(d, h->flags, d->end);
	return err ? err : perf_data_check(d);
}

int perf_data_open(struct perf_data *d, int fd)
{
	struct file_header h = { 0 };
	size_t have = 0;
	struct stat st;
	ssize_t n;
	bool file;

	memset(d, 0, sizeof(*d));
	d->fd = fd;
	d->in.bytes = xcalloc(1, IN_BYTES);
	d->in.room = IN_BYTES;
	if (fstat(fd, &st))
		return fail_errno(d, errno);
	if (S_ISDIR(st.st_mode))
		return perf_data_fail(
			d, "is a directory, as perf record --threads makes it; "
			   "record without --threads");
	file = S_ISREG(st.st_mode);
	/*
	 * From a pipe read no more than a stream's header: the records follow.
	 */
	while (have < STREAM_HEADER_BYTES) {
		n = file ? pread(fd, (char *)&h + have, sizeof(h) - have, have)
			 : read(fd, (char *)&h + have,
				STREAM_HEADER_BYTES - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(d, errno);
		if (!n)
			break;
		have += n;
	}
	if (have >= ALIGN && h.magic == MAGIC_SWAPPED)
		return perf_data_fail(d, "was recorded on a big-endian "
					 "machine; import reads recordings of "
					 "x86-64");
	if (have >= ALIGN && h.magic == MAGIC_OLD)
		return perf_data_fail(
			d, "was recorded by a perf from before 2012, whose "
			   "format import does not read");
	if (have < STREAM_HEADER_BYTES || h.magic != MAGIC)
		return perf_data_fail(d, "is not a perf.data file");
	if (h.bytes == STREAM_HEADER_BYTES) {
		d->stream = true;
		d->at = STREAM_HEADER_BYTES;
		if (file && lseek(fd, STREAM_HEADER_BYTES, SEEK_SET) < 0)
			return fail_errno(d, errno);
		return 0;
	}
	if (!file)
		return perf_data_fail(d, "is a perf.data file and cannot be "
					 "read from a pipe: give its name");
	if (have < sizeof(h))
		return perf_data_fail(d, "is cut short within its header");
	return open_file(d, &h, st.st_size);
}

void perf_data_close(struct perf_data *d)
{
	perf_data_inflate_end(d);
	for (size_t i = 0; i < d->build_ids; i++)
		free(d->build_id[i].file);
	free(d->build_id);
	free(d->event);
	free(d->id);
	import_index_release(&d->by_id);
	free(d->pmu);
	free(d->in.bytes);
	free(d->inflated.bytes);
	memset(d, 0, sizeof(*d));
}

/* Skip the payload that follows a record and that its size does not cover. */
static int skip_payload(struct perf_data *d, const struct perf_event_header *h,
			const char *record)
{
	uint64_t bytes = 0;
	uint32_t small;

	if (h->size < sizeof(*h) + sizeof(bytes))
		return 0;
	if (h->type == PERF_DATA_AUXTRACE) {
		memcpy(&bytes, record + sizeof(*h), sizeof(bytes));
	} else {
		memcpy(&small, record + sizeof(*h), sizeof(small));
		bytes = ((uint64_t)small + ALIGN - 1) / ALIGN * ALIGN;
	}
	return skip(d, bytes);
}

/*
 * Use a record that describes the recording. Returns 1 if it is to be handed
 * out, 0 if it is not.
 */
static int take_record(struct perf_data *d, const struct perf_event_header *h,
		       const char *record)
{
	const char *body = record + sizeof(*h);
	size_t bytes = h->size - sizeof(*h);
	uint64_t feature;

	switch (h->type) {
	case PERF_DATA_ATTR:
		return perf_data_take_attr(d, body, bytes);
	case PERF_DATA_EVENT_UPDATE:
		return perf_data_take_update(d, body, bytes);
	case PERF_DATA_BUILD_ID:
		return perf_data_take_build_id(d, record, h->size);
	case PERF_DATA_FEATURE:
		if (bytes < sizeof(feature))
			return 0;
		memcpy(&feature, body, sizeof(feature));
		return perf_data_take_feature(d, feature,
					      body + sizeof(feature),
					      bytes - sizeof(feature));
	case PERF_DATA_AUXTRACE:
	case PERF_DATA_TRACING_DATA:
		if (d->in_inflated)
			return perf_data_fail(d, "has trace data compressed");
		return skip_payload(d, h, record);
	case PERF_DATA_COMPRESSED:
	case PERF_DATA_COMPRESSED2:
		if (d->in_inflated)
			return perf_data_fail(d, "is compressed twice");
		return perf_data_inflate(d, record, h->size);
	default:
		if (h->type < PERF_DATA_ATTR)
			return 1;
		d->unknown += h->type > PERF_DATA_COMPRESSED2;
		return 0;
	}
}

/* Copy the header at the start of @b; true if the whole record is there. */
static bool has_record(const struct perf_data_buffer *b,
		       struct perf_event_header *h)
{
	size_t have = b->end - b->at;

	if (have < sizeof(*h))
		return false;
	memcpy(h, b->bytes + b->at, sizeof(*h));
	return h->size < sizeof(*h) || have >= h->size;
}

/* The next raw record, inflated ones first. Returns 1, or 0 at the end. */
static int next_raw(struct perf_data *d, struct perf_event_header *h,
		    const char **record)
{
	struct perf_data_buffer *b = &d->inflated;
	int have;

	d->in_inflated = has_record(b, h);
	if (!d->in_inflated) {
		b = &d->in;
		have = need(d, sizeof(*h));
		if (have <= 0)
			goto no_record;
		memcpy(h, b->bytes + b->at, sizeof(*h));
	}
	if (h->size < sizeof(*h))
		return perf_data_fail(d,
				      "is damaged: a record of %u bytes "
				      "near byte %llu",
				      h->size, (unsigned long long)place(d));
	if (!d->in_inflated) {
		have = need(d, h->size);
		if (have <= 0)
			goto no_record;
	}
	*record = b->bytes + b->at;
	b->at += h->size;
	return 1;
no_record:
	if (have < 0)
		return have;
	if (d->in.end != d->in.at || d->inflated.end != d->inflated.at)
		return perf_data_fail(
			d, "ends within a record; was it cut short?");
	return 0;
}

int perf_data_next(struct perf_data *d, const void **record, size_t *bytes)
{
	struct perf_event_header h;
	const char *at = NULL;
	int ret;

	do {
		ret = next_raw(d, &h, &at);
		if (ret < 0)
			return ret;
		if (!ret)
			return perf_data_check(d);
		ret = take_record(d, &h, at);
	} while (!ret);
	if (ret < 0)
		return ret;
	*record = at;
	*bytes = h.size;
	return 1;
}

const struct perf_data_event *perf_data_event(struct perf_data *d,
					      const void *record, size_t bytes,
					      struct perf_data_id **id)
{
	struct perf_data_id *entry = NULL;
	struct perf_data_event *event = NULL;
	uint32_t at = IMPORT_NONE;
	uint64_t number;

	if (d->events &&
	    !perf_sample_event(&d->event[0].attr, record, bytes, &number))
		at = import_index_find(&d->by_id, number);
	if (at != IMPORT_NONE)
		entry = &d->id[at];
	if (entry)
		event = &d->event[entry->event];
	else if (d->events == 1)
		event = &d->event[0];
	if (event && event->kind_at != d->kinds)
		perf_data_name_kind(d, event);
	if (id)
		*id = entry;
	return event;
}
