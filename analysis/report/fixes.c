/* SPDX-License-Identifier: MIT */
/*
 * fixes - which members or objects to move apart
 */
#include <stdlib.h>
#include <string.h>

#include "fixes.h"
#include "fix_layout.h"
#include "lines_json.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

enum {
	LINES_LOOKED_AT = 200,
	FIXES_SHOWN = 5,
	BEST_SHARE = 10, /* a tenth of the detections */
	NAME_COLUMNS = 50,
};

static struct fix_group *group_of(struct fix_group *group, size_t *n,
				  uint8_t users)
{
	for (size_t i = 0; i < *n; i++)
		if (group[i].users == users)
			return &group[i];
	if (*n == FIX_GROUPS)
		return NULL;
	group[*n] = (struct fix_group){ .users = users };
	return &group[(*n)++];
}

size_t fix_groups(const struct fields *f, struct fix_group group[FIX_GROUPS])
{
	size_t n = 0;

	for (size_t i = 0; i < f->rows; i++) {
		uint8_t users = 0, writers = 0;
		struct fix_group *g;

		for (int k = 0; k < BYTE_MAP_ROWS; k++) {
			if (f->row[i].flags[k])
				users |= 1 << k;
			if (f->row[i].flags[k] & ACCESS_STORE)
				writers |= 1 << k;
		}
		g = group_of(group, &n, users);
		if (!g || g->fields == BYTE_MAP_COLUMNS)
			continue;
		g->writers |= writers;
		g->field[g->fields++] = i;
	}
	return n;
}

/* True if two groups share a line falsely: one is stored to. */
static bool any_conflict(const struct fix_group *group, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (group[i].writers && n > 1)
			return true;
	return false;
}

/* The bytes of the name up to the end of the first element: "workers[3]". */
static size_t element_bytes(const char *name)
{
	const char *open = strchr(name, '['), *dot = strchr(name, '.');
	const char *close;

	if (!open || (dot && dot < open))
		return 0;
	for (close = strchr(open, ']'); close && close[1] == '[';)
		close = strchr(close + 1, ']');
	return close ? (size_t)(close - name) + 1 : 0;
}

/* True if no two groups use the same element of an array. */
static bool elements_differ(const struct fields *f,
			    const struct fix_group *group, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			for (size_t x = 0; x < group[i].fields; x++)
				for (size_t y = 0; y < group[k].fields; y++) {
					const char *a =
						f->row[group[i].field[x]].name;
					const char *b =
						f->row[group[k].field[y]].name;
					size_t len = element_bytes(a);

					if (!len || (len == element_bytes(b) &&
						     !strncmp(a, b, len)))
						return false;
				}
	return true;
}

static const struct instance *instance_at(const struct fields *f,
					  const struct line_tally *l,
					  size_t row)
{
	uint64_t addr = l->line + f->row[row].first;

	for (size_t i = 0; i < f->types.n; i++) {
		const struct instance *in = &f->types.instance[i];

		if (addr >= in->start && addr - in->start < in->type.size)
			return in;
	}
	return NULL;
}

/* What lies on the line, and so what to do. */
static enum fix_kind kind_of(const struct fields *f, const struct line_tally *l,
			     const struct fix_group *group, size_t n,
			     const struct instance **in)
{
	const struct instance *first = instance_at(f, l, 0);
	bool one = true, alike = true;

	for (size_t i = 1; i < f->rows; i++) {
		const struct instance *other = instance_at(f, l, i);

		one &= other == first;
		alike &= other && first && !other->variable &&
			 !first->variable &&
			 symbols_same_type(&other->type, &first->type);
	}
	*in = first;
	if (one && first && first->variable && elements_differ(f, group, n))
		return FIX_ELEMENTS;
	return one ? FIX_MEMBERS : alike ? FIX_OBJECTS : FIX_NEAR;
}

static char *near_names(const struct fields *f)
{
	char *all = NULL;

	for (size_t i = 0; i < f->types.n && i < 3; i++) {
		char *more =
			xasprintf("%s%s%s", all ? all : "", all ? " and " : "",
				  instance_name(&f->types.instance[i]));

		free(all);
		all = more;
	}
	return all;
}

static void add_fix(struct fixes *f, const struct fix *one)
{
	for (size_t i = 0; i < f->n; i++) {
		struct fix *same = &f->fix[i];

		if (same->kind != one->kind ||
		    strcmp(same->object, one->object) != 0)
			continue;
		same->detections = sat_add(same->detections, one->detections);
		same->judged.all = sat_add(same->judged.all, one->judged.all);
		same->judged.avoidable =
			sat_add(same->judged.avoidable, one->judged.avoidable);
		gain_add(&same->gain, &one->gain);
		same->lines++;
		free(one->object);
		return;
	}
	f->fix = grow(f->fix, f->n, &f->room, sizeof(*f->fix));
	f->fix[f->n++] = *one;
}

