/* SPDX-License-Identifier: MIT */
/*
 * predictor_tage - predict by the longest history that was seen before
 *
 * A TAGE predictor (Seznec and Michaud, "A case for (partially) tagged
 * geometric history length branch prediction", JILP 2006): 4,096 2-bit counters
 * by the address, and four tables of 1,024 entries with tags, by the address
 * and the last 5, 15, 44 and 130 outcomes; about 9 KB. Where the paper takes
 * one of several free tables at random, the shortest history is taken here.
 */
#ifndef COMDET_ANALYSIS_MODEL_PREDICTOR_TAGE_H
#define COMDET_ANALYSIS_MODEL_PREDICTOR_TAGE_H

#include <stdbool.h>
#include <stdint.h>

struct tage;

struct tage *tage_new(void); /* free() it */

/* Predict the branch at @ip and learn its outcome; true if it was right. */
bool tage_right(struct tage *p, uint64_t ip, bool taken);

#endif
