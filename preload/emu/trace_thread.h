/* SPDX-License-Identifier: MIT */
/*
 * trace_thread - what a thread of a trace does for each access
 *
 * Part of trace.h, for access.c: this runs tens of millions of times in a
 * second, so it is inlined and calls nothing.
 */
#ifndef COMDET_PRELOAD_EMU_TRACE_THREAD_H
#define COMDET_PRELOAD_EMU_TRACE_THREAD_H

#include "quick.h"
#include "trace.h"
#include "src/trace/trace_format.h"

enum {
	TRACE_KINDS = 2, /* loads and stores */
};

struct trace_thread {
	/* Used for each access. */
	unsigned char *at, *end;        /* of the buffer; end leaves room */
	const struct trace_site *sites; /* of the block that was put last */
	uint64_t *last; /* by site there and kind: the latest address */
	uint32_t insns; /* there; 0: no block was put yet */
	uint32_t index; /* of the latest access there */
	bool on;        /* what it executes is traced: it is */
	bool inside;    /* in the region of interest, */
	bool silent;    /* and not in a function for which the trace has an
			   event */

	/* Used for each block. */
	uint32_t *follows;  /* the number of the block that followed it */
	uint64_t in_chunk;  /* instructions in the trace, of the buffer, */
	uint64_t in_all;    /* and before it */
	uint64_t executed;  /* with those outside of a region of numbers */
	uint32_t id;
	uint32_t *next;      /* by block: the one that followed last */
	uint64_t *addresses; /* last, by number of the instruction */
	struct quick_thread quick;
	unsigned char buffer[TRACE_CHUNK_BYTES];
};

/* False outside, and where tracing began within the block of @site. */
static inline bool trace_thread_takes(const struct trace_thread *t,
				      const struct trace_site *site)
{
	return t->on && (size_t)(site - t->sites) < t->insns;
}

/* Nothing can be put before emu_trace_flush. */
static inline bool trace_thread_is_full(const struct trace_thread *t)
{
	return __builtin_expect(t->at > t->end, 0);
}

/* trace_put; most numbers have one byte or two. */
static inline unsigned char *trace_thread_put(unsigned char *to, uint64_t n)
{
	if (__builtin_expect(n <= 0x7f, 1)) {
		*to = (unsigned char)n;
		return to + 1;
	}
	return trace_put(to, n);
}

/* Put an access of a block for which trace_thread_takes, if it is not full. */
static inline void trace_thread_access(struct trace_thread *t,
				       const struct trace_site *site,
				       uint64_t addr, bool store)
{
	uint32_t index = (uint32_t)(site - t->sites);
	uint64_t *last = &t->last[(size_t)index * TRACE_KINDS + store];
	uint64_t far = trace_zigzag((int64_t)(addr - *last));
	uint64_t ahead = index - t->index;
	unsigned char *to = t->at;

	*last = addr;
	t->index = index;
	to = trace_thread_put(to, ahead << TRACE_TOKEN_BITS |
					  (store ? TRACE_STORE : TRACE_LOAD));
	t->at = trace_thread_put(to, far);
}

#endif
