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

/* To apply errata of IBS; zero if not known. */
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

/* The registers of IBS op. */
struct ibs_op {
	uint32_t caps;
	uint64_t ctl, rip, data, data2, data3;
	uint64_t linear, physical;     /* DC_LINAD, DC_PHYSAD */
	uint64_t branch_target, data4; /* 0 without their capability */
};

/* Bits in these registers. */
#define IBS_OP_CTL_VALID        (UINT64_C(1) << 18)
#define IBS_OP_CTL_COUNT_OPS    (UINT64_C(1) << 19)
#define IBS_OP_DATA_RIP_INVALID (UINT64_C(1) << 38)

/*
 * Decode the field RAW of a sample of ibs_op: @bytes bytes at @raw, after its
 * size. Returns 0, or -EMSGSIZE if it is shorter than its capabilities say.
 */
int ibs_op_decode(const void *raw, size_t bytes, struct ibs_op *op);

/* Decode the access of @op. Returns as perf_sample_memory. */
int ibs_op_memory(const struct ibs_op *op, const struct ibs_cpu *cpu,
		  struct perf_memory *m);

/*
 * Cycles or ops between the previous sample and this one, as programmed: MaxCnt
 * x 16, without the low bits, which the hardware sets at random.
 */
uint64_t ibs_op_period(const struct ibs_op *op);

#endif
