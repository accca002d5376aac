/* SPDX-License-Identifier: MIT */
/*
 * reuse_text - how far apart a program's reuses are, for people
 *
 * For each stream it prints the caches and the curve, which show the cost, and
 * the reuse times; then the threads, and the sites that cost most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reuse_text.h"
#include "caches.h"
#include "reuse_sites.h"
#include "reuse_times.h"
#include "reuse_words.h"
#include "style.h"
#include "analysis/base/util.h"
#include "analysis/locality/reuse_misses.h"

enum {
	NAME_COLUMNS = 15,
	LINE_COLUMNS = 80,
	FATE_INDENT = 4,
};

/*
 * Misses in a shared cache follow only from all threads together, unless it was
 * simulated: say how to record that.
 */
static void print_wish(struct report *out, const struct report_reuse *r)
{
	const struct cdp_header *h =
		&profile_main_process(out->profile)->header;
	const struct cache_part all = CACHE_PART_ALL;
	struct cache_count c;

	if (reuse_streams_threads(&r->streams) == 1 ||
	    reuse_streams_find(&r->streams, REUSE_SAMPLED, REUSE_GLOBAL,
			       REUSE_LINE) ||
	    (strcmp(h->source, "emu") && strcmp(h->source, "instr")))
		return;
	for (size_t i = 0; i < r->streams.caches; i++)
		if (r->streams.cache[i].shared &&
		    !cache_misses_count(&r->streams.simulated,
					&r->streams.cache[i], &all, &c)) {
			fprintf(out->out,
				"  Threads share %s: record with -m "
				"reuse,global to see what misses there.\n",
				r->streams.cache[i].name);
			return;
		}
}

/* Print how to read the ratios, below the first table of caches. */
static void print_notes(struct report *out, const struct report_reuse *r)
{
	const struct cdp_header *h =
		&profile_main_process(out->profile)->header;
	bool sets = false;

	for (size_t i = 0; i < r->streams.caches; i++)
		sets |= r->streams.cache[i].sets > 1;
	if (r->streams.simulated.caches)
		fputs("  Expected: as if lines fell into sets at random. "
		      "Simulated: every access, into\n  the set that its "
		      "virtual address gives.\n",
		      out->out);
	else if (sets)
		fputs("  Lines are taken to fall into sets at random. Sweeps "
		      "of "
		      "arrays come closer to\n  the last column, strides of a "
		      "power of two can miss far more than either.\n",
		      out->out);
	if (!strcmp(h->source, "emu"))
		fputs("  QEMU splits a 16-byte access in two, the second of "
		      "which never misses.\n",
		      out->out);
	print_wish(out, r);
}

/* Print the shares of RAR, RAW, WAR and WAW among the reuses. */
static void print_kinds(struct report *out, const struct reuse_sums *sums)
{
	const char *between = "  reuses: ";
	double all = 0;

	for (int i = 0; i < REUSE_PAIRINGS; i++)
		all += sums->pairing[i];
	for (int i = 0; i < REUSE_PAIRINGS; i++) {
		if (!(sums->pairing[i] > 0))
			continue;
		fprintf(out->out, "%s%s %s", between, reuse_pairing_name(i),
			percent_text(sums->pairing[i], all));
		between = ", ";
	}
	fputs(all > 0 ? " (RAW: a load after a store)\n" : "", out->out);
}

static const char *uses_text(const struct reuse_stream *s, uint64_t n)
{
	if (s->basis != REUSE_SAMPLED)
		return n == 1 ? "access" : "accesses";
	return n == 1 ? "use followed" : "uses followed";
}

/* Print @piece at column *@at, or on a new line if it does not fit. */
static void print_piece(FILE *f, int *at, const char *piece)
{
	int columns = (int)text_columns(piece);

	if (*at + columns > LINE_COLUMNS) {
		fprintf(f, "\n%*s", FATE_INDENT, "");
		*at = FATE_INDENT;
		piece += *piece == ' ';
	}
	fputs(piece, f);
	*at += columns;
}

static void print_fates(struct report *out, const struct reuse_stream *s,
			const struct reuse_histogram *h,
			const struct reuse_sums *sums)
{
	double total = reuse_histogram_total(h).weight;
	double reused = reuse_histogram_reused(h).weight;
	double never = reuse_histogram_never(h).weight;
	double lost = reuse_histogram_invalidated(h).weight;
	char text[128];
	int at = 0;

	snprintf(text, sizeof(text), "  %s %s: %s%s reused,",
		 count_text(h->uses), uses_text(s, h->uses),
		 s->ns ? "an estimated " : "", percent_text(reused, total));
	print_piece(out->out, &at, text);
	if (lost > 0) {
		snprintf(text, sizeof(text),
			 " %s invalidated by another's store,",
			 percent_text(lost, total));
		print_piece(out->out, &at, text);
	}
	snprintf(text, sizeof(text), " %s never used again",
		 percent_text(never, total));
	print_piece(out->out, &at, text);
	fputc('\n', out->out);
	if (s->scope == REUSE_SHARED && sums->own > 0)
		fprintf(out->out,
			"  %s of the uses were reused by their own core first "
			"and are left out\n",
			percent_text(sums->own, sums->own + total));
	if (reused > 0 && sums->spatial > 0)
		fprintf(out->out,
			"  %s of the reuses are spatial: other bytes of the "
			"line\n",
			percent_text(sums->spatial, reused));
	print_kinds(out, sums);
	if (s->ns)
		fputs("  The clock does not count accesses: a use is weighted "
		      "by the CPU time around\n  it, and times are the "
		      "thread's CPU time. That gives no miss ratios.\n",
		      out->out);
}

