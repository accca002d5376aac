/* SPDX-License-Identifier: MIT */
/*
 * padding - the share of the transfers that padding avoids
 */
#ifndef COMDET_ANALYSIS_REPORT_PADDING_H
#define COMDET_ANALYSIS_REPORT_PADDING_H

#include "report.h"

/*
 * The share as counted, or else as estimated; below 0 if the recording does not
 * tell.
 */
double report_padding_share(const struct report *r);

#endif
