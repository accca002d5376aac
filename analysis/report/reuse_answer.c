/* SPDX-License-Identifier: MIT */
/*
 * reuse_answer - what the report says first about reuse
 */
#include <math.h>
#include <stdlib.h>

#include "reuse_answer.h"
#include "caches.h"
#include "reuse_times.h"
#include "reuse_words.h"
#include "analysis/base/util.h"
#include "analysis/locality/reuse_misses.h"

/* The misses of @s, and those of a stream of all threads in shared caches. */
static size_t caches_of(const struct report_reuse *r,
			const struct reuse_stream *s,
			struct mrc_cache cache[HOST_CACHES_MAX])
{
	const struct reuse_stream *global =
		report_reuse_find(r, s->basis, REUSE_GLOBAL, REUSE_LINE);
	struct mrc_cache more[HOST_CACHES_MAX];
	size_t n = reuse_stream_caches(&r->streams, s, cache), extra;

	if (!global || s->scope != REUSE_PRIVATE)
		return n;
	extra = reuse_stream_caches(&r->streams, global, more);
	for (size_t i = 0; i < extra && n < HOST_CACHES_MAX; i++)
		if (!n || more[i].cache > cache[n - 1].cache)
			cache[n++] = more[i];
	return n;
}

static void print_misses(struct report *out, const struct report_reuse *r,
			 const struct reuse_stream *s)
{
	struct mrc_cache cache[HOST_CACHES_MAX];
	size_t n = caches_of(r, s, cache);

	for (size_t i = 0; i < n; i++)
		fprintf(out->out, "%s%s in %s",
			i == 0      ? r->streams.other_machine
					      ? "Expected to miss: "
					      : "Expected to miss in this machine: "
			: i + 1 < n ? ", "
				    : " and ",
			percent_text(cache[i].miss_ratio, 1),
			cache[i].cache->name);
	fputs(n ? ".\n" : "", out->out);
	for (size_t i = 0; i < n; i++)
		if (report_caches_conflict(&cache[i])) {
			fprintf(out->out,
				"Simulated with its sets, %s misses %s: lines "
				"conflict.\n",
				cache[i].cache->name,
				percent_text(cache[i].simulated, 1));
			break;
		}
}

/* Say how to get more uses. */
static void print_advice(struct report *out)
{
	const struct cdp_header *h =
		&profile_main_process(out->profile)->header;

	if (!h->period)
		fputs("Run longer for more.\n", out->out);
	else if (reuse_in_ns(h))
		fprintf(out->out,
			"Run longer for more, or sample more often: record -F "
			"above %.0f.\n",
			1e9 / (double)h->period);
	else
		fprintf(out->out,
			"Run longer for more, or sample more often: record -p "
			"below %s.\n",
			count_text(h->period));
}

/* The uses that found no room are no random sample: they came late. */
static void print_full(struct report *out, uint64_t lost)
{
	char *text = xasprintf(
		"No room was left for %s results, mostly rare and late reuses, "
		"so shares and miss ratios are wrong. Make room, or record "
		"elsewhere with -o.",
		count_text(lost));

	print_wrapped(out->out, text, 0, 0);
	free(text);
}

bool report_reuse_answer(struct report *out, const struct report_reuse *r)
{
	const struct reuse_stream *s = report_reuse_main(r, REUSE_COUNTED);
	uint64_t lost = profile_loss(out->profile, LOSS_STORE_FULL);
	static struct reuse_histogram h;
	bool weak;

	if (!s)
		s = report_reuse_main(r, REUSE_SAMPLED);
	if (!s && r->filter.thread >= 0 && r->streams.streams) {
		fprintf(out->out, "No use by thread %lld was followed.\n",
			(long long)r->filter.thread);
		return true;
	}
	if (!s)
		return false;
	reuse_stream_sum(s, &h, NULL);
	weak = s->basis == REUSE_SAMPLED && h.uses < REUSE_USES_MIN;
	if (s->basis == REUSE_COUNTED)
		fprintf(out->out,
			"Each of %s accesses was followed to its reuse %s.\n",
			count_text(h.uses),
			reuse_scope_text(s->scope, r->filter.thread));
	else
		fprintf(out->out, "%s %s followed to %s reuse %s%s.\n",
			count_text(h.uses),
			h.uses == 1 ? "use was" : "uses were",
			h.uses == 1 ? "its" : "their",
			reuse_scope_text(s->scope, r->filter.thread),
			weak ? ": few, a weak answer" : "");
	if (lost)
		print_full(out, lost);
	else if (weak)
		print_advice(out);
	else if (reuse_stream_has_misses(s))
		print_misses(out, r, s);
	if (!reuse_stream_has_misses(s) &&
	    reuse_histogram_reused(&h).weight > 0)
		fprintf(out->out,
			s->ns ? "An estimated half of the reuses come within "
				"%s of CPU time.\n"
			      : "Half of the reuses come within %s accesses.\n",
			reuse_time_text(fmax(reuse_median(&h),
					     s->ns ? r->streams.resolution : 1),
					s->ns));
	return true;
}
