/* SPDX-License-Identifier: MIT */
/*
 * memory - the memory access that a perf_events sample is about
 *
 * DATA_SRC has the level in two forms. Old kernels, and all of them on x86, use
 * mem_lvl; newer kernels elsewhere use mem_lvl_num with mem_remote and
 * mem_hops.
 */
#include <errno.h>
#include <string.h>

#include "ibs.h"
#include "memory.h"
#include "src/base/signal_safe.h"

/* Newer than some headers. */
enum {
	LVLNUM_L2_MHB = 5,
	LVLNUM_MSC = 6,
	LVLNUM_UNC = 8,
};

struct lvl_source {
	uint32_t lvl;
	enum data_source source;
};

/* The last match counts: a hit in L3 may also name a peer's cache. */
static const struct lvl_source lvl_sources[] = {
	{ PERF_MEM_LVL_L1, DATA_SOURCE_L1 },
	{ PERF_MEM_LVL_LFB, DATA_SOURCE_LFB },
	{ PERF_MEM_LVL_L2, DATA_SOURCE_L2 },
	{ PERF_MEM_LVL_L3, DATA_SOURCE_L3 },
	{ PERF_MEM_LVL_LOC_RAM, DATA_SOURCE_DRAM },
	{ PERF_MEM_LVL_REM_RAM1, DATA_SOURCE_REMOTE_DRAM },
	{ PERF_MEM_LVL_REM_RAM2, DATA_SOURCE_REMOTE_DRAM },
	{ PERF_MEM_LVL_REM_CCE1, DATA_SOURCE_REMOTE_CACHE },
	{ PERF_MEM_LVL_REM_CCE2, DATA_SOURCE_REMOTE_CACHE },
	{ PERF_MEM_LVL_IO, DATA_SOURCE_IO },
	{ PERF_MEM_LVL_UNC, DATA_SOURCE_UNCACHED },
};

/* The source by mem_lvl, which is neither 0 nor "not available". */
static enum data_source source_of_lvl(const union perf_mem_data_src *d)
{
	enum data_source source = DATA_SOURCE_UNKNOWN;
	uint32_t lvl = d->mem_lvl;

	for (size_t i = 0; i < sizeof(lvl_sources) / sizeof(lvl_sources[0]);
	     i++)
		if (lvl & lvl_sources[i].lvl)
			source = lvl_sources[i].source;
	/* AMD before Zen 4 does not tell L3 from a cache of the same socket. */
	if (lvl & PERF_MEM_LVL_L3 && lvl & PERF_MEM_LVL_REM_CCE1)
		return DATA_SOURCE_PEER_CACHE;
	/* The hops say that it is another core's cache on the same node. */
	if (source == DATA_SOURCE_REMOTE_CACHE &&
	    d->mem_hops == PERF_MEM_HOPS_0)
		return DATA_SOURCE_PEER_CACHE;
	if (!(lvl & PERF_MEM_LVL_MISS))
		return source;
	/* A miss in L1 was served beyond it; in L2 or L3, it is not known
	 * where. */
	switch (source) {
	case DATA_SOURCE_L1:
		return DATA_SOURCE_BEYOND_L1;
	case DATA_SOURCE_L2:
	case DATA_SOURCE_L3:
		return DATA_SOURCE_UNKNOWN;
	default:
		return source;
	}
}

static enum data_source source_of_num(const union perf_mem_data_src *d)
{
	bool far = d->mem_hops >= PERF_MEM_HOPS_1 ||
		   (d->mem_remote && !d->mem_hops);

