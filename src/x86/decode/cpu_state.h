/* SPDX-License-Identifier: MIT */
/*
 * cpu_state - the registers of a thread that was interrupted
 *
 * Decoder and interpreter use nothing else of the thread, so the values may
 * come from a signal frame, from ptrace or from a test. A register that cannot
 * be read is marked unknown; results that depend on it are then unknown too.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_X86_DECODE_CPU_STATE_H
#define COMDET_X86_DECODE_CPU_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GPR_RAX,
	GPR_RCX,
	GPR_RDX,
	GPR_RBX,
	GPR_RSP,
	GPR_RBP,
	GPR_RSI,
	GPR_RDI
};

enum {
	FXSAVE_MXCSR = 24, /* offsets into fxsave */
	FXSAVE_XMM = 160,
	LANE_BYTES = 16, /* of a vector register */
};

struct cpu_state {
	uint64_t gpr[16]; /* in the order of instruction encoding: GPR_* */
	uint64_t rip, rflags;
	uint64_t fs_base, gs_base;
	bool fs_known, gs_known; /* fs_base, gs_base hold a value */
	/* Where it costs a system call: reads gs_base when an instruction needs
	   it; NULL: see gs_known. */
	uint64_t (*read_gs_base)(void);
	const void *fxsave; /* 512 bytes in FXSAVE's layout, NULL: unknown */
	/*
	 * Components of XSAVE, each NULL if unknown. A component in its
	 * initial state points to zeros (cpu_state_vectors does).
	 */
	const void *ymm_high; /* upper halves of ymm0-15, 16 * 16 bytes */
	const void *opmask;   /* k0-k7, 8 * 8 bytes */
	const void *zmm_high; /* upper halves of zmm0-15, 16 * 32 bytes */
	const void *hi16_zmm; /* zmm16-31, 16 * 64 bytes */
};

/*
 * Set fxsave and the pointers after it from @fpregs, the floating-point state
 * of a signal frame (uc_mcontext.fpregs), NULL if there is none. That memory
 * must stay as it is until the last interp_run on this state.
 */
void cpu_state_vectors(struct cpu_state *cpu, const void *fpregs);

/*
 * The address behind the last byte that the kernel wrote of the floating-point
 * state of a signal frame at cpu->fxsave; 0 if it is not known.
 */
uint64_t cpu_state_frame_end(const struct cpu_state *cpu);

/* Bytes that xsave writes in standard format with all components enabled. */
uint16_t cpu_state_xsave_bytes(void);

/* Set *@base; false if it is not known. */
static inline bool cpu_state_gs_base(const struct cpu_state *cpu,
				     uint64_t *base)
{
	*base = cpu->read_gs_base ? cpu->read_gs_base() : cpu->gs_base;
	return cpu->gs_known || cpu->read_gs_base;
}

/* The 16 bytes of lane @lane (0-3) of vector register @reg, NULL: unknown. */
static inline const void *cpu_state_lane(const struct cpu_state *cpu,
					 unsigned reg, unsigned lane)
{
	const void *part;
	unsigned at;

	if (reg >= 16) {
		part = cpu->hi16_zmm;
		at = 64 * (reg - 16) + LANE_BYTES * lane;
	} else if (lane == 0) {
		part = cpu->fxsave;
		at = FXSAVE_XMM + LANE_BYTES * reg;
	} else if (lane == 1) {
		part = cpu->ymm_high;
		at = LANE_BYTES * reg;
	} else {
		part = cpu->zmm_high;
		at = 32 * reg + LANE_BYTES * (lane - 2);
	}
	return part ? (const uint8_t *)part + at : NULL;
}

#endif
