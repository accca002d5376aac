/* SPDX-License-Identifier: MIT */
/*
 * access - one memory access of the profiled program
 */
#ifndef COMDET_BASE_ACCESS_H
#define COMDET_BASE_ACCESS_H

#include <stdint.h>
#include <stdbool.h>

enum {
	ACCESS_LOAD = 1,
	ACCESS_STORE = 2,    /* a read-modify-write has both bits */
	ACCESS_LOCKED = 4,   /* lock prefix, or xchg with memory */
	ACCESS_IMPLICIT = 8, /* push, pop, call, ret: the stack access */
};

struct access {
	uint64_t addr;  /* effective virtual address */
	uint64_t ip;    /* virtual address of the instruction */
	uint32_t len;   /* bytes, at least 1 */
	uint32_t flags; /* ACCESS_* */
};

/* The thread that makes an access, and where it runs. */
struct cpu_place {
	uint32_t thread;
	uint32_t core;
	uint32_t domain; /* the cores under one shared cache */
};

/* How a sampled access was chosen. Counts never mix the two. */
enum sample_kind {
	SAMPLE_UNIFORM, /* every upcoming access equally likely */
	SAMPLE_STALLED, /* the access the interrupted thread waited for */
	SAMPLE_KINDS
};

/* A locked access writes even if the value does not change. */
static inline bool access_stores(const struct access *a)
{
	return a->flags & (ACCESS_STORE | ACCESS_LOCKED);
}

/* The last of @len bytes at @addr, at most the last address there is. */
static inline uint64_t last_byte(uint64_t addr, uint32_t len)
{
	uint64_t last = addr + (len ? len - 1 : 0);

	return last < addr ? UINT64_MAX : last;
}

static inline uint64_t access_last(const struct access *a)
{
	return last_byte(a->addr, a->len);
}

static inline bool access_overlaps(const struct access *a,
				   const struct access *b)
{
	return a->addr <= access_last(b) && b->addr <= access_last(a);
}

#endif