static void look_at(struct fixes *f, struct report *r, size_t line)
{
	const struct line_tally *l = &r->tally.line[line];
	struct fix_group group[FIX_GROUPS];
	struct fix one = { .detections = tally_total(l->kind),
			   .judged = l->judged,
			   .gain = gain_of_line(r, l),
			   .lines = 1,
			   .line = line };
	const struct instance *in;
	struct byte_map m;
	struct fields fields;
	size_t n;

	/* Where padding helps nobody, there is nothing to say. */
	if (l->judged.all ? !l->judged.avoidable : !l->kind[SHARING_FALSE])
		return;
	byte_map_build(&m, &r->tally, l);
	fields_build(&fields, r, l, &m);
	n = fix_groups(&fields, group);
	if (any_conflict(group, n)) {
		one.kind = kind_of(&fields, l, group, n, &in);
		one.object = one.kind == FIX_NEAR || !in
				     ? near_names(&fields)
				     : xstrdup(instance_name(in));
		add_fix(f, &one);
	}
	fields_release(&fields);
	byte_map_release(&m);
}

/* What padding avoids, estimated where only a part could be judged. */
static double avoids(const struct fix *f)
{
	return f->judged.all
		       ? (double)f->judged.avoidable / (double)f->judged.all *
				 (double)f->detections
		       : (double)f->detections;
}

static int compare_fixes(const void *a, const void *b)
{
	const struct fix *x = a, *y = b;
	double n = avoids(x), m = avoids(y);

	if (x->gain.known == GAIN_KNOWN && y->gain.known == GAIN_KNOWN &&
	    x->gain.seconds != y->gain.seconds)
		return x->gain.seconds > y->gain.seconds ? -1 : 1;
	return n != m ? (n > m ? -1 : 1) : order_u64(x->line, y->line);
}

void fixes_build(struct fixes *f, struct report *r)
{
	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < r->tally.lines && i < LINES_LOOKED_AT; i++)
		look_at(f, r, i);
	for (size_t i = 0; i < f->n; i++)
		gain_finish(&f->fix[i].gain,
			    (double)profile_wall_ns(r->profile) / 1e9);
	if (f->n)
		qsort(f->fix, f->n, sizeof(*f->fix), compare_fixes);
}

void fixes_release(struct fixes *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->fix[i].object);
	free(f->fix);
	memset(f, 0, sizeof(*f));
}

static const char *const advice[] = {
	[FIX_ELEMENTS] =
		"Different threads use different elements on one "
		"line. Give each element lines of its own: alignas(%u) "
		"on the type of the elements.",
	[FIX_OBJECTS] = "Different threads use different objects on one line. "
			"Give each object lines of its own: alignas(%u) on the "
			"type, and aligned_alloc or C++17's new for those in "
			"the heap.",
	[FIX_MEMBERS] = "Different threads use different members. Begin each "
			"group of members below on a line of its own: "
			"alignas(%u) on its first member.",
	[FIX_NEAR] = "They lie on one line by chance, and different threads "
		     "use them. Give each a line of its own: alignas(%u).",
};

static const char *const kind_names[] = {
	[FIX_ELEMENTS] = "elements",
	[FIX_OBJECTS] = "objects",
	[FIX_MEMBERS] = "members",
	[FIX_NEAR] = "near",
};

static void print_groups(struct report *r, const struct fields *f,
			 const struct byte_map *m)
{
	struct fix_group group[FIX_GROUPS];
	size_t n = fix_groups(f, group);

	for (size_t i = 0; i < n; i++) {
		char *text = xasprintf("thread"), *more;

		for (int k = 0; k < BYTE_MAP_ROWS; k++) {
			if (!(group[i].users >> k & 1))
				continue;
			more = xasprintf("%s %u", text, m->row[k].thread);
			free(text);
			text = more;
		}
		more = xasprintf("%s %s:", text,
				 group[i].writers ? "stores" : "only reads");
		free(text);
		text = more;
		for (size_t x = 0; x < group[i].fields; x++) {
			more = xasprintf(
				"%s%s %s", text, x ? "," : "",
				cut_text(
					safe_text(
						f->row[group[i].field[x]].name),
					NAME_COLUMNS));
			free(text);
			text = more;
		}
		fputs("     ", r->out);
		print_wrapped(r->out, text, 5, 7);
		free(text);
	}
}

