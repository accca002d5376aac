/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"
#include "analysis/base/util.h"

enum {
	PER = 1000
};

static const char *skip(const char *s)
{
	return s + strspn(s, " \t");
}

bool rule_parse(struct rule *r, const char *text)
{
	static const struct {
		const char *name;
		enum quantity quantity;
		bool share;
	} names[] = {
		{ "avoidable", QUANTITY_AVOIDABLE, true },
		{ "false", QUANTITY_FALSE, true },
		{ "true", QUANTITY_TRUE, true },
		{ "sharing", QUANTITY_ALL, false },
	};
	const char *s = skip(text);
	bool known = false;
	char *end;

	*r = (struct rule){ .text = text };
	if (!strncmp(s, "regress", 7)) {
		r->regress = true;
		return !*skip(s + 7);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].name);

		if (strncmp(s, names[i].name, n) != 0)
			continue;
		r->quantity = names[i].quantity;
		r->share = names[i].share;
		s = skip(s + n);
		known = true;
		break;
	}
	if (!known || (*s != '<' && *s != '>'))
		return false;
	r->above = *s == '>';
	s = skip(s + 1);
	r->bound = strtod(s, &end);
	if (end == s || !isfinite(r->bound) || r->bound < 0)
		return false;
	s = skip(end);
	if (r->share != (*s == '%'))
		return false;
	s = skip(s + r->share);
	r->bound /= r->share ? 100 : PER;
	return !*s && (!r->share || r->bound <= 1);
}

/* The rate after, with the interval of its own counts. */
static double rate_after(const struct diff *d, enum quantity q,
			 struct interval *by)
{
	double events = 0, exposure = 0;

	for (size_t i = 0; i < d->after->runs; i++) {
		events += d->after->run[i].count[q].events;
		exposure += d->after->run[i].count[q].exposure;
	}
	*by = interval_count(events);
	by->low /= exposure;
	by->high /= exposure;
	return exposure > 0 ? events / exposure : NAN;
}

bool rule_broken(const struct rule *r, const struct diff *d, char **why)
{
	const struct comparison *all = &d->quantity[QUANTITY_ALL];
	double unit = r->share ? 100 : PER, value;
	const char *sign = r->share ? " %" : "";
	struct interval by;

	*why = NULL;
	if (r->regress) {
		if (all->verdict != VERDICT_MORE)
			return false;
		*why = xasprintf("there is more sharing after than before, at "
				 "least %.3g times",
				 all->by.low);
		return true;
	}
	value = r->share ? diff_share(d->after, r->quantity, &by)
			 : rate_after(d, r->quantity, &by);
	if (isnan(value) ||
	    !(r->above ? by.low > r->bound : by.high < r->bound))
		return false;
	*why = xasprintf("'%s': it is %.3g%s after (95 %% interval %.3g to "
			 "%.3g)",
			 safe_text(r->text), value * unit, sign, by.low * unit,
			 by.high * unit);
	return true;
}
