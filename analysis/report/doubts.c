/* SPDX-License-Identifier: MIT */
/*
 * doubts - where shares and estimates of transfers may fail, as far as the
 * recording tells
 *
 * Except for those of traps and callers, the intervals hold these errors; a
 * doubt says why they are wide.
 */
#include <stdlib.h>
#include <string.h>

#include "doubts.h"
#include "style.h"
#include "analysis/base/json_build.h"

/* Shares of the transfers from which a doubt is told. */
#define MISSED_SHARE    0.1
#define AVOIDABLE_SHARE 0.2

/* Samples of the clock that are so close show wrong shares now and then. */
#define CLOSE_NS 1000000

enum doubt {
	DOUBT_FEW,
	DOUBT_TRAPS,
	DOUBT_CALLERS,
	DOUBT_MISSED,
	DOUBT_AVOIDABLE,
	DOUBTS
};

static const char *const names[] = {
	[DOUBT_FEW] = "few",
	[DOUBT_TRAPS] = "traps",
	[DOUBT_CALLERS] = "callers",
	[DOUBT_MISSED] = "missed",
	[DOUBT_AVOIDABLE] = "avoidable",
};

/* Finding the callers stops a thread at each sample that hooks take. */
static bool is_stopped_for_callers(const struct process *p)
{
	return p->paths && strcmp(p->header.source, "instr") == 0;
}

/* The text of a doubt, to be freed; NULL if there is none. */
static char *doubt_text(const struct estimate *e, enum doubt d)
{
	double all = e->total.share[TRANSFER_ALL].sum;
	double open = e->avoidable_most - e->avoidable_judged;

	switch (d) {
	case DOUBT_FEW:
		if (!estimate_is_weak(e))
			return NULL;
		return xstrdup("Few samples tell of transfers, or a few stand "
			       "for most of them, so the numbers are weak: "
			       "their intervals say how far they may be off. "
			       "A longer run or a shorter period gives more "
			       "samples.");
	case DOUBT_TRAPS:
		/* A trap takes a hundred times as long as its access. */
		if (!estimate_has_traps(&e->process->header))
			return NULL;
		return xstrdup("Debug registers stopped the threads at each "
			       "watched access. Where threads race for a line "
			       "without waiting for each other, these stops "
			       "make the line move more often, and at other "
			       "bytes: the number may be several times too "
			       "high, and the share of false sharing far off, "
			       "beyond their intervals. The places are right. "
			       "record --watch sw stops threads for much less, "
			       "and --exact counts.");
	case DOUBT_CALLERS:
		if (!is_stopped_for_callers(e->process))
			return NULL;
		return xstrdup("Each sample stopped its thread to find the "
			       "callers. Where threads do little but race for "
			       "a line, the numbers may be a fifth too high or "
			       "a third too low, beyond their intervals; "
			       "without -g they are within a tenth.");
	case DOUBT_MISSED:
		if (!(e->missed_least > MISSED_SHARE * all))
			return NULL;
		return xasprintf("Up to %s more transfers may be of lines that "
				 "the estimator %s could not follow: few "
				 "watches, or watches that were armed too late "
				 "for lines that are used once. The intervals "
				 "include them, the "
				 "estimates do not. --algorithm epoch with the "
				 "default watches of emu misses none, and "
				 "--exact counts.",
				 count_text((uint64_t)e->missed),
				 e->process->header.algorithm);
	case DOUBT_AVOIDABLE:
		if (e->avoidable < 0 || e->knows_needed ||
		    !(open > AVOIDABLE_SHARE))
			return NULL;
		return xasprintf("What padding would avoid is uncertain: %.0f "
				 "%% of the transfers are false sharing on "
				 "lines that were used too little to judge "
				 "them.",
				 100 * open);
	default:
		return NULL;
	}
}

/*
 * Of a map; as doubt_text. Shares that were counted: docs/accuracy.md and
 * docs/measurements/estimators-coverage.md have the table.
 */
static char *map_text(const struct profile *p)
{
	const struct cdp_header *h = &profile_main_process(p)->header;

	if (strcmp(h->source, "clock") != 0 || !h->period ||
	    h->period > CLOSE_NS)
		return NULL;
	return xasprintf("At %.0f samples a second, shares of false sharing "
			 "may be off by more than their intervals: in a "
			 "program whose shares were counted they were 14 "
			 "points off in the mean at 4,000 a second, and less "
			 "than two at 250.",
			 1e9 / (double)h->period);
}

static void add_doubt(json_t *list, const char *name, const char *text)
{
	json_t *o = json_object();

	put(o, "name", json_string(name));
	put(o, "text", json_string(text));
	append(list, o);
}

json_t *report_map_doubts_json(const struct profile *p)
{
	json_t *list = json_array();
	char *text = map_text(p);

	if (text)
		add_doubt(list, "rate", text);
	free(text);
	return list;
}

json_t *report_doubts_json(const struct estimate *e)
{
	json_t *list = json_array();

	for (enum doubt d = 0; d < DOUBTS; d++) {
		char *text = doubt_text(e, d);

		if (text)
			add_doubt(list, names[d], text);
		free(text);
	}
	return list;
}

/* Print @text, if there is any, and free it. */
static void print_doubt(struct report *r, char *text)
{
	if (!text)
		return;
	fputs(paint(r, PAINT_WARM), r->out);
	print_wrapped(r->out, text, 0, 0);
	fputs(paint(r, PAINT_OFF), r->out);
	free(text);
}

void report_doubts(struct report *r)
{
	struct estimate e;

	if (!estimate_load(&e, r->profile)) {
		print_doubt(r, map_text(r->profile));
		return;
	}
	/* Of few samples the answer itself speaks. */
	for (enum doubt d = DOUBT_FEW + 1; d < DOUBTS; d++)
		print_doubt(r, doubt_text(&e, d));
	estimate_release(&e);
}
