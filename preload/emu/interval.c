/* SPDX-License-Identifier: MIT */
/*
 * interval - number of accesses between two samples
 */
#include "interval.h"
#include "state.h"

enum {
	IBS_RANDOM = 128,
};

bool emu_interval_one_counter(void)
{
	return emu.config.pmu == EMU_PMU_IBS;
}

/* Of IBS: intervals lie within half of this on either side of the period. */
static uint64_t jitter_width(void)
{
	uint64_t period = emu.config.period;

	return IBS_RANDOM < period ? IBS_RANDOM : period;
}

double emu_interval_variance_ibs(void)
{
	double share = (double)jitter_width() / (double)emu.config.period;

	return share * share / 12;
}

void emu_interval_begin(struct vcpu *v, enum emu_counter counter)
{
	uint64_t period = emu.config.period;

	v->rest[counter] = 0;
	v->until[counter] = rng_skip(&v->rng, period, &v->rest[counter]);
}

void emu_interval_load(struct vcpu *v, enum emu_counter counter)
{
	uint64_t period = emu.config.period;

	if (emu_interval_one_counter())
		v->until[counter] =
			rng_around(&v->rng, period, jitter_width()) - 1;
	else
		v->until[counter] =
			rng_skip(&v->rng, period, &v->rest[counter]);
}
