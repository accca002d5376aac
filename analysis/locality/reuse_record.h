/* SPDX-License-Identifier: MIT */
/*
 * reuse_record - what one record of a profile says of reuse
 *
 * The numbers of a file may be anything; absurd ones count as 0.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_RECORD_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_RECORD_H

#include <stdbool.h>

#include "analysis/profile/profile.h"
#include "src/engine/reuse.h"
#include "src/engine/reuse_histogram.h"

/* Sampled uses, all uses, or the stack distances of all accesses. */
enum reuse_basis {
	REUSE_SAMPLED,
	REUSE_COUNTED,
	REUSE_DISTANCES,
	REUSE_BASES
};

const char *reuse_scope_name(enum reuse_scope scope);
const char *reuse_granularity_name(enum reuse_granularity granularity);

/* True if reuse times of the process are in ns, false if in accesses. */
bool reuse_in_ns(const struct cdp_header *h);

/* The factor that turns the weights of @r into accesses. */
double reuse_record_scale(const struct profile *p, const struct reuse_row *r);

/* The sums of @r, in accesses. */
struct reuse_mass reuse_record_mass(const struct profile *p,
				    const struct reuse_row *r);

/*
 * Add @m to @h as the outcome that @r has; false if that outcome is not one of
 * a use.
 */
bool reuse_record_add(struct reuse_histogram *h, const struct cdp_reuse *r,
		      enum reuse_basis basis, const struct reuse_mass *m);

/* @x, or 0 if it is negative, absurdly large or not a number. */
double reuse_number(double x);

#endif
