/* SPDX-License-Identifier: MIT */
/*
 * interval - number of accesses between two samples
 */
#include "interval.h"
#include "state.h"

enum {
	PEBS_SHARE = 8, /* the jitter is 1/8 of the period wide */
	IBS_RANDOM = 128,
};

bool emu_interval_one_counter(void)
{
	return emu.config.pmu == EMU_PMU_IBS;
}

/* Intervals lie within half of this on either side of the period. */
static uint64_t jitter_width(void)
{
	uint64_t period = emu.config.period;
	uint64_t width =
		emu_interval_one_counter() ? IBS_RANDOM : period / PEBS_SHARE;

	return width < period ? width : period;
}

double emu_interval_variance(void)
{
	double share = (double)jitter_width() / (double)emu.config.period;

	return share * share / 12;
}

void emu_interval_load(struct vcpu *v, enum emu_counter counter)
{
	v->until[counter] =
		rng_around(&v->rng, emu.config.period, jitter_width()) - 1;
}
