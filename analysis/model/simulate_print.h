/* SPDX-License-Identifier: MIT */
/*
 * simulate_print - the result of a simulation as text and as JSON
 */
#ifndef COMDET_ANALYSIS_MODEL_SIMULATE_PRINT_H
#define COMDET_ANALYSIS_MODEL_SIMULATE_PRINT_H

#include "simulate.h"
#include "analysis/base/json_build.h"

void simulate_print_text(const struct simulated *s, const struct machine *m);

/* One object, in one line; @misses becomes its member, if it is not NULL. */
void simulate_print_json(const struct simulated *s, const struct machine *m,
			 json_t *misses);

#endif
