/* SPDX-License-Identifier: MIT */
/*
 * rule - what shall make diff fail, for scripts
 *
 *	regress            there is more sharing after, beyond noise
 *	avoidable > 10%    the share after, of all sharing; also false, true
 *	sharing > 5        detections (transfers) in 1,000 samples (accesses)
 *
 * A rule with a bound takes < too. It fails where the whole 95 % interval is
 * beyond the bound, so that noise fails nothing.
 */
#ifndef COMDET_ANALYSIS_DIFF_RULE_H
#define COMDET_ANALYSIS_DIFF_RULE_H

#include <stdbool.h>

#include "diff.h"

struct rule {
	const char *text;
	bool regress, share, above;
	enum quantity quantity;
	double bound;
};

/* False: @text is no rule. It must outlive @r. */
bool rule_parse(struct rule *r, const char *text);

/* True if @d breaks the rule; then @why says so (caller frees), else NULL. */
bool rule_broken(const struct rule *r, const struct diff *d, char **why);

#endif
