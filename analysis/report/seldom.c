/* SPDX-License-Identifier: MIT */
/*
 * seldom - the lines that threads share too seldom for samples to meet
 */
#include <math.h>
#include <stdlib.h>

#include "seldom.h"
#include "style.h"
#include "analysis/attribution/seldom.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

enum {
	OBJECT_COLUMNS = 50,
	DENSE_PERCENT =
		20, /* looks with the line: several accesses in a look */
	THREADS_SHOWN = 8,
};

static size_t lines_of(const struct report *r)
{
	return r->seldom ? r->seldom->lines : 0;
}

char *report_seldom_answer(const struct report *r)
{
	size_t n = lines_of(r);

	if (!n)
		return NULL;
	return xasprintf("%s cache line%s from thread to thread, but too "
			 "seldom for samples to meet: see \"Shared too "
			 "seldom for samples\".",
			 count_text(n), n == 1 ? " goes" : "s go");
}

static const char *kinds_text(const struct seldom_line *l)
{
	return l->kind[SHARING_FALSE] && l->kind[SHARING_TRUE]
		       ? "false and true sharing"
	       : l->kind[SHARING_FALSE] ? "false sharing"
					: "true sharing";
}

static const char *access_text(uint32_t flags)
{
	static const char *const words[] = { "accesses", "loads", "stores",
					     "loads and stores" };

	return words[flags & (ACCESS_LOAD | ACCESS_STORE)];
}

/* Two digits say enough: 1 in 980, 1 in 1,400. */
static uint64_t one_in(double share)
{
	double n = 1 / share, unit = 1;

	if (!(n < 1e15))
		return 1000000000000000;
	while (n / unit >= 100)
		unit *= 10;
	return (uint64_t)(round(n / unit) * unit);
}

static char *share_text(const struct seldom_thread *t)
{
	struct interval v;
	double share = seldom_share(t, &v);
	char *few, *text, *most;

	if (!t->sighted || isnan(share))
		return xasprintf("%s",
				 "seldom: only another thread's access after "
				 "its store was seen");
	if (t->sighted * 100 >= t->looks * DENSE_PERCENT)
		return xasprintf(
			"in %s of the windows",
			percent_text((double)t->sighted, (double)t->looks));
	if (!(share > 0))
		return xasprintf("at most one access in %s",
				 count_text(one_in(v.high)));
	few = xstrdup(count_text(one_in(v.high)));
	most = xstrdup(count_text(one_in(v.low)));
	text = xasprintf("one access in %s (%s to %s)",
			 count_text(one_in(share)), few, most);
	free(few);
	free(most);
	return text;
}

/* Where thread @t accesses the line most often. */
static void place_of(const struct report *r, const struct seldom_thread *t,
		     struct place *out)
{
	const struct profile *p = r->profile;
	const struct pair_row *c = t->most ? t->most : t->store;

	if (t->most)
		symbols_site(r->symbols, &p->process[c->detector_process],
			     c->detector_ip, c->map_generation, out);
	else if (c)
		symbols_site(r->symbols, &p->process[c->publisher_process],
			     c->publisher_ip, c->map_generation, out);
	else
		*out = (struct place){ .module = "?" };
}

static void print_thread(struct report *r, const struct seldom_thread *t)
{
	char *share = share_text(t), *text;
	struct place place;

	place_of(r, t, &place);
	text = xasprintf("thr %u %s, %s; %s%s%s%s", t->thread,
			 access_text(t->flags), share, place_text(&place),
			 place.function ? " (" : "",
			 place.function ? safe_text(place.function) : "",
			 place.function ? ")" : "");
	fputs("    ", r->out);
	print_wrapped(r->out, text, 4, 8);
	free(share);
	free(text);
}

static void print_line(struct report *r, const struct seldom_line *l)
{
	const struct seldom_thread *t = &r->seldom->thread[l->first];
	/* Meetings count from the second one on. */
	char *text =
		xasprintf("0x%llx  changed hands at least %s times; %s; %s",
			  (unsigned long long)l->line,
			  count_text(sat_add(l->meetings, 1)), kinds_text(l),
			  cut_text(object_text(&l->object), OBJECT_COLUMNS));

	fputs("  ", r->out);
	print_wrapped(r->out, text, 2, 4);
	free(text);
	for (size_t i = 0; i < l->threads && i < THREADS_SHOWN; i++)
		print_thread(r, &t[i]);
	if (l->threads > THREADS_SHOWN)
		fprintf(r->out, "    ... and %s more threads\n",
			count_text(l->threads - THREADS_SHOWN));
}

void report_seldom(struct report *r)
{
	size_t n = lines_of(r);

	if (!n)
		return;
	report_heading(r, "Shared too seldom for samples");
	for (size_t i = 0; i < n && i < r->top; i++)
		print_line(r, &r->seldom->line[i]);
	report_more(r, n);
	fputs("  Seen in the windows of accesses that samples are chosen from. "
	      "The other tables\n  leave these lines out. In brackets 95 % "
	      "intervals.\n",
	      r->out);
}

static json_t *json_thread(const struct report *r,
			   const struct seldom_thread *t)
{
	struct interval v;
	double share = seldom_share(t, &v);
	json_t *o = json_object(), *interval = json_object();
	struct place p;

	place_of(r, t, &p);
	put(o, "thread", integer(t->thread));
	put(o, "loads", json_boolean(t->flags & ACCESS_LOAD));
	put(o, "stores", json_boolean(t->flags & ACCESS_STORE));
	put(o, "windows", integer(t->looks));
	put(o, "windows_with_line", integer(t->sighted));
	if (!isnan(share)) {
		put(interval, "estimate", json_real(share));
		put_interval(interval, v);
		put(o, "access_share", interval);
	} else {
		json_decref(interval);
	}
	put_location(o, p.function, p.file, p.line);
	put(o, "module", text(p.module));
	put(o, "offset", hex(p.offset));
	return o;
}

json_t *report_seldom_json(struct report *r)
{
	size_t n = lines_of(r);
	json_t *a = n ? json_array() : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct seldom_line *l = &r->seldom->line[i];
		json_t *o = json_object(), *threads = json_array();

		put(o, "line", hex(l->line));
		put(o, "process", integer(l->process));
		put(o, "object", text(object_text(&l->object)));
		put(o, "transfers_at_least", integer(sat_add(l->meetings, 1)));
		put(o, "true", json_boolean(l->kind[SHARING_TRUE]));
		put(o, "false", json_boolean(l->kind[SHARING_FALSE]));
		for (size_t k = 0; k < l->threads; k++)
			append(threads,
			       json_thread(r,
					   &r->seldom->thread[l->first + k]));
		put(o, "threads", threads);
		append(a, o);
	}
	return a;
}
