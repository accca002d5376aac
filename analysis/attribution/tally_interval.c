/* SPDX-License-Identifier: MIT */
/*
 * tally_interval - intervals of sums of weights
 */
#include "tally.h"

double tally_design(const struct profile *p)
{
	double sum[SHARING_KINDS] = { 0 }, squares[SHARING_KINDS] = { 0 };
	double design = 1;

	for (size_t i = 0; i < p->pairs; i++)
		sum[p->pair[i].sharing] += (double)p->pair[i].count;
	for (size_t i = 0; i < p->threads; i++)
		for (int k = 0; k < SHARING_KINDS; k++)
			squares[k] += (double)p->thread[i].squares[k];
	for (int k = 0; k < SHARING_KINDS; k++)
		if (squares[k] > design * sum[k] && sum[k] > 0)
			design = squares[k] / sum[k];
	return design;
}

double tally_heaviest(const struct profile *p)
{
	double heaviest = 1;

	for (size_t i = 0; i < p->threads; i++) {
		const struct thread_row *t = &p->thread[i];
		const struct cdp_header *h = &p->process[t->process].header;
		double weight =
			h->period ? (double)h->slow_period / (double)h->period
				  : 1;

		if (t->samples_skipped && weight > heaviest)
			heaviest = weight;
	}
	return heaviest;
}

struct interval tally_count_interval(const struct tally *t, uint64_t count)
{
	struct interval v = interval_count(tally_effective(t, count));

	v.low *= t->design;
	v.high *= count ? t->design : t->heaviest;
	return v;
}

struct interval tally_share_interval(const struct tally *t, uint64_t part,
				     uint64_t whole)
{
	return interval_share(tally_effective(t, part),
			      tally_effective(t, whole));
}

struct interval tally_avoidable_share(const struct tally *t)
{
	const struct judged *j = &t->judged;
	uint64_t guessed = (uint64_t)((double)j->guessed * t->design);
	uint64_t known = j->avoidable > guessed ? j->avoidable - guessed : 0;

	return (struct interval){
		tally_share_interval(t, known, j->all).low,
		tally_share_interval(t, j->avoidable, j->all).high,
	};
}
