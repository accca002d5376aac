/* SPDX-License-Identifier: MIT */
/*
 * memory - the memory access that a perf_events sample is about
 *
 * All of it is pure: no allocation, no system call, no state. Context: any,
 * handler included.
 */
#ifndef COMDET_PMU_MEMORY_H
#define COMDET_PMU_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sample.h"
#include "src/base/access.h"

/* Where the data of an access came from. The .cdp format uses the numbers. */
#define DATA_SOURCES(X)                                                        \
	X(UNKNOWN, "unknown", "not known")                                     \
	X(L1, "l1", "L1")                                                      \
	X(LFB, "lfb", "a line already on its way to L1")                       \
	X(L2, "l2", "L2")                                                      \
	X(L3, "l3", "L3")                                                      \
	X(L4, "l4", "L4 or a memory side cache")                               \
	X(PEER_CACHE, "peer_cache", "another core's cache, near")              \
	X(REMOTE_CACHE, "remote_cache", "a cache of another socket")           \
	X(DRAM, "dram", "memory")                                              \
	X(REMOTE_DRAM, "remote_dram", "memory of another socket")              \
	X(PMEM, "pmem", "persistent memory")                                   \
	X(CXL, "cxl", "memory behind CXL or another extension")                \
	X(IO, "io", "I/O or a device")                                         \
	X(UNCACHED, "uncached", "uncached")                                    \
	X(BEYOND_L1, "beyond_l1", "beyond L1, not said where")                 \
	X(CACHE, "cache", "some cache")

enum data_source {
#define X(id, name, text) DATA_SOURCE_##id,
	DATA_SOURCES(X)
#undef X
	DATA_SOURCE_COUNT
};

static inline bool data_source_is_remote(enum data_source source)
{
	return source == DATA_SOURCE_REMOTE_CACHE ||
	       source == DATA_SOURCE_REMOTE_DRAM;
}

enum {
	MEMORY_LOCKED = 1,
	MEMORY_SNOOP_HIT = 2,    /* another core had the line, unmodified */
	MEMORY_HITM = 4,         /* another core had it modified */
	MEMORY_TLB_MISS = 8,     /* a page walk was needed */
	MEMORY_PREFETCH = 16,    /* a software prefetch, which is no access */
	MEMORY_REMOTE = 32,      /* data from another node */
	MEMORY_BLOCKED = 64,     /* store forwarding failed, or an alias */
	MEMORY_MISALIGNED = 128, /* IBS: crosses a bank or a line */
	MEMORY_FLAGS = 255,
};

/* One sampled memory access. */
struct perf_memory {
	uint64_t addr;    /* linear; 0: none */
	uint32_t access;  /* ACCESS_LOAD or ACCESS_STORE or both; 0: neither */
	uint32_t len;     /* bytes; 0: not known */
	uint32_t flags;   /* MEMORY_* */
	uint32_t latency; /* core cycles of a load; 0: not known */
	enum data_source source;
};

struct ibs_cpu;

/* The accesses that an event samples, for samples that do not say it. */
enum perf_kind {
	PERF_KIND_UNKNOWN,
	PERF_KIND_LOADS,
	PERF_KIND_STORES,
	PERF_KIND_IBS_OP, /* ibs_op: the field RAW has its registers */
};

/*
 * Decode the access of sample @s, of an event of kind @kind. @cpu may be NULL.
 * RAW of IBS takes precedence over DATA_SRC, and DATA_SRC over @kind: only the
 * sample tells a read-modify-write from a load.
 *
 * Returns 0; -ENODATA if it is not known whether it was a load or a store, or
 * if it was neither (an op without memory access, a prefetch); -EMSGSIZE or
 * -EINVAL for an invalid RAW. In each case @m has all that is known.
 */
int perf_sample_memory(const struct perf_sample *s, enum perf_kind kind,
		       const struct ibs_cpu *cpu, struct perf_memory *m);

/* Decode DATA_SRC: access, flags and source. */
void perf_data_src_decode(uint64_t data_src, struct perf_memory *m);

#endif
