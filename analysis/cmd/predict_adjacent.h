/* SPDX-License-Identifier: MIT */
/*
 * predict_adjacent - say whether an adjacent-line prefetcher pays
 *
 * The half of the verb predict that is about this machine; the other is in
 * predict.c.
 */
#ifndef COMDET_ANALYSIS_CMD_PREDICT_ADJACENT_H
#define COMDET_ANALYSIS_CMD_PREDICT_ADJACENT_H

#include <stdbool.h>

/*
 * Print what the recording @dir says (locality/adjacent.h), with the latencies
 * of the file @latencies, or as measured here if it is NULL. Returns the exit
 * status; dies if it cannot.
 */
int predict_adjacent(const char *dir, const char *latencies, bool json);

#endif
