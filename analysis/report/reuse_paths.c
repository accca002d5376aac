/* SPDX-License-Identifier: MIT */
/*
 * reuse_paths - the calls that led to use and reuse, for people and as
 * JSON
 */
#include <stdlib.h>
#include <string.h>

#include "reuse_paths.h"
#include "reuse_words.h"
#include "calls.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

enum {
	ROWS_MAX = 3,   /* per pair */
	JSON_MAX = 100, /* per pair */
	INDENT = 11,    /* below the columns of the pair */
	COLUMNS = 19,   /* for share, mean and the gap after them */
	LINE_COLUMNS = 80,
};

#define SHARE_MIN 0.01 /* least share of the pair for a row */

/* Path pairs with the same text. */
struct told {
	char *use, *reuse;
	double weight, sum;
};

static bool is_like(const struct reuse_pair *x, const struct reuse_pair *y)
{
	return x->scope == y->scope && x->granularity == y->granularity &&
	       x->outcome == y->outcome && x->pairing == y->pairing &&
	       x->ns == y->ns;
}

/* The called function's name; valid as long as a result of safe_text. */
static const char *call_text(const struct reuse_call *c)
{
	char text[256];

	if (!c->place.function)
		return place_text(&c->place);
	snprintf(text, sizeof(text), "%s%s", c->place.function,
		 c->recurs ? "*" : "");
	return safe_text(text);
}

/* "inner < outer < outermost", as much as fits on a line; to be freed. */
static char *path_text(const struct report_reuse *r, uint32_t process,
		       uint32_t node, bool *recurs)
{
	static struct reuse_call call[REUSE_PATH_CALLS_MAX];
	size_t n = reuse_path_calls(
		r->symbols, &r->streams.profile->process[process], node, call);
	char line[512] = "";
	size_t at = 0;

	for (size_t i = 0; i < n && at < sizeof(line) - 1; i++) {
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s",
				       i ? " < " : "", call_text(&call[i]));
		*recurs |= call[i].recurs;
	}
	return xstrdup(line);
}

static int by_text(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	int order = strcmp(x->use, y->use);

	return order ? order : strcmp(x->reuse, y->reuse);
}

static int by_weight(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return by_text(a, b);
}

/* The path pairs at the source lines of @p; forget() frees them. */
static struct told *tell(const struct report_reuse *r,
			 const struct reuse_pair *p, size_t *n, bool *recurs)
{
	const struct reuse_site *site = r->sites.site;
	struct told *told = NULL;
	size_t room = 0, kept = 0;

	*n = 0;
	for (size_t i = 0; i < r->paths.pairs; i++) {
		const struct reuse_path_pair *x = &r->paths.pair[i];

		if (!is_like(&x->pair, p) ||
		    place_compare_lines(&site[x->pair.use].place,
					&site[p->use].place) ||
		    place_compare_lines(&site[x->pair.reuse].place,
					&site[p->reuse].place))
			continue;
		told = grow(told, *n, &room, sizeof(*told));
		told[(*n)++] = (struct told){
			path_text(r, x->process, x->use_path, recurs),
			path_text(r, x->process, x->end_path, recurs),
			x->pair.weight,
			x->pair.sum,
		};
	}
	if (!*n)
		return NULL;
	qsort(told, *n, sizeof(*told), by_text);
	for (size_t i = 0; i < *n; i++) {
		if (i && !by_text(&told[i], &told[kept - 1])) {
			told[kept - 1].weight += told[i].weight;
			told[kept - 1].sum += told[i].sum;
			free(told[i].use);
			free(told[i].reuse);
		} else {
			told[kept++] = told[i];
		}
	}
	*n = kept;
	qsort(told, kept, sizeof(*told), by_weight);
	return told;
}

static void forget(struct told *told, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(told[i].use);
		free(told[i].reuse);
	}
	free(told);
}

static void print_path(struct report *out, const char *share, const char *mean,
		       const char *path)
{
	fprintf(out->out, "%*s%7s %9s  %s\n", INDENT, "", share, mean,
		cut_text(path, LINE_COLUMNS - INDENT - COLUMNS));
}

bool reuse_paths_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_pair *p)
{
	bool recurs = false;
	size_t n;
	struct told *told = tell(r, p, &n, &recurs);
	double rest = p->weight; /* through less frequent or unknown paths */

	for (size_t i = 0; i < n && i < ROWS_MAX; i++) {
		const struct told *t = &told[i];

		if (i && t->weight < SHARE_MIN * p->weight)
			break;
		print_path(out, percent_text(t->weight, p->weight),
			   reuse_time_text(t->sum / t->weight, p->ns), t->use);
		if (strcmp(t->use, t->reuse))
			print_path(out, "then", "", t->reuse);
		rest -= t->weight;
	}
	if (n && rest >= SHARE_MIN * p->weight)
		print_path(out, percent_text(rest, p->weight), "",
			   "other ways");
	forget(told, n);
	return recurs;
}

static json_t *json_path(const struct report_reuse *r, uint32_t process,
			 uint32_t node)
{
	static struct reuse_call call[REUSE_PATH_CALLS_MAX];
	size_t n = reuse_path_calls(
		r->symbols, &r->streams.profile->process[process], node, call);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		append(a, call_json(&call[i].place, call[i].recurs));
	return a;
}

json_t *reuse_paths_json(const struct report_reuse *r,
			 const struct reuse_pair *p)
{
	json_t *a = json_array();
	size_t n;
	const struct reuse_path_pair *x = reuse_paths_of(&r->paths, p, &n);

	for (size_t i = 0; i < n && i < JSON_MAX; i++, x++) {
		json_t *o = json_object();

		put(o, "weight", json_real(x->pair.weight));
		put(o, "mean", json_real(x->pair.sum / x->pair.weight));
		put(o, "use", json_path(r, x->process, x->use_path));
		put(o, "reuse", json_path(r, x->process, x->end_path));
		append(a, o);
	}
	return a;
}
