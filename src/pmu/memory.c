/* SPDX-License-Identifier: MIT */
/*
 * memory - what a sample says about its memory access (sample.h)
 *
 * DATA_SRC is read as the kernel fills it in: old kernels, and x86 to this
 * day, say the level in mem_lvl, others and newer ones in mem_lvl_num with
 * mem_remote and mem_hops. IBS is read as AMD documents its registers, with
 * the errata that the kernel's own driver knows.
 */
#include <errno.h>
#include <string.h>

#include "sample.h"

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

/* The last that fits: a hit in L3 may name a peer's cache beside it. */
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

/* What mem_lvl says; it says nothing if it is 0 or "not available". */
static enum data_source source_of_lvl(const union perf_mem_data_src *d)
{
	enum data_source source = DATA_SOURCE_UNKNOWN;
	uint32_t lvl = d->mem_lvl;

	for (size_t i = 0; i < sizeof(lvl_sources) / sizeof(lvl_sources[0]);
	     i++)
		if (lvl & lvl_sources[i].lvl)
			source = lvl_sources[i].source;
	/* AMD before Zen 4: L3 or a cache of the same socket, not said which */
	if (lvl & PERF_MEM_LVL_L3 && lvl & PERF_MEM_LVL_REM_CCE1)
		return DATA_SOURCE_PEER_CACHE;
	/* The same node's, but another core's, as the hops say. */
	if (source == DATA_SOURCE_REMOTE_CACHE &&
	    d->mem_hops == PERF_MEM_HOPS_0)
		return DATA_SOURCE_PEER_CACHE;
	if (!(lvl & PERF_MEM_LVL_MISS))
		return source;
	/* A store that missed L1; a load that missed L3 says no more. */
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

static bool is_remote(enum data_source source)
{
	return source == DATA_SOURCE_REMOTE_CACHE ||
	       source == DATA_SOURCE_REMOTE_DRAM;
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
	    is_remote(m->source))
		flags |= MEMORY_REMOTE;
	m->flags = flags;
}

/* Registers of IBS op: bits of OP_DATA2 and OP_DATA3. */
enum {
	DATA2_SOURCE = 0x7,
	DATA2_REMOTE = 1 << 4,
	DATA2_NOT_MODIFIED = 1 << 5, /* owned rather than modified */
	DATA2_SOURCE_HIGH_SHIFT = 6, /* two bits; Zen 4 */

	DATA3_LOAD = 1 << 0,
	DATA3_STORE = 1 << 1,
	DATA3_L1_TLB_MISS = 1 << 2,
	DATA3_L2_TLB_MISS = 1 << 3,
	DATA3_DC_MISS = 1 << 7,
	DATA3_MISALIGNED = 1 << 8,
	DATA3_UNCACHEABLE = 1 << 14,
	DATA3_LOCKED = 1 << 15,
	DATA3_NO_MAB = 1 << 16, /* missed a line already on its way */
	DATA3_LINEAR_VALID = 1 << 17,
	DATA3_L2_MISS = 1 << 20,
	DATA3_PREFETCH = 1 << 21,
	DATA3_WIDTH_SHIFT = 22,   /* four bits */
	DATA3_LATENCY_SHIFT = 32, /* 16 bits */
};

enum {
	CTL_MAX_COUNT = 0xffff,
	CTL_MAX_COUNT_EXT = 0x7f << 20, /* already in place: times 16 */
	COUNT_SHIFT = 4,
};

enum {
	IBS_WIDTH_MAX = 7, /* 64 bytes */
	OLD_SOURCES = 8,
	ZEN4_SOURCES = 9,
};

int ibs_op_decode(const void *raw, size_t bytes, struct ibs_op *op)
{
	const char *at = raw;
	size_t need = sizeof(op->caps) + 7 * sizeof(uint64_t);
	uint64_t reg[9] = { 0 };
	size_t n = 7;

	memset(op, 0, sizeof(*op));
	if (!raw || bytes < sizeof(op->caps))
		return -EMSGSIZE;
	memcpy(&op->caps, at, sizeof(op->caps));
	n += !!(op->caps & IBS_CAPS_BRANCH_TARGET);
	n += !!(op->caps & IBS_CAPS_OP_DATA4);
	need = sizeof(op->caps) + n * sizeof(reg[0]);
	if (bytes < need)
		return -EMSGSIZE;
	memcpy(reg, at + sizeof(op->caps), n * sizeof(reg[0]));
	op->ctl = reg[0];
	op->rip = reg[1];
	op->data = reg[2];
	op->data2 = reg[3];
	op->data3 = reg[4];
	op->linear = reg[5];
	op->physical = reg[6];
	n = 7;
	if (op->caps & IBS_CAPS_BRANCH_TARGET)
		op->branch_target = reg[n++];
	if (op->caps & IBS_CAPS_OP_DATA4)
		op->data4 = reg[n];
	return 0;
}

/* Erratum 1293: these tell nothing about L2 and beyond. */
static bool source_invalid(const struct ibs_op *op, const struct ibs_cpu *cpu)
{
	return cpu && cpu->family == 0x19 && cpu->model < 0x10 &&
	       op->data3 & (DATA3_PREFETCH | DATA3_NO_MAB);
}

/* Models of family 19h whose cache state bit means nothing. */
static bool state_invalid(const struct ibs_cpu *cpu)
{
	return cpu && cpu->family == 0x19 &&
	       (cpu->model <= 0xf ||
		(cpu->model >= 0x20 && cpu->model <= 0x5f));
}

