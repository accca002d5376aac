/* SPDX-License-Identifier: MIT */
/*
 * sighted - lines that were seen to go from thread to thread, and no sample met
 *
 * Meetings count from a line's second one on, so a line with n of them has
 * moved n + 1 times at least.
 */
#include <stdlib.h>

#include "sighted.h"
#include "lines_json.h"
#include "style.h"
#include "analysis/attribution/sighted.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

enum {
	OBJECT_COLUMNS = 50,
	PAIRS_SHOWN = 6,
};

#define HEADING "Shared lines that no sample met"

static size_t lines_of(const struct report *r)
{
	return r->sighted ? r->sighted->lines : 0;
}

char *report_sighted_answer(const struct report *r)
{
	size_t n = lines_of(r);

	if (!n)
		return NULL;
	return xasprintf(
		"In the windows of accesses that samples are chosen "
		"from, %s cache line%s that no sample met: see \"" HEADING
		"\".",
		count_text(n),
		n == 1 ? " was seen to go from thread to thread"
		       : "s were seen to go from thread to thread");
}

static const char *kinds_text(const struct sighted_line *l)
{
	return l->kind[SHARING_FALSE] && l->kind[SHARING_TRUE]
		       ? "false and true sharing"
	       : l->kind[SHARING_FALSE] ? "false sharing"
					: "true sharing";
}

static void publisher_place(const struct report *r, const struct pair_row *c,
			    struct place *out)
{
	symbols_site(r->symbols, &r->profile->process[c->publisher_process],
		     c->publisher_ip, c->map_generation, out);
}

static void detector_place(const struct report *r, const struct pair_row *c,
			   struct place *out)
{
	symbols_site(r->symbols, &r->profile->process[c->detector_process],
		     c->detector_ip, c->map_generation, out);
}

/* "foo.c:41 (function)"; free it. */
static char *text_of_place(const struct place *p)
{
	char *place = xstrdup(place_text(p)), *text;

	text = p->function ? xasprintf("%s (%s)", place, safe_text(p->function))
			   : xstrdup(place);
	free(place);
	return text;
}

static void print_pair(struct report *r, const struct pair_row *c)
{
	struct place p;
	char *stored, *met, *text;

	publisher_place(r, c, &p);
	stored = text_of_place(&p);
	detector_place(r, c, &p);
	met = text_of_place(&p);
	text = xasprintf(
		"%s: thr %u stored at %s, then thr %u %s at %s",
		count_text(c->count), c->publisher, stored, c->detector,
		c->detector_flags & ACCESS_STORE ? "stored" : "loaded", met);
	fputs("    ", r->out);
	print_wrapped(r->out, text, 4, 8);
	free(stored);
	free(met);
	free(text);
}

static void print_line(struct report *r, const struct sighted_line *l)
{
	const struct pair_row *const *pair = &r->sighted->pair[l->first];
	char *text =
		xasprintf("0x%llx  changed hands at least %s times; %s; %s",
			  (unsigned long long)l->line,
			  count_text(sat_add(l->meetings, 1)), kinds_text(l),
			  cut_text(object_text(&l->object), OBJECT_COLUMNS));

	fputs("  ", r->out);
	print_wrapped(r->out, text, 2, 4);
	free(text);
	for (size_t i = 0; i < l->pairs && i < PAIRS_SHOWN; i++)
		print_pair(r, pair[i]);
	if (l->pairs > PAIRS_SHOWN)
		fprintf(r->out, "    ... and %s more pairs of accesses\n",
			count_text(l->pairs - PAIRS_SHOWN));
}

void report_sighted(struct report *r)
{
	size_t n = lines_of(r);
	char *looks, *text;

	if (!n)
		return;
	report_heading(r, HEADING);
	for (size_t i = 0; i < n && i < r->top; i++)
		print_line(r, &r->sighted->line[i]);
	report_more(r, n);
	looks = xstrdup(count_text(r->sighted->looks));
	text = xasprintf("Seen in %s windows with %s accesses that samples "
			 "were chosen from. These numbers are no estimates: "
			 "how often the lines went, and how they compare, is "
			 "not known.",
			 looks, count_text(r->sighted->accesses));
	fputs("  ", r->out);
	print_wrapped(r->out, text, 2, 2);
	free(looks);
	free(text);
}

static json_t *json_place(const struct place *p)
{
	json_t *o = json_object();

	put_location(o, p->function, p->file, p->line);
	put(o, "module", text(p->module));
	put(o, "offset", hex(p->offset));
	return o;
}

static json_t *json_pair(const struct report *r, const struct pair_row *c)
{
	json_t *o = json_object();
	struct place p;

	put(o, "publisher", integer(c->publisher));
	put(o, "detector", integer(c->detector));
	put(o, "meetings", integer(c->count));
	put(o, "sharing",
	    json_string(c->sharing == SHARING_TRUE ? "true" : "false"));
	put(o, "detector_stores",
	    json_boolean(c->detector_flags & ACCESS_STORE));
	publisher_place(r, c, &p);
	put(o, "stored_at", json_place(&p));
	detector_place(r, c, &p);
	put(o, "met_at", json_place(&p));
	return o;
}

json_t *report_sighted_json(struct report *r)
{
	size_t n = lines_of(r);
	json_t *all, *a;

	if (!n)
		return NULL;
	a = json_array();
	for (size_t i = 0; i < n; i++) {
		const struct sighted_line *l = &r->sighted->line[i];
		json_t *o = json_object(), *pairs = json_array();

		put(o, "line", hex(l->line));
		put(o, "process", integer(l->process));
		put(o, "object", text(object_text(&l->object)));
		put_allocated(o, &l->object);
		put(o, "transfers_at_least", integer(sat_add(l->meetings, 1)));
		put_kinds(o, l->kind);
		for (size_t k = 0; k < l->pairs; k++)
			append(pairs,
			       json_pair(r, r->sighted->pair[l->first + k]));
		put(o, "pairs", pairs);
		append(a, o);
	}
	all = json_object();
	put(all, "windows", integer(r->sighted->looks));
	put(all, "accesses", integer(r->sighted->accesses));
	put(all, "lines", a);
	return all;
}
