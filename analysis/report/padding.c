/* SPDX-License-Identifier: MIT */
/*
 * padding - the share of the transfers that padding avoids
 */
#include "padding.h"
#include "exact_tally.h"
#include "analysis/profile/estimate.h"

static double counted(const struct profile *p)
{
	struct exact_tally t;
	double share = -1;

	if (!exact_tally(&t, p))
		return -1;
	if (t.avoidables && t.transfers)
		share = (double)t.avoids / (double)t.transfers;
	exact_tally_release(&t);
	return share;
}

double report_padding_share(const struct report *r)
{
	double share = counted(r->profile);
	struct estimate e;

	if (share >= 0 || !estimate_load(&e, r->profile))
		return share;
	share = e.avoidable;
	estimate_release(&e);
	return share;
}