static void print_fix(struct report *r, const struct fix *fix, size_t number)
{
	const struct line_tally *l = &r->tally.line[fix->line];
	struct byte_map m;
	struct fields f;
	char padding[100] = "", lines[60] = "", *text;

	if (fix->judged.all)
		snprintf(padding, sizeof(padding),
			 "; padding avoids %s of %s judged",
			 count_text(fix->judged.avoidable),
			 count_text(fix->judged.all));
	if (fix->lines > 1)
		snprintf(lines, sizeof(lines), " on %s lines",
			 count_text(fix->lines));
	text = xasprintf(
		"%zu. %s: %s of the detections%s%s", number,
		cut_text(safe_text(fix->object), NAME_COLUMNS),
		percent_text(fix->detections, tally_total(r->tally.kind)),
		lines, padding);
	fputs("  ", r->out);
	print_wrapped(r->out, text, 2, 5);
	free(text);
	byte_map_build(&m, &r->tally, l);
	fields_build(&f, r, l, &m);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	text = xasprintf(advice[fix->kind], m.bytes);
#pragma GCC diagnostic pop
	fputs("     ", r->out);
	print_wrapped(r->out, text, 5, 5);
	free(text);
	gain_print(r, &fix->gain);
	if (l->object.block)
		fprintf(r->out, "     in a %s\n",
			cut_text(object_text(&l->object), NAME_COLUMNS));
	print_groups(r, &f, &m);
	fix_layout_print(r, &f, &m);
	fields_release(&f);
	byte_map_release(&m);
}

void report_fixes(struct report *r)
{
	struct fixes f;

	fixes_build(&f, r);
	if (f.n)
		report_heading(r, "What to change, by what padding avoids");
	for (size_t i = 0; i < f.n && i < FIXES_SHOWN && i < r->top; i++)
		print_fix(r, &f.fix[i], i + 1);
	if (f.n)
		fputs("  Of each member: offset, bytes, name; thread:W stored, "
		      "r loaded, B both.\n",
		      r->out);
	if (f.n > FIXES_SHOWN)
		fprintf(r->out, "  ... and %s more (in --json)\n",
			count_text(f.n - FIXES_SHOWN));
	fixes_release(&f);
}

static const char *const best[] = {
	[FIX_ELEMENTS] = "give each element of %s lines of its own",
	[FIX_OBJECTS] = "give each %s lines of its own",
	[FIX_MEMBERS] = "move members of %s apart",
	[FIX_NEAR] = "give %s lines of their own",
};

char *report_best_fix(struct report *r)
{
	double all = (double)tally_total(r->tally.kind);
	struct fixes f;
	char *what = NULL, *text = NULL;

	fixes_build(&f, r);
	if (f.n && avoids(&f.fix[0]) * BEST_SHARE >= all) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		what = xasprintf(
			best[f.fix[0].kind],
			cut_text(safe_text(f.fix[0].object), NAME_COLUMNS));
#pragma GCC diagnostic pop
		text = xasprintf("The best fix: %s; that avoids about %.0f %% "
				 "of the detections (see What to change).",
				 what, 100 * avoids(&f.fix[0]) / all);
	}
	free(what);
	fixes_release(&f);
	return text;
}

static json_t *json_groups(const struct fields *f, const struct byte_map *m)
{
	struct fix_group group[FIX_GROUPS];
	size_t n = fix_groups(f, group);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object(), *threads = json_array(),
		       *names = json_array();

		for (int k = 0; k < BYTE_MAP_ROWS; k++)
			if (group[i].users >> k & 1)
				append(threads, integer(m->row[k].thread));
		for (size_t x = 0; x < group[i].fields; x++)
			append(names, text(f->row[group[i].field[x]].name));
		put(o, "threads", threads);
		put(o, "stores", json_boolean(group[i].writers));
		put(o, "fields", names);
		append(a, o);
	}
	return a;
}

static json_t *json_fix(struct report *r, const struct fix *fix)
{
	const struct line_tally *l = &r->tally.line[fix->line];
	json_t *o = json_object();
	struct byte_map m;
	struct fields f;

	put(o, "object", text(fix->object));
	put(o, "kind", json_string(kind_names[fix->kind]));
	put(o, "detections", integer(fix->detections));
	if (fix->judged.all) {
		put(o, "judged", integer(fix->judged.all));
		put(o, "avoidable", integer(fix->judged.avoidable));
	}
	put(o, "lines", integer(fix->lines));
	put(o, "line", hex(l->line));
	put_gain(o, r, &fix->gain);
	put_allocated(o, &l->object);
	byte_map_build(&m, &r->tally, l);
	fields_build(&f, r, l, &m);
	put(o, "groups", json_groups(&f, &m));
	put(o, "layout", fix_layout_json(&f, &m));
	fields_release(&f);
	byte_map_release(&m);
	return o;
}

json_t *report_fixes_json(struct report *r)
{
	json_t *a = json_array();
	struct fixes f;

	fixes_build(&f, r);
	for (size_t i = 0; i < f.n; i++)
		append(a, json_fix(r, &f.fix[i]));
	fixes_release(&f);
	return a;
}
