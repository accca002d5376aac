/* SPDX-License-Identifier: MIT */
/*
 * trace_chunks - the chunks of a .trace file, checked and uncompressed
 *
 * The file may hold anything. Whatever is not as src/trace/trace_format.h says
 * becomes an error that names the offset in the file.
 */
#ifndef COMDET_ANALYSIS_MODEL_TRACE_CHUNKS_H
#define COMDET_ANALYSIS_MODEL_TRACE_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "src/trace/trace_format.h"

enum {
	TRACE_ERROR_BYTES = 300
};

struct trace_place {
	struct trace_chunk chunk;
	uint64_t offset; /* of its header in the file */
};

struct trace_chunks {
	const unsigned char *map;
	size_t bytes;
	struct trace_header header;
	struct trace_place *place;
	size_t places, room;
	uint64_t cut; /* where the file ends within a chunk; 0: it does not */
};

/*
 * Map the file at @path and list its chunks. Returns 0, or -EINVAL with a line
 * in @error.
 */
int trace_chunks_open(struct trace_chunks *c, const char *path,
		      char error[TRACE_ERROR_BYTES]);

void trace_chunks_close(struct trace_chunks *c);

/* What is wrong with the header of a file, or of a chunk; NULL: nothing. */
const char *trace_header_wrong(const struct trace_header *h);
const char *trace_chunk_wrong(const struct trace_chunk *h);

/*
 * Put the content of the chunk @h, which is @from in the file, into @to.
 * Returns NULL, or what is wrong with it.
 */
const char *trace_chunk_unpack(const struct trace_chunk *h,
			       const unsigned char *from,
			       unsigned char to[TRACE_CHUNK_BYTES]);

/*
 * Put the content of chunk @i into @to. Returns 0, or -EINVAL with a line in
 * @error.
 */
int trace_chunks_read(const struct trace_chunks *c, size_t i,
		      unsigned char to[TRACE_CHUNK_BYTES],
		      char error[TRACE_ERROR_BYTES]);

#endif