	switch (d->mem_lvl_num) {
	case PERF_MEM_LVLNUM_L1:
		return DATA_SOURCE_L1;
	case PERF_MEM_LVLNUM_L2:
	case LVLNUM_L2_MHB:
		return far             ? DATA_SOURCE_REMOTE_CACHE
		       : d->mem_remote ? DATA_SOURCE_PEER_CACHE
				       : DATA_SOURCE_L2;
	case PERF_MEM_LVLNUM_L3:
		return far             ? DATA_SOURCE_REMOTE_CACHE
		       : d->mem_remote ? DATA_SOURCE_PEER_CACHE
				       : DATA_SOURCE_L3;
	case PERF_MEM_LVLNUM_L4:
	case LVLNUM_MSC:
		return DATA_SOURCE_L4;
	case LVLNUM_UNC:
		return DATA_SOURCE_UNCACHED;
	case PERF_MEM_LVLNUM_CXL:
		return DATA_SOURCE_CXL;
	case PERF_MEM_LVLNUM_IO:
		return DATA_SOURCE_IO;
	case PERF_MEM_LVLNUM_ANY_CACHE:
		return far             ? DATA_SOURCE_REMOTE_CACHE
		       : d->mem_remote ? DATA_SOURCE_PEER_CACHE
				       : DATA_SOURCE_CACHE;
	case PERF_MEM_LVLNUM_LFB:
		return DATA_SOURCE_LFB;
	case PERF_MEM_LVLNUM_RAM:
		return far ? DATA_SOURCE_REMOTE_DRAM : DATA_SOURCE_DRAM;
	case PERF_MEM_LVLNUM_PMEM:
		return DATA_SOURCE_PMEM;
	default:
		return DATA_SOURCE_UNKNOWN;
	}
}

void perf_data_src_decode(uint64_t data_src, struct perf_memory *m)
{
	union perf_mem_data_src d = { .val = data_src };
	uint32_t flags = 0;

	m->access = 0;
	if (d.mem_op & PERF_MEM_OP_LOAD)
		m->access |= ACCESS_LOAD;
	if (d.mem_op & PERF_MEM_OP_STORE)
		m->access |= ACCESS_STORE;
	if (d.mem_op & PERF_MEM_OP_PFETCH)
		flags |= MEMORY_PREFETCH;

	m->source = d.mem_lvl && !(d.mem_lvl & PERF_MEM_LVL_NA)
			    ? source_of_lvl(&d)
			    : source_of_num(&d);
	if (d.mem_lock & PERF_MEM_LOCK_LOCKED)
		flags |= MEMORY_LOCKED;
	if (d.mem_snoop & PERF_MEM_SNOOP_HITM)
		flags |= MEMORY_HITM;
	else if (d.mem_snoop & PERF_MEM_SNOOP_HIT ||
		 d.mem_snoopx & (PERF_MEM_SNOOPX_FWD | PERF_MEM_SNOOPX_PEER))
		flags |= MEMORY_SNOOP_HIT;
	if (d.mem_dtlb & (PERF_MEM_TLB_WK | PERF_MEM_TLB_OS) ||
	    (d.mem_dtlb & PERF_MEM_TLB_MISS && d.mem_dtlb & PERF_MEM_TLB_L2))
		flags |= MEMORY_TLB_MISS;
	if (d.mem_blk & (PERF_MEM_BLK_DATA | PERF_MEM_BLK_ADDR))
		flags |= MEMORY_BLOCKED;
	if (d.mem_remote || d.mem_hops >= PERF_MEM_HOPS_1 ||
	    data_source_is_remote(m->source))
		flags |= MEMORY_REMOTE;
	m->flags = flags;
}

int perf_sample_memory(const struct perf_sample *s, enum perf_kind kind,
		       const struct ibs_cpu *cpu, struct perf_memory *m)
{
	struct ibs_op op;
	int err;

	memset(m, 0, sizeof(*m));
	if (kind == PERF_KIND_IBS_OP && s->has & PERF_SAMPLE_RAW) {
		err = ibs_op_decode(s->raw, s->raw_bytes, &op);
		return err ? err : ibs_op_memory(&op, cpu, m);
	}
	if (s->has & PERF_SAMPLE_DATA_SRC)
		perf_data_src_decode(s->data_src, m);
	if (s->has & PERF_SAMPLE_ADDR)
		m->addr = s->addr;
	/* Without data in the sample, the kind of event tells load or store. */
	if (!m->access && kind == PERF_KIND_LOADS)
		m->access = ACCESS_LOAD;
	if (!m->access && kind == PERF_KIND_STORES)
		m->access = ACCESS_STORE;
	if (!m->access || m->flags & MEMORY_PREFETCH)
		return -ENODATA;
	if (m->flags & MEMORY_LOCKED)
		m->access |= ACCESS_LOCKED;
	if (s->has & PERF_SAMPLE_WEIGHT_TYPE && m->access & ACCESS_LOAD)
		m->latency = s->weight > UINT32_MAX ? UINT32_MAX
						    : (uint32_t)s->weight;
	return 0;
}
