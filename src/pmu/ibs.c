/* SPDX-License-Identifier: MIT */
/*
 * ibs - AMD's Instruction-Based Sampling: the registers of one sampled op
 *
 * The registers are read as AMD documents them, with the errata that the
 * kernel's own driver knows.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "ibs.h"
#include "src/base/signal_safe.h"

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
	CTL_MAX_COUNT_EXT = 0x7f << 20, /* already times 16 */
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

/* Erratum 1293: for these ops data about L2 and beyond is invalid. */
static bool source_invalid(const struct ibs_op *op, const struct ibs_cpu *cpu)
{
	return cpu && cpu->family == 0x19 && cpu->model < 0x10 &&
	       op->data3 & (DATA3_PREFETCH | DATA3_NO_MAB);
}

/* Models of family 19h whose cache state bit is invalid. */
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

/* The source of a load, by OP_DATA2. */
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

	/* For uncacheable accesses the other bits are invalid. */
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
	if (data_source_is_remote(source) ||
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
