/* SPDX-License-Identifier: MIT */
/*
 * trace_chunks - the chunks of a .trace file, checked and uncompressed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "trace_chunks.h"
#include "analysis/base/util.h"

static int fail_at(char *error, uint64_t offset, const char *why)
{
	snprintf(error, TRACE_ERROR_BYTES, "offset %llu: %s",
		 (unsigned long long)offset, why);
	return -EINVAL;
}

static int map_file(struct trace_chunks *c, const char *path, char *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why = NULL;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st)) {
		why = strerror(errno);
	} else if (!S_ISREG(st.st_mode)) {
		why = "not a file";
	} else if ((size_t)st.st_size < sizeof(c->header)) {
		why = "too short for a trace";
	} else {
		c->bytes = (size_t)st.st_size;
		map = mmap(NULL, c->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			why = strerror(errno);
		else
			c->map = map;
	}
	if (fd >= 0)
		close(fd);
	if (why)
		snprintf(error, TRACE_ERROR_BYTES, "%s", why);
	return why ? -EINVAL : 0;
}

const char *trace_header_wrong(const struct trace_header *h)
{
	if (memcmp(h->magic, TRACE_MAGIC, sizeof(TRACE_MAGIC)))
		return "not a trace: the first bytes are not CDTRACE";
	if (h->version != TRACE_VERSION || h->header_bytes != sizeof(*h))
		return "a trace of another version; record it with this "
		       "reusetrack";
	return NULL;
}

static int check_header(struct trace_chunks *c, char *error)
{
	const char *wrong;

	memcpy(&c->header, c->map, sizeof(c->header));
	wrong = trace_header_wrong(&c->header);
	return wrong ? fail_at(error, 0, wrong) : 0;
}

const char *trace_chunk_wrong(const struct trace_chunk *h)
{
	if (!memcmp(h, TRACE_MAGIC, sizeof(TRACE_MAGIC)))
		return "the program became another one; record it, and "
		       "simulate one of its traces";
	if (h->magic != TRACE_CHUNK_MAGIC)
		return "not the beginning of a chunk";
	if (h->kind < TRACE_BLOCKS || h->kind > TRACE_END)
		return "a chunk of an unknown kind";
	if (h->bytes > TRACE_CHUNK_BYTES || h->stored > h->bytes)
		return "a chunk with an impossible length";
	if (h->kind == TRACE_THREAD && h->thread >= TRACE_THREADS_MAX)
		return "a thread with an impossible number";
	return NULL;
}

static int list_chunks(struct trace_chunks *c, char *error)
{
	uint64_t at = sizeof(c->header);

	while (at < c->bytes) {
		struct trace_place p = { .offset = at };
		const char *wrong;

		if (c->bytes - at < sizeof(p.chunk)) {
			c->cut = at;
			break;
		}
		memcpy(&p.chunk, c->map + at, sizeof(p.chunk));
		wrong = trace_chunk_wrong(&p.chunk);
		if (wrong)
			return fail_at(error, at, wrong);
		at += sizeof(p.chunk);
		if (c->bytes - at < p.chunk.stored) {
			c->cut = p.offset;
			break;
		}
		at += p.chunk.stored;
		c->place =
			grow(c->place, c->places, &c->room, sizeof(*c->place));
		c->place[c->places++] = p;
	}
	return 0;
}

int trace_chunks_open(struct trace_chunks *c, const char *path,
		      char error[TRACE_ERROR_BYTES])
{
	int err;

	memset(c, 0, sizeof(*c));
	err = map_file(c, path, error);
	if (!err)
		err = check_header(c, error);
	if (!err)
		err = list_chunks(c, error);
	if (err)
		trace_chunks_close(c);
	return err;
}

void trace_chunks_close(struct trace_chunks *c)
{
	if (c->map)
		munmap((void *)c->map, c->bytes);
	free(c->place);
	memset(c, 0, sizeof(*c));
}

const char *trace_chunk_unpack(const struct trace_chunk *h,
			       const unsigned char *from,
			       unsigned char to[TRACE_CHUNK_BYTES])
{
	if (trace_check(from, h->stored) != h->check)
		return "a chunk whose check sum is wrong";
	if (h->stored == h->bytes) {
		memcpy(to, from, h->bytes);
		return NULL;
	}
#ifdef HAVE_ZSTD
	if (ZSTD_decompress(to, h->bytes, from, h->stored) != h->bytes)
		return "a chunk whose compressed bytes are damaged";
	return NULL;
#else
	return "a compressed chunk, which this build cannot read: it was "
	       "built without libzstd";
#endif
}

int trace_chunks_read(const struct trace_chunks *c, size_t i,
		      unsigned char to[TRACE_CHUNK_BYTES],
		      char error[TRACE_ERROR_BYTES])
{
	const struct trace_place *p = &c->place[i];
	const unsigned char *from = c->map + p->offset + sizeof(p->chunk);
	const char *wrong = trace_chunk_unpack(&p->chunk, from, to);

	return wrong ? fail_at(error, p->offset, wrong) : 0;
}
