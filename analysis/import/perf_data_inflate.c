/* SPDX-License-Identifier: MIT */
/*
 * perf_data_inflate - inflate records that perf record -z compressed with zstd
 *
 * One zstd stream runs through all compressed records. It inflates to a
 * sequence of records, which need not end where a compressed one ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf_data_internal.h"
#include "analysis/base/util.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

enum {
	STEP_BYTES = 256 * 1024,
	/*
	 * A record has at most 64 KiB; perf compresses at most a ring buffer at
	 * once.
	 */
	INFLATED_MAX = 512 * 1024 * 1024,
};

static int make_room(struct perf_data *d)
{
	struct perf_data_buffer *b = &d->inflated;

	if (b->at) {
		memmove(b->bytes, b->bytes + b->at, b->end - b->at);
		b->end -= b->at;
		b->at = 0;
	}
	if (b->room - b->end >= STEP_BYTES)
		return 0;
	if (b->room >= INFLATED_MAX)
		return perf_data_fail(d, "has a compressed record of more than "
					 "512 MiB");
	b->room = b->room ? 2 * b->room : 4 * STEP_BYTES;
	b->bytes = realloc(b->bytes, b->room);
	if (!b->bytes)
		die("out of memory");
	return 0;
}

int perf_data_inflate(struct perf_data *d, const char *record, size_t bytes)
{
	struct perf_event_header h;
	size_t skip = sizeof(h), left;
	uint64_t data_bytes;
	ZSTD_inBuffer in;

	memcpy(&h, record, sizeof(h));
	if (h.type == PERF_DATA_COMPRESSED2) {
		skip += sizeof(data_bytes);
		if (bytes < skip)
			return perf_data_fail(d,
					      "is damaged: a compressed "
					      "record of %zu bytes",
					      bytes);
		memcpy(&data_bytes, record + sizeof(h), sizeof(data_bytes));
		if (data_bytes > bytes - skip)
			return perf_data_fail(d, "is damaged: a compressed "
						 "record that is too long");
		bytes = skip + data_bytes;
	}
	if (!d->inflater)
		d->inflater = ZSTD_createDStream();
	if (!d->inflater)
		die("out of memory");
	in = (ZSTD_inBuffer){ record + skip, bytes - skip, 0 };
	do {
		ZSTD_outBuffer out;
		size_t ret;
		int err = make_room(d);

		if (err)
			return err;
		out = (ZSTD_outBuffer){ d->inflated.bytes, d->inflated.room,
					d->inflated.end };
		ret = ZSTD_decompressStream(d->inflater, &out, &in);
		if (ZSTD_isError(ret))
			return perf_data_fail(d, "cannot be decompressed: %s",
					      ZSTD_getErrorName(ret));
		left = out.size - out.pos;
		d->inflated.end = out.pos;
	} while (in.pos < in.size || !left);
	return 0;
}

void perf_data_inflate_end(struct perf_data *d)
{
	ZSTD_freeDStream(d->inflater);
	d->inflater = NULL;
}

bool perf_data_inflates(void)
{
	return true;
}

#else

bool perf_data_inflates(void)
{
	return false;
}

int perf_data_inflate(struct perf_data *d, const char *record, size_t bytes)
{
	return perf_data_fail(d, "is compressed, and this reusetrack was built "
				 "without libzstd: record without -z, or "
				 "install libzstd-dev, make clean, make");
}

void perf_data_inflate_end(struct perf_data *d)
{
}

#endif
