/* SPDX-License-Identifier: MIT */
/*
 * advice - how the next recording can answer better
 */
#ifndef COMDET_ANALYSIS_REPORT_ADVICE_H
#define COMDET_ANALYSIS_REPORT_ADVICE_H

#include <stdbool.h>

#include "analysis/profile/profile.h"

/* True if the program was watched while it ran, and left running. */
bool advice_can_watch_longer(const struct profile *p);

/*
 * Say how to get @times as many samples (more than 1), as a part of a sentence:
 * "sample more often (record -F 2000) or repeat the work 10 times". A program
 * that still runs is only to go on, or to be watched for longer. The caller
 * frees the text.
 */
char *advice_more_samples(const struct profile *p, double times);

#endif
