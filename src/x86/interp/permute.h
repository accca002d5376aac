/* SPDX-License-Identifier: MIT */
/*
 * permute - instructions that move elements across lanes
 */
#ifndef COMDET_X86_INTERP_PERMUTE_H
#define COMDET_X86_INTERP_PERMUTE_H

#include "state.h"

step_fn step_broadcast;
step_fn step_extract_lanes;
step_fn step_insert_lanes;
step_fn step_permute_halves;
step_fn step_shuffle_lanes;
step_fn step_permute;
step_fn step_permute_two;
step_fn step_align_elements;
step_fn step_blend_mask;

#endif
