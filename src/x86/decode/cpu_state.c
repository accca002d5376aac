/* SPDX-License-Identifier: MIT */
/*
 * cpu_state - find the registers in a signal frame
 */
#include <cpuid.h>
#include <string.h>

#include "cpu_state.h"

#include "src/base/signal_safe.h"

enum {
	FXSAVE_SOFTWARE = 464, /* bytes that the kernel fills */
	FXSAVE_BYTES = 512,
	XSAVE_LEGACY_BYTES = FXSAVE_BYTES + 64, /* and the header */
	XSAVE_MAGIC = 0x46505853,
	XSAVE_YMM = 2,
	XSAVE_OPMASK = 5,
	XSAVE_ZMM = 6,
	XSAVE_HI16 = 7,
	XSAVE_COMPONENTS = 8,
};

static uint16_t xsave_bytes = XSAVE_LEGACY_BYTES;
static uint32_t component_offset[XSAVE_COMPONENTS];
static const uint64_t zeros[128]; /* as long as the longest component */

/*
 * Runs at load time, because CPUID is slow in a virtual machine, and before
 * the constructors that start sampling.
 */
__attribute__((constructor(101))) static void find_components(void)
{
	unsigned a, b, c, d;

	if (__get_cpuid_count(0xd, 0, &a, &b, &c, &d) &&
	    b > XSAVE_LEGACY_BYTES && b <= UINT16_MAX)
		xsave_bytes = b;
	for (int i = XSAVE_YMM; i < XSAVE_COMPONENTS; i++)
		if (__get_cpuid_count(0xd, i, &a, &b, &c, &d) && a)
			component_offset[i] = b;
}

uint16_t cpu_state_xsave_bytes(void)
{
	return xsave_bytes;
}

static const void *component(const uint8_t *area, uint64_t features,
			     uint64_t in_use, int i)
{
	if (!(features >> i & 1) || !component_offset[i])
		return NULL;
	return in_use >> i & 1 ? area + component_offset[i]
			       : (const uint8_t *)zeros;
}

/* The kernel ends the state with a magic word. */
uint64_t cpu_state_frame_end(const struct cpu_state *cpu)
{
	const uint8_t *area = cpu->fxsave;
	uint32_t magic, bytes;

	if (!area)
		return 0;
	memcpy(&magic, area + FXSAVE_SOFTWARE, sizeof(magic));
	memcpy(&bytes, area + FXSAVE_SOFTWARE + 4, sizeof(bytes));
	return magic == XSAVE_MAGIC ? (uint64_t)(uintptr_t)area + bytes : 0;
}

void cpu_state_vectors(struct cpu_state *cpu, const void *fpregs)
{
	const uint8_t *area = fpregs;
	uint64_t features, in_use, compacted;
	uint32_t magic;

	cpu->fxsave = fpregs;
	cpu->ymm_high = cpu->opmask = cpu->zmm_high = cpu->hi16_zmm = NULL;
	if (!area)
		return;
	memcpy(&magic, area + FXSAVE_SOFTWARE, sizeof(magic));
	memcpy(&features, area + FXSAVE_SOFTWARE + 8, sizeof(features));
	if (magic != XSAVE_MAGIC)
		return;
	memcpy(&in_use, area + FXSAVE_BYTES, sizeof(in_use));
	memcpy(&compacted, area + FXSAVE_BYTES + 8, sizeof(compacted));
	if (compacted >> 63)
		return;
	cpu->ymm_high = component(area, features, in_use, XSAVE_YMM);
	cpu->opmask = component(area, features, in_use, XSAVE_OPMASK);
	cpu->zmm_high = component(area, features, in_use, XSAVE_ZMM);
	cpu->hi16_zmm = component(area, features, in_use, XSAVE_HI16);
}
