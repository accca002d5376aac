/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "diff_json.h"
#include "diff_text.h"
#include "analysis/base/json_build.h"

enum {
	DIFF_SCHEMA = 1
};

/* What is not a finite number is left out. */
static void put_finite(json_t *o, const char *name, double x)
{
	if (isfinite(x))
		put(o, name, json_real(x));
}

static json_t *json_comparison(const struct comparison *c)
{
	json_t *o = json_object();

	put_finite(o, "before", c->before);
	put_finite(o, "after", c->after);
	put_finite(o, "ratio", c->ratio);
	if (c->verdict != VERDICT_UNKNOWN) {
		put_finite(o, "low", c->by.low);
		put_finite(o, "high", c->by.high);
	}
	put(o, "verdict", json_string(verdict_text(c->verdict)));
	return o;
}

static json_t *json_share(const struct side *s, enum quantity q)
{
	struct interval by;
	double share = diff_share(s, q, &by);
	json_t *o = json_object();

	put(o, "estimate", json_real(share));
	put_interval(o, by);
	return o;
}

static void put_share(json_t *o, const char *name, const struct diff *d,
		      enum quantity q)
{
	const struct side *side[] = { d->before, d->after };
	static const char *const when[] = { "before", "after" };
	json_t *both = json_object();
	struct interval by;

	for (int i = 0; i < 2; i++)
		if (!isnan(diff_share(side[i], q, &by)))
			put(both, when[i], json_share(side[i], q));
	put(o, name, both);
}

static json_t *json_side(const struct side *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->runs; i++) {
		const struct run *r = &s->run[i];
		json_t *o = json_object();

		put(o, "directory", text(r->dir));
		put_text(o, "source", r->source);
		put(o, "samples", json_real(r->samples));
		if (r->cpu_s > 0)
			put(o, "cpu_s", json_real(r->cpu_s));
		put(o, "wall_s", json_real(r->wall_s));
		append(a, o);
	}
	return a;
}

static json_t *json_places(const struct diff *d, enum place_kind kind)
{
	json_t *a = json_array();

	for (size_t i = 0; i < d->places[kind]; i++) {
		json_t *o = json_comparison(&d->place[kind][i].c);

		put(o, "name", text(d->place[kind][i].name));
		append(a, o);
	}
	return a;
}

int diff_json(const struct diff *d)
{
	static const char *const names[] = {
		[QUANTITY_ALL] = "all",
		[QUANTITY_FALSE] = "false",
		[QUANTITY_TRUE] = "true",
		[QUANTITY_AVOIDABLE] = "avoidable",
	};
	json_t *o = json_object(), *rates = json_object();
	json_t *shares = json_object();

	put(o, "schema", integer(DIFF_SCHEMA));
	put(o, "before", json_side(d->before));
	put(o, "after", json_side(d->after));
	put(o, "quantity",
	    json_string(d->transfers ? "transfers" : "detections"));
	put(o, "per", json_string(d->transfers ? "access" : "sample"));
	for (int q = 0; q < QUANTITIES; q++)
		put(rates, names[q], json_comparison(&d->quantity[q]));
	put(o, "rates", rates);
	put_share(shares, "false", d, QUANTITY_FALSE);
	put_share(shares, "avoidable", d, QUANTITY_AVOIDABLE);
	put(o, "shares", shares);
	put(o, "cpu_s", json_comparison(&d->cpu_s));
	put(o, "variables", json_places(d, PLACE_VARIABLE));
	put(o, "functions", json_places(d, PLACE_FUNCTION));
	return json_print(o);
}
