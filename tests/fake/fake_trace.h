/* SPDX-License-Identifier: MIT */
/*
 * fake_trace - .trace files made by hand
 *
 * Add blocks, then what threads execute; then write the file. Chunks are not
 * compressed, and small, so that numbers cross from one to the next never, but
 * streams do.
 */
#ifndef COMDET_FAKE_TRACE_H
#define COMDET_FAKE_TRACE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/trace/trace_format.h"

enum {
	FAKE_THREADS = 64,
	FAKE_BLOCKS = 4096,
	FAKE_INSNS = 65536,
	FAKE_CHUNK = 4096,
};

struct fake_block {
	uint64_t ip;
	uint32_t insns, first, bytes;
	unsigned char code[4096];
	uint8_t length[512];
};

struct fake_stream {
	bool used;
	unsigned char *bytes;
	size_t n, room;
	size_t *cut; /* where a chunk may end */
	size_t cuts, cut_room;
	uint32_t block, index;
	uint64_t instructions;
	uint32_t next[FAKE_BLOCKS];
	uint64_t last[2 * FAKE_INSNS];
};

struct fake_trace {
	struct fake_block *block;
	uint32_t blocks, insns;
	struct fake_stream *thread[FAKE_THREADS];
	bool cut_short; /* write no last chunk */
};

static inline void fake_trace_init(struct fake_trace *t)
{
	memset(t, 0, sizeof(*t));
	t->block = calloc(FAKE_BLOCKS, sizeof(*t->block));
}

static inline void fake_trace_release(struct fake_trace *t)
{
	for (int i = 0; i < FAKE_THREADS; i++)
		if (t->thread[i]) {
			free(t->thread[i]->bytes);
			free(t->thread[i]->cut);
			free(t->thread[i]);
		}
	free(t->block);
	memset(t, 0, sizeof(*t));
}

/* An empty block at @ip; returns its number. */
static inline uint32_t fake_trace_block(struct fake_trace *t, uint64_t ip)
{
	ck_assert_uint_lt(t->blocks, FAKE_BLOCKS);
	t->block[t->blocks] =
		(struct fake_block){ .ip = ip, .first = t->insns };
	return t->blocks++;
}

/* Add an instruction to the block that was added last. */
static inline void fake_trace_insn(struct fake_trace *t, const void *code,
				   size_t bytes)
{
	struct fake_block *b = &t->block[t->blocks - 1];

	ck_assert_uint_lt(t->insns, FAKE_INSNS);
	ck_assert_uint_lt(b->insns, sizeof(b->length));
	ck_assert_uint_le(b->bytes + bytes, sizeof(b->code));
	memcpy(b->code + b->bytes, code, bytes);
	b->length[b->insns++] = (uint8_t)bytes;
	b->bytes += (uint32_t)bytes;
	t->insns++;
}

static inline void fake_trace_number(struct fake_stream *s, uint64_t n)
{
	if (s->room < s->n + TRACE_NUMBER_BYTES) {
		s->room = 2 * s->room + 64;
		s->bytes = realloc(s->bytes, s->room);
	}
	s->n = (size_t)(trace_put(s->bytes + s->n, n) - s->bytes);
}

static inline struct fake_stream *fake_trace_stream(struct fake_trace *t,
						    int thread)
{
	if (!t->thread[thread])
		t->thread[thread] = calloc(1, sizeof(*t->thread[thread]));
	return t->thread[thread];
}

static inline void fake_trace_cut(struct fake_stream *s)
{
	if (s->cuts == s->cut_room) {
		s->cut_room = 2 * s->cut_room + 16;
		s->cut = realloc(s->cut, s->cut_room * sizeof(*s->cut));
	}
	s->cut[s->cuts++] = s->n;
}

/* @thread executes @block. */
static inline void fake_trace_run(struct fake_trace *t, int thread,
				  uint32_t block)
{
	struct fake_stream *s = fake_trace_stream(t, thread);

	fake_trace_cut(s);
	fake_trace_number(s, trace_zigzag((int64_t)block - s->next[s->block])
					     << TRACE_TOKEN_BITS |
				     TRACE_BLOCK);
	s->next[s->block] = block;
	s->block = block;
	s->index = 0;
	s->instructions += t->block[block].insns;
}