static uint32_t data2_source(const struct ibs_op *op)
{
	uint32_t source = op->data2 & DATA2_SOURCE;

	if (op->caps & IBS_CAPS_ZEN4)
		source |= (op->data2 >> DATA2_SOURCE_HIGH_SHIFT & 3) << 3;
	return source;
}

/* A load's, by OP_DATA2. */
static enum data_source source_of_data2(const struct ibs_op *op)
{
	static const enum data_source old[OLD_SOURCES] = {
		[2] = DATA_SOURCE_PEER_CACHE, /* or L3 */
		[3] = DATA_SOURCE_DRAM,
		[4] = DATA_SOURCE_REMOTE_CACHE,
		[7] = DATA_SOURCE_IO,
	};
	static const enum data_source zen4[ZEN4_SOURCES] = {
		[1] = DATA_SOURCE_L3,   [2] = DATA_SOURCE_PEER_CACHE,
		[3] = DATA_SOURCE_DRAM, [5] = DATA_SOURCE_REMOTE_CACHE,
		[6] = DATA_SOURCE_PMEM, [7] = DATA_SOURCE_IO,
		[8] = DATA_SOURCE_CXL,
	};
	uint32_t n = data2_source(op);
	enum data_source source;

	if (op->caps & IBS_CAPS_ZEN4)
		source = n < ZEN4_SOURCES ? zen4[n] : DATA_SOURCE_UNKNOWN;
	else
		source = old[n];
	if (source == DATA_SOURCE_DRAM && op->data2 & DATA2_REMOTE)
		return DATA_SOURCE_REMOTE_DRAM;
	return source;
}

static enum data_source source_of_op(const struct ibs_op *op,
				     const struct ibs_cpu *cpu)
{
	bool load = op->data3 & DATA3_LOAD;
	bool invalid = source_invalid(op, cpu);
	enum data_source source = DATA_SOURCE_UNKNOWN;

	/* What follows is not valid for uncacheable accesses. */
	if (op->data3 & DATA3_UNCACHEABLE)
		return load && data2_source(op) == 7 ? DATA_SOURCE_IO
						     : DATA_SOURCE_UNCACHED;
	if (!(op->data3 & DATA3_DC_MISS))
		return DATA_SOURCE_L1;
	if (!(op->data3 & DATA3_L2_MISS) && !invalid)
		return DATA_SOURCE_L2;
	if (load && !invalid)
		source = source_of_data2(op);
	if (source == DATA_SOURCE_UNKNOWN && op->data3 & DATA3_NO_MAB)
		return DATA_SOURCE_LFB;
	return source;
}

static bool may_be_modified(enum data_source source, bool zen4)
{
	return source == DATA_SOURCE_PEER_CACHE ||
	       (zen4 && (source == DATA_SOURCE_L3 ||
			 source == DATA_SOURCE_REMOTE_CACHE));
}

static uint32_t flags_of_op(const struct ibs_op *op, const struct ibs_cpu *cpu,
			    enum data_source source)
{
	uint32_t flags = 0;

	if (op->data3 & DATA3_LOCKED)
		flags |= MEMORY_LOCKED;
	if (op->data3 & DATA3_PREFETCH)
		flags |= MEMORY_PREFETCH;
	if (op->data3 & DATA3_MISALIGNED)
		flags |= MEMORY_MISALIGNED;
	if (op->data3 & DATA3_LINEAR_VALID && op->data3 & DATA3_L1_TLB_MISS &&
	    op->data3 & DATA3_L2_TLB_MISS)
		flags |= MEMORY_TLB_MISS;
	if (op->data3 & DATA3_LOAD && !state_invalid(cpu) &&
	    may_be_modified(source, op->caps & IBS_CAPS_ZEN4) &&
	    !(op->data2 & DATA2_NOT_MODIFIED))
		flags |= MEMORY_HITM;
	if (is_remote(source) ||
	    ((source == DATA_SOURCE_PMEM || source == DATA_SOURCE_CXL ||
	      source == DATA_SOURCE_IO) &&
	     op->data2 & DATA2_REMOTE))
		flags |= MEMORY_REMOTE;
	return flags;
}

int ibs_op_memory(const struct ibs_op *op, const struct ibs_cpu *cpu,
		  struct perf_memory *m)
{
	uint32_t width = op->data3 >> DATA3_WIDTH_SHIFT & 0xf;

	memset(m, 0, sizeof(*m));
	if (op->data3 & DATA3_LOAD)
		m->access |= ACCESS_LOAD;
	if (op->data3 & DATA3_STORE)
		m->access |= ACCESS_STORE;
	if (!m->access)
		return -ENODATA;
	if (op->data3 & DATA3_LINEAR_VALID)
		m->addr = op->linear;
	if (width && width <= IBS_WIDTH_MAX)
		m->len = 1u << (width - 1);
	m->source = source_of_op(op, cpu);
	m->flags = flags_of_op(op, cpu, m->source);
	if (m->flags & MEMORY_LOCKED)
		m->access |= ACCESS_LOCKED;
	if (op->data3 & DATA3_LOAD && op->data3 & DATA3_DC_MISS &&
	    !(op->data3 & DATA3_UNCACHEABLE))
		m->latency = op->data3 >> DATA3_LATENCY_SHIFT & 0xffff;
	return m->flags & MEMORY_PREFETCH ? -ENODATA : 0;
}

uint64_t ibs_op_period(const struct ibs_op *op)
{
	uint64_t count = (op->ctl & CTL_MAX_COUNT) << COUNT_SHIFT;

	if (op->caps & IBS_CAPS_COUNT_EXT)
		count |= op->ctl & CTL_MAX_COUNT_EXT;
	return count;
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
	/* An event's name says less than its sample: that it was either. */
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
