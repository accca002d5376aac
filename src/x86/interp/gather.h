/* SPDX-License-Identifier: MIT */
/*
 * gather - gathers and scatters
 */
#ifndef COMDET_X86_INTERP_GATHER_H
#define COMDET_X86_INTERP_GATHER_H

#include "state.h"

step_fn step_gather;
step_fn step_scatter;

#endif
