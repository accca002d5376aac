/* SPDX-License-Identifier: MIT */
/*
 * sample - what one perf_events record says about one memory access
 *
 * Records of the kernel come from a ring buffer or from a file; in both cases
 * their bytes are not trusted. A record is decoded in two steps: its fields
 * (perf_sample_decode), by the attribute of its event, and what they mean for
 * the memory access that was sampled (perf_sample_memory), by the kind of
 * event. AMD's IBS reports its registers in the field RAW (ibs_op_decode).
 *
 * Layout as in perf_event_open(2), linux/perf_event.h of Linux 6.1 and AMD's
 * Processor Programming Reference 55898 (family 19h). Little endian.
 *
 * All of it is pure: no allocation, no system call, no state. Context: any,
 * handler included. Records may lie anywhere; they need no alignment.
 */
#ifndef COMDET_PMU_SAMPLE_H
#define COMDET_PMU_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "src/base/access.h"

/* The fields that are used here; a field is there if its bit is in has. */
struct perf_sample {
	uint64_t has;  /* PERF_SAMPLE_* */
	uint16_t misc; /* of the record: PERF_RECORD_MISC_* */
	uint32_t pid, tid, cpu;
	uint64_t id; /* of the event, from IDENTIFIER or ID */
	uint64_t stream_id;
	uint64_t ip, time, addr, phys_addr, period, data_src;
	uint64_t weight; /* WEIGHT as it is; of WEIGHT_STRUCT the latency */
	uint16_t weight2, weight3; /* of WEIGHT_STRUCT */
	/* READ, of the first event of a group. */
	uint64_t read_value, read_enabled, read_running;
	const void *raw; /* into the record */
	uint32_t raw_bytes;
};

/*
 * Decode @record, a PERF_RECORD_SAMPLE of @bytes bytes with its header, of an
 * event with attributes @attr.
 *
 * Returns 0, -EINVAL if it is another record, -EMSGSIZE if a field reaches
 * beyond the record, or -EOPNOTSUPP if @attr asks for a field that is not
 * known here, whose place in the record nobody knows then.
 */
int perf_sample_decode(const struct perf_event_attr *attr, const void *record,
		       size_t bytes, struct perf_sample *s);

/*
 * The same for what other records have at their end if attr.sample_id_all is
 * set: pid, tid, time, id, stream_id and cpu, as far as the event samples
 * them. *@id_bytes, unless NULL, receives how much of the end it took.
 *
 * Returns 0, also if there is none of it, or -EMSGSIZE.
 */
int perf_sample_decode_id(const struct perf_event_attr *attr,
			  const void *record, size_t bytes,
			  struct perf_sample *s, size_t *id_bytes);

/*
 * The id of the event that @record, of any type, belongs to. Several events
 * in one buffer have it in the same place, so @attr may be any of theirs.
 * Returns 0, -ENODATA if records of @attr carry no id, or -EMSGSIZE.
 */
int perf_sample_event(const struct perf_event_attr *attr, const void *record,
		      size_t bytes, uint64_t *id);

/* Where the data of an access came from. The order is part of a format. */
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

enum {
	MEMORY_LOCKED = 1,
	MEMORY_SNOOP_HIT = 2,    /* another core had the line, unmodified */
	MEMORY_HITM = 4,         /* another core had it modified */
	MEMORY_TLB_MISS = 8,     /* a page walk was needed */
	MEMORY_PREFETCH = 16,    /* a software prefetch: no access */
	MEMORY_REMOTE = 32,      /* of another node */
	MEMORY_BLOCKED = 64,     /* store forwarding failed, or an alias */
	MEMORY_MISALIGNED = 128, /* IBS: crosses a bank or a line */
	MEMORY_FLAGS = 255,
};

/* One sampled memory access. */
struct perf_memory {
	uint64_t addr;    /* linear; 0: none */
	uint32_t access;  /* ACCESS_LOAD or ACCESS_STORE or both; 0: neither */
	uint32_t len;     /* bytes; 0: not said */
	uint32_t flags;   /* MEMORY_* */
	uint32_t latency; /* core cycles of a load; 0: not said */
	enum data_source source;
};

/* What an event samples, as far as its samples do not say it themselves. */
enum perf_kind {
	PERF_KIND_UNKNOWN,
	PERF_KIND_LOADS,
	PERF_KIND_STORES,
	PERF_KIND_IBS_OP, /* ibs_op: the field RAW has its registers */
};

/* For errata of IBS; zero where it is not known. */
struct ibs_cpu {
	uint32_t family, model; /* 0x19, 0x11, ... with the extended parts */
};

/*
 * What sample @s of an event of kind @kind says about its access. @cpu may be
 * NULL. RAW of IBS is believed before DATA_SRC, DATA_SRC before @kind: it
 * alone tells a read-modify-write from a load.
 *
 * Returns 0, -ENODATA if nothing says whether it was a load or a store, or if
 * it was neither (an op without memory access, a prefetch); -EMSGSIZE or
 * -EINVAL for a RAW that cannot be. @m has then what is known all the same.
 */
int perf_sample_memory(const struct perf_sample *s, enum perf_kind kind,
		       const struct ibs_cpu *cpu, struct perf_memory *m);

/* DATA_SRC alone: access, flags and source. */
void perf_data_src_decode(uint64_t data_src, struct perf_memory *m);

/* Capabilities (CPUID 8000001B EAX) that change what follows. */
enum {
	IBS_CAPS_OP_COUNT = 1 << 4, /* counts ops as well as cycles */
	IBS_CAPS_BRANCH_TARGET = 1 << 5,
	IBS_CAPS_COUNT_EXT = 1 << 6, /* periods of 27 bits */
	IBS_CAPS_RIP_INVALID_CHECK = 1 << 7,
	IBS_CAPS_OP_DATA4 = 1 << 10,
	IBS_CAPS_ZEN4 = 1 << 11,
	IBS_CAPS_LATENCY_FILTER = 1 << 12,
};

/* Registers of IBS op, as they are. */
struct ibs_op {
	uint32_t caps;
	uint64_t ctl, rip, data, data2, data3;
	uint64_t linear, physical;     /* DC_LINAD, DC_PHYSAD */
	uint64_t branch_target, data4; /* 0 without their capability */
};

/* Bits of them. */
#define IBS_OP_CTL_VALID        (UINT64_C(1) << 18)
#define IBS_OP_CTL_COUNT_OPS    (UINT64_C(1) << 19)
#define IBS_OP_DATA_RIP_INVALID (UINT64_C(1) << 38)

/*
 * The field RAW of a sample of ibs_op, @bytes at @raw, the size not included.
 * Returns 0, or -EMSGSIZE if it is shorter than its capabilities say.
 */
int ibs_op_decode(const void *raw, size_t bytes, struct ibs_op *op);

/* The access of @op; as perf_sample_memory. */
int ibs_op_memory(const struct ibs_op *op, const struct ibs_cpu *cpu,
		  struct perf_memory *m);

/*
 * Cycles or ops between this sample and the one before, as it was programmed:
 * MaxCnt x 16, without the low bits that the hardware sets at random.
 */
uint64_t ibs_op_period(const struct ibs_op *op);

#endif
