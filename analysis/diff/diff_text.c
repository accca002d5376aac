/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "diff_text.h"
#include "analysis/base/util.h"

enum {
	NAME_COLUMNS = 30,
	PER = 1000, /* samples, or accesses */
};

const char *verdict_text(enum verdict v)
{
	static const char *const words[] = {
		[VERDICT_UNKNOWN] = "unknown",
		[VERDICT_NOISE] = "noise",
		[VERDICT_FEWER] = "better",
		[VERDICT_MORE] = "worse",
	};

	return words[v];
}

/* Three digits, or "-" for what is not known. */
static const char *number(char *buf, size_t size, double x)
{
	if (isnan(x))
		return "-";
	if (isinf(x))
		return "any";
	snprintf(buf, size, x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x);
	return buf;
}

static void print_row(FILE *f, const char *name, const struct comparison *c,
		      double unit)
{
	char before[32], after[32], ratio[32], low[32], high[32];

	fprintf(f, "  %-*s %8s %8s %7s", NAME_COLUMNS,
		cut_text(name, NAME_COLUMNS),
		number(before, sizeof(before), c->before * unit),
		number(after, sizeof(after), c->after * unit),
		number(ratio, sizeof(ratio), c->ratio));
	if (c->verdict == VERDICT_UNKNOWN)
		fprintf(f, "%17s  %s\n", "", "unknown");
	else
		fprintf(f, "%7s to %-6s  %s\n",
			number(low, sizeof(low), c->by.low),
			number(high, sizeof(high), c->by.high),
			verdict_text(c->verdict));
}

static void print_head(FILE *f, const char *name)
{
	fprintf(f, "\n%-*s %8s %8s %7s %16s\n", NAME_COLUMNS + 2, name,
		"before", "after", "ratio", "95 % interval");
}

static void print_side(FILE *f, const char *name, const struct side *s)
{
	double samples = 0, cpu_s = 0;

	for (size_t i = 0; i < s->runs; i++) {
		samples += s->run[i].samples;
		cpu_s += s->run[i].cpu_s;
	}
	fprintf(f, "%s %s", name, safe_text(s->run[0].dir));
	if (s->runs > 1)
		fprintf(f, " and %s more", count_text(s->runs - 1));
	fprintf(f, ": %s, %s samples", safe_text(s->run[0].source),
		count_text((uint64_t)samples));
	if (cpu_s > 0)
		fprintf(f, ", %s of CPU time",
			duration_text((uint64_t)(cpu_s * 1e9)));
	fputc('\n', f);
}

static void print_answer(const struct diff *d, FILE *f)
{
	const struct comparison *c = &d->quantity[QUANTITY_ALL];
	const char *what = d->transfers ? "an access moves a cache line"
					: "a sample detects sharing";
	char ratio[32], low[32], high[32], *text;

	number(ratio, sizeof(ratio), c->ratio);
	number(low, sizeof(low), c->by.low);
	if (isinf(c->by.high))
		snprintf(high, sizeof(high), "more");
	else
		number(high, sizeof(high), c->by.high);
	if (c->verdict == VERDICT_UNKNOWN)
		text = xstrdup("Nothing can be said of the sharing.");
	else if (isnan(c->ratio))
		text = xstrdup("No sharing was found on either side.");
	else if (c->verdict == VERDICT_NOISE)
		text = xasprintf("No change beyond noise: after, %s %s times "
				 "as often as before (95 %% interval %s to "
				 "%s).",
				 what, isinf(c->ratio) ? "many" : ratio, low,
				 high);
	else if (isinf(c->ratio))
		text = xasprintf("Worse: before, nothing was found; after, %s "
				 "at least %s times as often (95 %% interval).",
				 what, low);
	else if (c->ratio == 0)
		text = xasprintf("Better: after, nothing was found; %s at most "
				 "%s times as often as before (95 %% "
				 "interval).",
				 what, high);
	else
		text = xasprintf("%s: after, %s %s times as often as before "
				 "(95 %% interval %s to %s).",
				 c->verdict == VERDICT_FEWER ? "Better"
							     : "Worse",
				 what, ratio, low, high);
	print_wrapped(f, text, 0, 0);
	free(text);
}

static void print_share(const struct diff *d, FILE *f, const char *name,
			enum quantity q)
{
	const struct side *side[] = { d->before, d->after };

	fprintf(f, "  %-*s", NAME_COLUMNS, name);
	for (int i = 0; i < 2; i++) {
		struct interval by;
		double share = diff_share(side[i], q, &by);

		if (isnan(share))
			fprintf(f, "  %-*s", i ? 0 : 20, "not known");
		else
			fprintf(f, "  %3.0f %% (%.0f to %.0f)%*s", share * 100,
				by.low * 100, by.high * 100, i ? 0 : 3, "");
	}
	fputc('\n', f);
}

static void print_places(const struct diff *d, FILE *f, enum place_kind kind,
			 size_t top)
{
	static const char *const heads[] = {
		[PLACE_VARIABLE] = "Variables, detections / 1,000",
		[PLACE_FUNCTION] = "Functions, detections / 1,000",
	};
	size_t n = d->places[kind];

	if (!n)
		return;
	print_head(f, heads[kind]);
	for (size_t i = 0; i < n && i < top; i++)
		print_row(f, safe_text(d->place[kind][i].name),
			  &d->place[kind][i].c, PER);
	if (n > top)
		fprintf(f, "  ... and %s more\n", count_text(n - top));
}

void diff_text(const struct diff *d, FILE *f, size_t top)
{
	static const char *const names[] = {
		[QUANTITY_ALL] = "all",
		[QUANTITY_FALSE] = "false sharing",
		[QUANTITY_TRUE] = "true sharing",
		[QUANTITY_AVOIDABLE] = "that padding avoids",
	};

	print_answer(d, f);
	fputc('\n', f);
	print_side(f, "before:", d->before);
	print_side(f, "after: ", d->after);
	print_head(f, d->transfers ? "Transfers in 1,000 accesses"
				   : "Detections in 1,000 samples");
	for (int q = 0; q < QUANTITIES; q++)
		print_row(f, names[q], &d->quantity[q], PER);
	print_head(f, "Time");
	print_row(f, "CPU time of a run, s", &d->cpu_s, 1);
	fprintf(f, "\n%-*s  %-20s  %s\n", NAME_COLUMNS + 2,
		"Share of the sharing (95 %)", "before", "after");
	print_share(d, f, names[QUANTITY_FALSE], QUANTITY_FALSE);
	print_share(d, f, names[QUANTITY_AVOIDABLE], QUANTITY_AVOIDABLE);
	print_places(d, f, PLACE_VARIABLE, top);
	print_places(d, f, PLACE_FUNCTION, top);
	if (d->places[PLACE_VARIABLE] || d->places[PLACE_FUNCTION])
		fputs("  The intervals of a table hold for all its rows "
		      "together.\n",
		      f);
	if (d->before->runs < 2 || d->after->runs < 2)
		fputs("\nHow much the program itself varies from run to run is "
		      "not in these intervals:\ngive each side several runs "
		      "(--before, --after).\n",
		      f);
}