/* @first: no stream with miss ratios was printed before. */
static void print_stream(struct report *out, const struct report_reuse *r,
			 const struct reuse_stream *s, bool first)
{
	static struct reuse_histogram h;
	struct mrc_cache cache[HOST_CACHES_MAX];
	struct reuse_sums sums;
	struct mrc m;
	size_t n;

	reuse_stream_sum(s, &h, &sums);
	report_heading(out, "Reuse of %s %s%s",
		       s->granularity == REUSE_LINE ? "cache lines"
						    : "addresses",
		       reuse_scope_text(s->scope, r->filter.thread),
		       s->basis == REUSE_COUNTED ? ", every access counted"
		       : s->ns                   ? ", estimated"
						 : "");
	print_fates(out, s, &h, &sums);
	if (!reuse_stream_has_misses(s)) {
		reuse_times_print(out, &h, s->ns, r->streams.resolution);
		return;
	}
	n = reuse_stream_caches(&r->streams, s, cache);
	reuse_stream_curve(&r->streams, s, &m);
	if (s->basis == REUSE_COUNTED &&
	    reuse_streams_distances(&r->streams, s))
		reuse_stream_curve(&r->streams,
				   reuse_streams_distances(&r->streams, s), &m);
	fputc('\n', out->out);
	mrc_plot(out->out, &m, cache, n, 2);
	fprintf(out->out, "  miss ratio at each size of an LRU cache%s\n\n",
		s->basis == REUSE_SAMPLED ? "; ':' 95 %, sample and model"
					  : "");
	n = report_caches_print(out, r, s, cache, n);
	if (n && first)
		print_notes(out, r);
	if (s->basis == REUSE_COUNTED)
		report_caches_conflicts(out, cache, n);
	fputs(n ? "\n" : "", out->out);
	reuse_times_print(out, &h, false, 0);
}

static void print_thread(struct report *out, const struct thread_row *t,
			 int64_t id, const struct mrc_cache *cache, size_t n)
{
	const char *name = cut_text(safe_text(t->name), NAME_COLUMNS);

	fprintf(out->out, "  %4lld  %s%*s", (long long)id, name,
		(int)(NAME_COLUMNS - text_columns(name)), "");
	for (size_t c = 0; c < n; c++)
		fprintf(out->out, "  %-3s %-*s", cache[c].cache->name,
			c + 1 < n ? REUSE_RATIO_COLUMNS : 0,
			reuse_ratio_text(cache[c].miss_ratio, cache[c].by));
	fputc('\n', out->out);
}

/* Print each thread's miss ratios in the caches that @scope covers. */
static void print_threads(struct report *out, const struct report_reuse *r,
			  enum reuse_scope scope)
{
	size_t rows = 0, few = 0;

	for (size_t i = 0; i < r->streams.streams; i++) {
		const struct reuse_stream *s = &r->streams.stream[i];
		static struct reuse_histogram h;
		struct mrc_cache cache[HOST_CACHES_MAX];
		size_t n;

		if (s->basis != REUSE_SAMPLED || s->thread < 0 ||
		    s->scope != scope || !reuse_stream_has_misses(s))
			continue;
		n = reuse_stream_caches(&r->streams, s, cache);
		reuse_stream_sum(s, &h, NULL);
		if (n && h.uses < REUSE_USES_MIN) {
			few++;
			continue;
		}
		if (!n || rows++ >= out->thread_rows)
			continue;
		if (rows == 1)
			report_heading(out,
				       "Miss ratios of the threads%s, with 95 "
				       "%% intervals",
				       scope == REUSE_GLOBAL
					       ? " in caches that they share"
					       : "");
		print_thread(out, &r->streams.profile->thread[s->thread],
			     s->thread, cache, n);
	}
	if (rows > out->thread_rows)
		fprintf(out->out, "  ... and %s more\n",
			count_text(rows - out->thread_rows));
	if (rows && few)
		fprintf(out->out, "  %s with fewer than %d uses left out\n",
			count_text(few), REUSE_USES_MIN);
}

void report_reuse_text(struct report *out, const struct report_reuse *r)
{
	/*
	 * With one thread, its own stream equals that of all threads under its
	 * cache.
	 */
	bool alone = reuse_streams_threads(&r->streams) == 1;
	bool first = true;

	/* Lines come before addresses. */
	for (int g = REUSE_GRANULARITIES - 1; g >= 0; g--)
		for (size_t i = 0; i < r->streams.streams; i++) {
			const struct reuse_stream *s = &r->streams.stream[i];

			if (!report_reuse_shows(r, s) ||
			    s->granularity != (enum reuse_granularity)g ||
			    s->basis == REUSE_DISTANCES ||
			    (alone && s->scope == REUSE_GLOBAL &&
			     reuse_streams_find(&r->streams, s->basis,
						REUSE_PRIVATE, s->granularity)))
				continue;
			print_stream(out, r, s, first);
			first &= !reuse_stream_has_misses(s);
		}
	if (r->filter.thread < 0) {
		print_threads(out, r, REUSE_PRIVATE);
		print_threads(out, r, REUSE_GLOBAL);
	}
	reuse_sites_print(out, r, report_reuse_main(r, REUSE_SAMPLED));
	report_caches_lines(out, r);
}
