/* SPDX-License-Identifier: MIT */
/*
 * hot_place - the line or variable with most of the sharing, and who writes it
 */
#include <stdio.h>
#include <string.h>

#include "hot_place.h"
#include "analysis/base/util.h"

enum {
	SITES_NAMED = 3,
	NAME_COLUMNS = 60,
};

/* Source lines that stored to the cache lines, in the order they were found. */
struct writers {
	char place[SITES_NAMED][512];
	size_t n;
};

/* A site in a library goes by the user's line that calls it. */
static void name_writer(const struct site_tally *s, char *out, size_t size)
{
	const char *function = s->place.function;

	snprintf(out, size, "%s",
		 cut_text(place_text(s->called ? &s->caller : &s->place),
			  NAME_COLUMNS));
	if (s->called && function)
		snprintf(out + strlen(out), size - strlen(out), " (in %s)",
			 cut_text(safe_text(function), NAME_COLUMNS));
}

static void add_writers(const struct report *r, const struct line_tally *l,
			struct writers *w)
{
	const struct tally *t = &r->tally;

	for (size_t i = 0; i < l->pairs && w->n < SITES_NAMED; i++) {
		uint32_t pair = t->by_line[l->first + i];
		const struct pair_row *p = &t->profile->pair[pair];
		uint32_t site[2] = { t->publisher_site[pair],
				     t->detector_site[pair] };
		uint16_t flags[2] = { p->publisher_flags, p->detector_flags };

		for (int k = 0; k < 2 && w->n < SITES_NAMED; k++) {
			char place[sizeof(w->place[0])];
			bool known = false;

			if (site[k] == NO_SITE || !(flags[k] & ACCESS_STORE))
				continue;
			name_writer(&t->site[site[k]], place, sizeof(place));
			for (size_t j = 0; j < w->n; j++)
				known |= !strcmp(w->place[j], place);
			if (!known)
				snprintf(w->place[w->n++], sizeof(w->place[0]),
					 "%s", place);
		}
	}
}

static void name_writers(const struct writers *w, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t j = 0; j < w->n && used < size; j++)
		used += snprintf(out + used, size - used, "%s%s",
				 !j              ? ", written at "
				 : j + 1 == w->n ? " and "
						 : ", ",
				 w->place[j]);
}

/* The variable with most detections of a kind, NULL if it has none. */
static const struct object_tally *top_variable(const struct tally *t,
					       enum sharing kind)
{
	const struct object_tally *best = NULL;

	for (size_t i = 0; i < t->objects; i++)
		if (t->object[i].object.kind == OBJECT_STATIC &&
		    (!best || t->object[i].kind[kind] > best->kind[kind]))
			best = &t->object[i];
	return best && best->kind[kind] ? best : NULL;
}

static bool of_variable(const struct line_tally *l,
			const struct object_tally *o)
{
	return l->object.kind == OBJECT_STATIC && l->process == o->process &&
	       l->object.start == o->object.start;
}

/* The line with most detections, among those of @o unless that is NULL. */
static const struct line_tally *top_line(const struct tally *t,
					 enum sharing kind,
					 const struct object_tally *o)
{
	const struct line_tally *best = NULL;

	for (size_t i = 0; i < t->lines; i++) {
		const struct line_tally *l = &t->line[i];

		if ((!o || of_variable(l, o)) &&
		    (!best || l->kind[kind] > best->kind[kind]))
			best = l;
	}
	return best && best->kind[kind] ? best : NULL;
}

const char *sharing_text(enum sharing kind)
{
	return kind == SHARING_FALSE ? "false" : "true";
}

void hot_place(const struct report *r, enum sharing kind, char *out,
	       size_t size)
{
	const struct tally *t = &r->tally;
	const struct line_tally *top = top_line(t, kind, NULL);
	const struct object_tally *variable = top_variable(t, kind);
	struct writers writers = { .n = 0 };
	char written[1800], lines[64] = "one line", part[64];
	const char *verb = "is";
	struct object whole;
	uint64_t there = 0;
	size_t n = 0;

	out[0] = '\0';
	if (!top)
		return;
	if (variable && variable->kind[kind] >= top->kind[kind])
		top = top_line(t, kind, variable);
	else
		variable = NULL;
	add_writers(r, top, &writers);
	for (size_t i = 0; i < t->lines; i++) {
		const struct line_tally *l = &t->line[i];

		if (!l->kind[kind] ||
		    !(variable ? of_variable(l, variable) : l == top))
			continue;
		there = sat_add(there, l->kind[kind]);
		n++;
		add_writers(r, l, &writers);
	}
	whole = top->object;
	if (whole.kind == OBJECT_STATIC)
		whole.offset = 0;
	if (n > 1)
		snprintf(lines, sizeof(lines), "%s lines of one variable",
			 count_text(n));
	name_writers(&writers, written, sizeof(written));
	if (tally_effective(t, t->kind[kind]) < SHARE_DETECTIONS) {
		snprintf(part, sizeof(part), "%s of %s detection%s of",
			 count_text(there), count_text(t->kind[kind]),
			 t->kind[kind] == 1 ? "" : "s");
		verb = there == 1 ? "is" : "are";
	} else {
		snprintf(part, sizeof(part), "%s of the",
			 percent_text(there, t->kind[kind]));
	}
	snprintf(out, size, " %s %s sharing %s on %s (%s)%s.", part,
		 sharing_text(kind), verb, lines,
		 cut_text(object_text(&whole), NAME_COLUMNS), written);
}
