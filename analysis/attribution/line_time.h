/* SPDX-License-Identifier: MIT */
/*
 * line_time - what share of their time threads spend at a cache line
 *
 * The clock samples CPU time, so the share of a thread's samples that lie on
 * the line would be the share of its time there. The file has only detections.
 * These follow from the rules of the board (docs/algorithm.md): a store stays
 * for two sampling periods and is not renewed; each other thread detects it
 * once, by one of its two samples; then the next sampled store takes its place,
 * which is there at once if all samples are stores to the line. If each thread
 *has the share f of its samples on the line, and W of n threads store there,
 *
 *	detections = P (n - 1) (1 - (1 - f)^2) / (2 + (1 - f) / (W f))
 *
 * in the P periods during which they run side by side. That grows with f, so f
 * follows from the detections.
 *
 * Half of the samples are accesses that the thread waited for, which follow
 * time; the others follow accesses. With s and u as these two shares, f = (s +
 * u) / 2. A line that moves takes longer than other accesses, so s >= u, and
 * the share of time s is between f and 2 f (or 1). Accesses elsewhere overlap
 * with the wait for the line, so s is taken to be nearer to 2 f: three quarters
 * of the way. That is a choice, tried on eight programs (docs/gain.md).
 */
#ifndef COMDET_ANALYSIS_ATTRIBUTION_LINE_TIME_H
#define COMDET_ANALYSIS_ATTRIBUTION_LINE_TIME_H

#include <stddef.h>

struct line_users {
	size_t threads, writers; /* two and one at least */
	double periods;          /* during which they ran side by side */
};

/* Detections by the board for the share @f of the samples, 0 to 1. */
double line_detections(const struct line_users *u, double f);

/* The share of the samples that gives @detections; 1 for too many. */
double line_samples_share(const struct line_users *u, double detections);

/*
 * The share of time, and the logarithm of the factor by which it may be wrong:
 * because of the number of detections, and of s and u.
 */
struct line_time {
	double share, error;
};

struct line_time line_time(const struct line_users *u, double detections);

#endif
