/* SPDX-License-Identifier: MIT */
/*
 * line_time - what share of their time threads spend at a cache line
 */
#include <math.h>

#include "line_time.h"
#include "src/base/interval.h"

enum {
	BISECTIONS = 40
};

double line_detections(const struct line_users *u, double f)
{
	double writers = (double)u->writers;

	if (f <= 0)
		return 0;
	return u->periods * ((double)u->threads - 1) * (1 - (1 - f) * (1 - f)) /
	       (2 + (1 - f) / (writers * f));
}

double line_samples_share(const struct line_users *u, double detections)
{
	double low = 0, high = 1;

	if (detections >= line_detections(u, 1))
		return 1;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (line_detections(u, middle) < detections)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Three quarters of the way from the least that s may be to the most. */
static double time_share(double f)
{
	return f + (fmin(1, 2 * f) - f) * 3 / 4;
}

struct line_time line_time(const struct line_users *u, double detections)
{
	struct interval limits = interval_count(detections);
	double f = line_samples_share(u, detections);
	double low = line_samples_share(u, limits.low);
	double high = line_samples_share(u, limits.high);
	double sampling, kinds;

	if (f <= 0 || low <= 0)
		return (struct line_time){ 0, INFINITY };
	sampling = log(time_share(high) / time_share(low)) / 2;
	kinds = log(fmin(1, 2 * f) / f) / 3;
	return (struct line_time){ time_share(f), hypot(sampling, kinds) };
}
