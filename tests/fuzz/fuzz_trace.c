/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace - bytes of a fuzzer as a .trace file (make fuzz)
 *
 * So that the fuzzer gets beyond check sums, the input is not the file but the
 * contents of its chunks: the first two bytes are how many bytes describe
 * blocks, the others are the stream of a thread. Bit 0 of the first byte
 * chooses the whole input as the file instead.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/model/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int fd, const void *data, size_t bytes)
{
	if (write(fd, data, bytes) != (ssize_t)bytes)
		abort();
}

static void put_chunk(int fd, enum trace_chunk_kind kind, const uint8_t *data,
		      size_t bytes)
{
	struct trace_chunk c = {
		.magic = TRACE_CHUNK_MAGIC,
		.kind = kind,
		.bytes = (uint32_t)bytes,
		.stored = (uint32_t)bytes,
		.check = trace_check(data, (uint32_t)bytes),
	};

	put(fd, &c, sizeof(c));
	put(fd, data, bytes);
}

static void put_contents(int fd, const uint8_t *data, size_t size)
{
	struct trace_header h = { .magic = TRACE_MAGIC,
				  .version = TRACE_VERSION,
				  .header_bytes = sizeof(h) };
	size_t blocks = (size_t)data[1] << 7 | data[0] >> 1;

	data += 2;
	size -= 2;
	if (blocks > size)
		blocks = size;
	put(fd, &h, sizeof(h));
	put_chunk(fd, TRACE_BLOCKS, data, blocks);
	put_chunk(fd, TRACE_THREAD, data + blocks, size - blocks);
}

/* Believe what the reader vouches for. */
static void use(const struct trace *t, const struct trace_step *step)
{
	if (step->block &&
	    (step->block < t->block || step->block >= t->block + t->blocks ||
	     step->block->first + step->block->insns > t->insns))
		abort();
	for (size_t i = 0; i < step->accesses; i++)
		if (step->access[i].index >= step->block->insns)
			abort();
	for (size_t i = 0; i < step->events; i++)
		if (!step->event[i].kind ||
		    step->event[i].kind >= TRACE_EVENT_KINDS)
			abort();
}

static void add(uint64_t *sum, uint64_t x)
{
	*sum = (*sum ^ x) * UINT64_C(0x100000001b3);
}

static void add_use(uint64_t *sum, const struct trace_use *u)
{
	add(sum, u->kind);
	add(sum, u->kind == TRACE_EVENT ? 0 : u->line);
	add(sum, u->insns);
	add(sum, u->passed);
}

/* What the thread does, as a sum; @ahead: uses are read on their own. */
static uint64_t read_stream(const struct trace *t, size_t thread, bool quick,
			    bool ahead)
{
	struct trace_stream *s = trace_stream_open(t, thread);
	uint64_t sum = 0;
	int r;

	s->takes_quick = quick;
	while ((r = trace_stream_next(s)) > 0) {
		struct trace_use u;

		use(t, &s->step);
		add(&sum, s->step.accesses);
		add(&sum, s->step.events);
		add_use(&sum, &s->step.use);
		while (ahead && trace_stream_use(s, &u)) {
			add(&sum, 0);
			add(&sum, 0);
			add_use(&sum, &u);
		}
	}
	if (r < 0 && !s->error[0])
		abort();
	add(&sum, (uint64_t)r);
	trace_stream_close(s);
	return sum;
}

static void read_trace(const char *path)
{
	char error[TRACE_ERROR_BYTES] = "";
	struct trace t;

	if (trace_open(&t, path, error)) {
		if (!error[0])
			abort();
		return;
	}
	for (size_t i = 0; i < t.threads; i++) {
		read_stream(&t, i, false, false);
		if (read_stream(&t, i, true, false) !=
		    read_stream(&t, i, true, true))
			abort();
	}
	trace_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd;

	if (size < 2 || size > TRACE_CHUNK_BYTES)
		return 0;
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	if (data[0] & 1)
		put(fd, data + 1, size - 1);
	else
		put_contents(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_trace(path);
	close(fd);
	return 0;
}
