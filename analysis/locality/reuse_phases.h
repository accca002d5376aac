/* SPDX-License-Identifier: MIT */
/*
 * reuse_phases - how the locality of streams changed while they ran
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_PHASES_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_PHASES_H

#include "reuse_cells.h"

/*
 * Give each sampled whole the mean of its phases' distances (phases.h), where
 * its records say in which phase a use was.
 */
void reuse_phases_bend(struct reuse_cells *s);

#endif
