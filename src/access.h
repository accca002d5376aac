/* SPDX-License-Identifier: MIT */
/*
 * access - one memory access of the profiled program
 */
#ifndef COMDET_ACCESS_H
#define COMDET_ACCESS_H

#include <stdint.h>
#include <stdbool.h>

enum {
	ACCESS_LOAD = 1,
	ACCESS_STORE = 2,    /* a read-modify-write has both bits */
	ACCESS_LOCKED = 4,   /* lock prefix, or xchg with memory */
	ACCESS_IMPLICIT = 8, /* push, pop, call, ret: the stack access */
};

struct access {
	uint64_t addr;	/* effective virtual address */
	uint64_t ip;	/* virtual address of the instruction */
	uint32_t len;	/* bytes, at least 1 */
	uint32_t flags; /* ACCESS_* */
};

/* How a sampled access was chosen; the two are never mixed in counts. */
enum sample_kind {
	SAMPLE_UNIFORM, /* every upcoming access equally likely */
	SAMPLE_STALLED, /* the access the interrupted thread waited for */
	SAMPLE_KINDS
};

static inline bool access_overlaps(const struct access *a,
				   const struct access *b)
{
	return a->addr < b->addr + b->len && b->addr < a->addr + a->len;
}

#endif
