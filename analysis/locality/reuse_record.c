/* SPDX-License-Identifier: MIT */
/*
 * reuse_record - what one record of a profile says of reuse
 */
#include <string.h>

#include "reuse_record.h"
#include "analysis/base/util.h"

const char *reuse_scope_name(enum reuse_scope scope)
{
	static const char *const names[] = {
		[REUSE_PRIVATE] = "private",
		[REUSE_SHARED] = "shared",
		[REUSE_GLOBAL] = "global",
	};

	return names[scope];
}

const char *reuse_granularity_name(enum reuse_granularity granularity)
{
	return granularity == REUSE_LINE ? "line" : "address";
}

double reuse_number(double x)
{
	return x > 0 && x < 1e30 ? x : 0;
}

bool reuse_in_ns(const struct cdp_header *h)
{
	return !strcmp(h->period_unit, "ns");
}

double reuse_record_scale(const struct profile *p, const struct reuse_row *r)
{
	const struct cdp_header *h = &p->process[r->process].header;

	/* The period of a clock is a time; weights remain samples. */
	if (r->record.kind == CDP_REUSE_EXACT ||
	    r->record.kind == CDP_REUSE_STACK || !h->period || reuse_in_ns(h))
		return 1;
	return (double)h->period;
}

struct reuse_mass reuse_record_mass(const struct profile *p,
				    const struct reuse_row *row)
{
	const struct cdp_reuse *r = &row->record;
	double scale = reuse_record_scale(p, row);
	struct reuse_mass m = {
		.weight = reuse_number(r->weight) * scale,
		.squares = reuse_number(r->squares) * scale * scale,
		.offset = reuse_number(r->offset) * scale,
		.offset_squares = reuse_number(r->offset_squares) * scale,
	};

	return m;
}

bool reuse_record_add(struct reuse_histogram *h, const struct cdp_reuse *r,
		      enum reuse_basis basis, const struct reuse_mass *m)
{
	uint32_t bin = r->bin;

	switch (r->outcome) {
	case REUSE_REUSED:
		reuse_mass_merge(&h->reuse[bin], m);
		break;
	case REUSE_INVALIDATED:
		reuse_mass_merge(&h->invalidated[bin], m);
		break;
	case REUSE_COLD:
		/* A cold access ends no use, but it has a stack distance. */
		if (basis != REUSE_DISTANCES)
			return false;
		/* fall through */
	case REUSE_DANGLING:
		/* 0 means that it is not known when the end cut the use off. */
		bin = bin ? bin : REUSE_BINS - 1;
		reuse_mass_merge(&h->never[bin], m);
		break;
	default:
		return false;
	}
	h->uses = sat_add(h->uses, r->count);
	return true;
}
