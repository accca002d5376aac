/* SPDX-License-Identifier: MIT */
/*
 * errors - explain why a hardware source cannot be used
 */
#ifndef COMDET_PMU_ERRORS_H
#define COMDET_PMU_ERRORS_H

#include <stddef.h>

#include "plan.h"

/*
 * Say why the source cannot be used (@reason) and what to do (@advice). One
 * line each, ended with NUL, cut where there is no room.
 */
void pmu_errors_explain(const struct pmu_refusal *no, char *reason, size_t size,
			char *advice, size_t advice_size);

#endif
