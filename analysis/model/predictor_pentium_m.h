/* SPDX-License-Identifier: MIT */
/*
 * predictor_pentium_m - the predictor of the reference simulator
 *
 * The first of these that has an entry predicts:
 * - a table of 512 sets of 4 ways, with tags of 6 bits, indexed by the address
 *   and the path, which is made of the addresses of the last taken branches;
 *   2-bit counters;
 * - a loop predictor of 64 sets of 2 ways: it counts outcomes of one kind and
 *   expects the other after as many as the last time. It also needs an entry in
 *   the table of branches, of 512 sets of 4 ways;
 * - 4,096 2-bit counters by the address.
 * The first gets an entry only where the others were wrong.
 */
#ifndef COMDET_ANALYSIS_MODEL_PREDICTOR_PENTIUM_M_H
#define COMDET_ANALYSIS_MODEL_PREDICTOR_PENTIUM_M_H

#include <stdbool.h>
#include <stdint.h>

struct pentium_m;

struct pentium_m *pentium_m_new(void); /* free() it */
bool pentium_m_right(struct pentium_m *p, uint64_t ip, bool taken);

#endif
