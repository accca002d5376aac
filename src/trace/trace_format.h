/* SPDX-License-Identifier: MIT */
/*
 * trace_format - a .trace file: what the threads of a program executed
 *
 * A file header, then chunks in the order of writing. Each chunk has a header
 * and at most TRACE_CHUNK_BYTES of content, compressed with zstd where that
 * makes it smaller. Everything is little-endian. docs/format.md has the same
 * for readers in other languages.
 *
 * Blocks (TRACE_BLOCKS) are runs of instructions that are always executed from
 * the first to the last. They are numbered from 0 in the order of the file: the
 * number of instructions, the address of the first, and for each instruction
 * its length and its bytes.
 *
 * The chunks of a thread (TRACE_THREAD), in their order, are one stream of
 * tokens. A token is a number T; its lowest two bits are the kind, the others
 * the value:
 *
 *	TRACE_BLOCK	the thread executes a block. The value is the zigzag
 *			difference between its number and the number of the
 *			block that followed the previous block the last time in
 *			this thread (0 if none did).
 *	TRACE_LOAD	an access of the block. The value is how many
 *	TRACE_STORE	instructions further it was made than the block's access
 *			before it (the first: than the block's first
 *			instruction). A second number follows: the zigzag
 *			difference between the address and that of the latest
 *			access of this kind by this instruction (0 if none).
 *	TRACE_EVENT	synchronization. The value is an enum trace_event_kind,
 *			with TRACE_OUTSIDE if the thread is outside the region
 *			of interest; two numbers follow, the object and the
 *			argument.
 *
 * The last chunk is TRACE_END: for each thread with a stream its number and how
 * many instructions its blocks have. A file without it was cut short.
 *
 * Numbers are written in groups of seven bits, the lowest first, in bytes whose
 * top bit says that more follow.
 */
#ifndef COMDET_SRC_TRACE_TRACE_FORMAT_H
#define COMDET_SRC_TRACE_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC "CDTRACE"

enum {
	TRACE_VERSION = 1,
	TRACE_CHUNK_MAGIC = 0x4b484344, /* "DCHK" */
	TRACE_CHUNK_BYTES = 1 << 18,    /* of content, at most */
	TRACE_BLOCKS_MAX = 1 << 20,
	TRACE_SITES_MAX = 1 << 22, /* instructions in all blocks */
	TRACE_INSNS_MAX = 4096,    /* in one block */
	TRACE_INSN_BYTES = 15,
	TRACE_THREADS_MAX = 1 << 16,
	TRACE_NUMBER_BYTES = 10, /* at most, of one number */
};

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint64_t pid;
	uint64_t start_real; /* ns */
	char reserved[32];
};

enum trace_chunk_kind {
	TRACE_BLOCKS = 1,
	TRACE_THREAD,
	TRACE_END
};

struct trace_chunk {
	uint32_t magic;
	uint32_t kind;         /* enum trace_chunk_kind */
	uint32_t thread;       /* of a TRACE_THREAD */
	uint32_t bytes;        /* of the content */
	uint32_t stored;       /* bytes in the file; fewer than bytes: zstd */
	uint32_t check;        /* trace_check of the bytes in the file */
	uint64_t instructions; /* of the blocks in a TRACE_THREAD */
};

enum trace_token {
	TRACE_BLOCK,
	TRACE_LOAD,
	TRACE_STORE,
	TRACE_EVENT,
	TRACE_TOKEN_BITS = 2
};

/*
 * The object is an address, or the number of a thread for TRACE_CREATE and
 * TRACE_JOIN. A wait on a condition variable is a TRACE_COND_WAIT, whose
 * argument is the mutex that it releases and takes again.
 */
enum trace_event_kind {
	TRACE_CREATE = 1, /* object: the new thread */
	TRACE_JOIN,       /* object: the thread that ended */
	TRACE_EXIT,
	TRACE_LOCK, /* mutex or spin lock */
	TRACE_UNLOCK,
	TRACE_READ_LOCK, /* rwlock; TRACE_UNLOCK ends it */
	TRACE_BARRIER,   /* argument: how many threads meet */
	TRACE_COND_WAIT,
	TRACE_COND_SIGNAL, /* argument: a number as of TRACE_SET, or 0 */
	TRACE_COND_BROADCAST,
	TRACE_SEM_WAIT, /* argument: the value before the first use, plus 1; 0
			   if it is not known */
	TRACE_SEM_POST,
	TRACE_PAIR,     /* of the TRACE_COND_WAIT behind it; object: the number
			   of the signal that ended it, 0 if it ran out of
			   time */
	TRACE_SEM_INIT, /* argument: the value */
	TRACE_SET,      /* argument: a number from 1 on, of this event alone */
	TRACE_AWAIT,    /* argument: the number of a TRACE_SET or of a signal,
			   which comes first */
	TRACE_BEGIN,    /* the thread is created by a TRACE_CREATE; the first
			   of its events */

	/* Of a trace for a profile alone. */
	TRACE_QUICK, /* quick from here on; object: address of the next block */
	TRACE_PASS,  /* quick: object instructions and argument accesses */
	TRACE_WHOLE, /* whole again from here on */
	TRACE_EVENT_KINDS
};

/* In the value of an event: outside the region of interest. */
enum {
	TRACE_OUTSIDE = 1 << 6
};

static inline uint64_t trace_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline int64_t trace_unzigzag(uint64_t n)
{
	return (int64_t)(n >> 1 ^ -(n & 1));
}

/* Write @n at @to, which has room for TRACE_NUMBER_BYTES; returns its end. */
static inline unsigned char *trace_put(unsigned char *to, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		*to++ = (unsigned char)(n | 0x80);
	*to++ = (unsigned char)n;
	return to;
}

/*
 * Read a number from @from, before @end. Returns its end, or NULL if there is
 * none: it is cut off or has more than 64 bits.
 */
static inline const unsigned char *trace_get(const unsigned char *from,
					     const unsigned char *end,
					     uint64_t *n)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64 && from < end; shift += 7) {
		uint64_t bits = *from & 0x7f;

		if (shift == 63 && bits > 1)
			return NULL;
		value |= bits << shift;
		if (!(*from++ & 0x80)) {
			*n = value;
			return from;
		}
	}
	return NULL;
}

/* FNV-1a. */
static inline uint32_t trace_check(const void *data, uint32_t bytes)
{
	const unsigned char *p = data;
	uint32_t sum = 2166136261u;

	for (uint32_t i = 0; i < bytes; i++)
		sum = (sum ^ p[i]) * 16777619u;
	return sum;
}

#endif
