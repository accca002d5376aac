/* SPDX-License-Identifier: MIT */
/*
 * known - what predictions of a profile on other machines have found
 *
 * For predictions by leaders (leaders.h). Designs of a space share parts. What
 * a window misses depends on the caches alone. How long a micro-trace takes
 * depends on the core, on the levels to which its accesses go, and on the
 * latencies of those levels; so a larger cache that changes none of the levels
 * does not change it, nor does memory if none of them is memory.
 *
 * Each is found once and then looked up, and is the same, to the last bit, as
 * if it were found again. Any number of threads may use it.
 */
#ifndef COMDET_ANALYSIS_PREDICT_KNOWN_H
#define COMDET_ANALYSIS_PREDICT_KNOWN_H

#include "leaders.h"
#include "timing.h"

/* Misses of a window, loads and stores together. */
struct known_misses {
	struct levels_misses data, code;
	double lines; /* that memory delivers */
};

struct known_misses known_misses_of(const struct levels *l,
				    const struct window *w);

struct known;
struct known_caches;

/* Both must outlive it; @l may be NULL, then known_led is not called. */
struct known *known_new(const struct workload *w, const struct leaders *l);
void known_free(struct known *k);

/* The caches of @m; give them back before known_free. */
const struct known_caches *known_caches(struct known *k,
					const struct machine *m);
void known_give_back(const struct known_caches *c);

/* What the windows of @thread miss, one after the other. */
const struct known_misses *known_misses(const struct known_caches *c,
					size_t thread);

/*
 * Add what the leaders of each group did, alone on @m, whose caches are @c, to
 * @to, which has room for all groups.
 */
void known_led(struct known *k, const struct known_caches *c,
	       const struct machine *m, struct timed *to);

/* How many micro-traces were timed so far, to see that others were not. */
size_t known_timings(const struct known *k);

#endif
