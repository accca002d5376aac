/* SPDX-License-Identifier: MIT */
/*
 * predictor - predict conditional branches
 *
 * one_bit	1,024 bits by the address: the last outcome.
 * tournament	as in the Alpha 21264: 1,024 local histories of 10 bits and
 *		3-bit counters, 4,096 global 2-bit counters by the last 12
 *		outcomes, and 4,096 2-bit counters that choose; 3.6 KB.
 * pentium_m	a tagged global table, a loop predictor and bimodal counters;
 *		predictor_pentium_m.c.
 * tage	counters chosen by histories of four lengths; predictor_tage.c.
 * perfect	always right.
 */
#ifndef COMDET_ANALYSIS_MODEL_PREDICTOR_H
#define COMDET_ANALYSIS_MODEL_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

struct predictor;

struct predictor *predictor_new(enum machine_predictor kind);
void predictor_free(struct predictor *p);

/* Predict the branch at @ip and learn its outcome; true if it was right. */
bool predictor_right(struct predictor *p, uint64_t ip, bool taken);

/* The same of one of each kind; a bit for each kind that was wrong. */
struct predictor *predictor_new_all(void);
unsigned int predictor_wrong(struct predictor *all, uint64_t ip, bool taken);

#endif
