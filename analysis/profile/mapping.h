/* SPDX-License-Identifier: MIT */
/*
 * mapping - what a process had mapped at an address
 */
#ifndef COMDET_ANALYSIS_PROFILE_MAPPING_H
#define COMDET_ANALYSIS_PROFILE_MAPPING_H

#include "profile.h"

/*
 * The mapping that held @addr when the maps were at generation @generation: the
 * latest one up to then, else the first one after. NULL if there is none.
 */
const struct cdp_map *process_map(const struct process *process, uint64_t addr,
				  uint64_t generation);

#endif
