/* SPDX-License-Identifier: MIT */
/*
 * ibs - AMD's Instruction-Based Sampling: the registers of one sampled op
 *
 * A sample of the event ibs_op has the registers in its field RAW. Layout as in
 * AMD's Processor Programming Reference 55898 (family 19h).
 *
 * All of it is pure: no allocation, no system call, no state. Context: any,
 * handler included.
 */
#ifndef COMDET_PMU_IBS_H
#define COMDET_PMU_IBS_H

#include <stddef.h>
#include <stdint.h>

#include "memory.h"

/* For errata of IBS; zero where it is not known. */
struct ibs_cpu {
	uint32_t family, model; /* 0x19, 0x11, ... with the extended parts */
};

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