/* Instruction @index of the block that @thread executes makes an access. */
static inline void fake_trace_access(struct fake_trace *t, int thread,
				     uint32_t index, bool store, uint64_t addr)
{
	struct fake_stream *s = fake_trace_stream(t, thread);
	uint64_t *last =
		&s->last[2 * (t->block[s->block].first + index) + store];

	fake_trace_number(s, (uint64_t)(index - s->index) << TRACE_TOKEN_BITS |
				     (store ? TRACE_STORE : TRACE_LOAD));
	fake_trace_number(s, trace_zigzag((int64_t)(addr - *last)));
	s->index = index;
	*last = addr;
}

static inline void fake_trace_event(struct fake_trace *t, int thread,
				    enum trace_event_kind kind, uint64_t object,
				    uint64_t argument)
{
	struct fake_stream *s = fake_trace_stream(t, thread);

	fake_trace_number(s, (uint64_t)kind << TRACE_TOKEN_BITS | TRACE_EVENT);
	fake_trace_number(s, object);
	fake_trace_number(s, argument);
}

static inline void fake_trace_chunk(FILE *f, uint32_t kind, uint32_t thread,
				    const unsigned char *data, size_t bytes,
				    uint64_t instructions)
{
	struct trace_chunk c = {
		.magic = TRACE_CHUNK_MAGIC,
		.kind = kind,
		.thread = thread,
		.bytes = (uint32_t)bytes,
		.stored = (uint32_t)bytes,
		.check = trace_check(data, (uint32_t)bytes),
		.instructions = instructions,
	};

	fwrite(&c, sizeof(c), 1, f);
	fwrite(data, 1, bytes, f);
}

static inline void fake_trace_write_blocks(const struct fake_trace *t, FILE *f)
{
	unsigned char *data = malloc(TRACE_CHUNK_BYTES), *to = data;

	for (uint32_t i = 0; i < t->blocks; i++) {
		const struct fake_block *b = &t->block[i];
		const unsigned char *code = b->code;

		if (to - data > TRACE_CHUNK_BYTES - 8192) {
			fake_trace_chunk(f, TRACE_BLOCKS, 0, data,
					 (size_t)(to - data), 0);
			to = data;
		}
		to = trace_put(trace_put(to, b->insns), b->ip);
		for (uint32_t k = 0; k < b->insns; k++) {
			*to++ = b->length[k];
			memcpy(to, code, b->length[k]);
			to += b->length[k];
			code += b->length[k];
		}
	}
	fake_trace_chunk(f, TRACE_BLOCKS, 0, data, (size_t)(to - data), 0);
	free(data);
}

static inline void fake_trace_write_thread(const struct fake_stream *s,
					   uint32_t id, FILE *f)
{
	size_t from = 0;

	for (size_t i = 1; i <= s->cuts; i++) {
		size_t end = i == s->cuts ? s->n : s->cut[i];

		if (end - from < FAKE_CHUNK && i < s->cuts)
			continue;
		fake_trace_chunk(f, TRACE_THREAD, id, s->bytes + from,
				 end - from, from ? 0 : s->instructions);
		from = end;
	}
	if (!s->cuts) /* events alone */
		fake_trace_chunk(f, TRACE_THREAD, id, s->bytes, s->n, 0);
}

/* Write the file @path. */
static inline void fake_trace_write(const struct fake_trace *t,
				    const char *path)
{
	struct trace_header h = { .magic = TRACE_MAGIC,
				  .version = TRACE_VERSION,
				  .header_bytes = sizeof(h) };
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fwrite(&h, sizeof(h), 1, f);
	fake_trace_write_blocks(t, f);
	for (uint32_t i = 0; i < FAKE_THREADS; i++)
		if (t->thread[i])
			fake_trace_write_thread(t->thread[i], i, f);
	if (!t->cut_short)
		fake_trace_chunk(f, TRACE_END, 0, (unsigned char *)"", 0, 0);
	fclose(f);
}

#endif
