/* SPDX-License-Identifier: MIT */
/*
 * calls - detections by the calls that led to both accesses (record -g)
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"
#include "analysis/symbols/library_code.h"

enum {
	LINE_COLUMNS = 80,
	INDENT = 20, /* below the columns of counts */
	TEXT_MAX = 1024,
	JSON_MAX = 1000,
};

/* Detections whose two paths read alike. */
struct told {
	char *publisher, *detector;
	uint64_t kind[SHARING_KINDS];
};

/* Is this how the C library begins a thread, or the program? */
static bool begins_a_thread(const struct place *p)
{
	/* A static program has the C library's in itself. */
	static const char *const names[] = {
		"_start",
		"start_thread",
		"__clone3",
		"__clone",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
	};

	for (size_t i = 0; p->function && i < sizeof(names) / sizeof(names[0]);
	     i++)
		if (!strcmp(p->function, names[i]))
			return true;
	return is_library_place(p);
}

size_t call_frames(const struct report *r, const struct process *process,
		   uint32_t node, struct call_frame *frame)
{
	const struct cdp_path *n = process_path(process, node);
	size_t frames = 0;

	for (; n && frames < CALL_FRAMES_MAX;
	     n = process_path(process, n->parent)) {
		frame[frames].recurs = n->flags & CDP_PATH_RECURS;
		symbols_place(r->symbols, process, n->ip, n->map_generation,
			      &frame[frames++].place);
	}
	while (frames > 1 && begins_a_thread(&frame[frames - 1].place))
		frames--;
	return frames;
}

/* "inner file.c:3 < outer < outermost"; to be freed. */
static char *path_text(const struct report *r, const struct process *process,
		       uint32_t node)
{
	static struct call_frame frame[CALL_FRAMES_MAX];
	size_t n = call_frames(r, process, node, frame);
	char line[TEXT_MAX] = "";
	bool placed = false;
	size_t at = 0;

	if (!n)
		return xstrdup("(calls not known)");
	for (size_t i = 0; i < n && at < sizeof(line) - 1; i++) {
		const struct place *p = &frame[i].place;
		bool place = !placed && p->file && !is_library_place(p);

		at += (size_t)snprintf(
			line + at, sizeof(line) - at, "%s%s%s", i ? " < " : "",
			p->function ? safe_text(p->function) : place_text(p),
			frame[i].recurs ? "*" : "");
		if (place && p->function && at < sizeof(line))
			at += (size_t)snprintf(line + at, sizeof(line) - at,
					       " %s", place_text(p));
		placed |= place;
	}
	return xstrdup(line);
}

static uint64_t all_of(const struct told *t)
{
	return sat_add(t->kind[SHARING_TRUE], t->kind[SHARING_FALSE]);
}

/* The texts of an access and of who met it, in this order. */
static int by_text(const void *a, const void *b)
{
	const struct told *left = a, *right = b;
	int stores = strcmp(left->publisher, right->publisher);
	int meets = strcmp(left->detector, right->detector);

	return stores ? stores : meets;
}

static int by_count(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	uint64_t m = all_of(x), n = all_of(y);

	return m != n ? (m < n ? 1 : -1) : by_text(a, b);
}

static void forget(struct told *t)
{
	free(t->publisher);
	free(t->detector);
}

/* Add up those that read alike, and order by detections. */
static size_t merge(struct told *told, size_t n)
{
	size_t kept = 0;

	if (!n)
		return 0;
	qsort(told, n, sizeof(*told), by_text);
	for (size_t i = 0; i < n; i++) {
		struct told *last = kept ? &told[kept - 1] : NULL;

		if (!last || by_text(last, &told[i])) {
			told[kept++] = told[i];
			continue;
		}
		for (int k = 0; k < SHARING_KINDS; k++)
			last->kind[k] = sat_add(last->kind[k], told[i].kind[k]);
		forget(&told[i]);
	}
	qsort(told, kept, sizeof(*told), by_count);
	return kept;
}

static struct told *tell(const struct report *r, size_t *n)
{
	const struct profile *p = r->profile;
	struct told *told = NULL;
	size_t room = 0;

	*n = 0;
	for (size_t i = 0; i < p->processes; i++) {
		const struct process *s = &p->process[i];

		for (size_t k = 0; k < s->calls; k++) {
			const struct cdp_memory_calls *c = &s->call[k];
			struct told *t;

			told = grow(told, *n, &room, sizeof(*told));
			t = &told[(*n)++];
			*t = (struct told){
				path_text(r, s, c->publisher_path),
				path_text(r, s, c->detector_path),
				{ 0 },
			};
			t->kind[c->sharing] = c->count;
		}
	}
	*n = merge(told, *n);
	return told;
}

static void print_path(struct report *r, const char *what, const char *path)
{
	fprintf(r->out, "%*s%-7s ", INDENT, "", what);
	print_wrapped(r->out, path, INDENT + 8, INDENT + 10);
}

void report_calls(struct report *r)
{
	size_t n;
	struct told *told = tell(r, &n);

	if (n) {
		report_heading(r, "Call paths (detections, by the calls that "
				  "led to both accesses)");
		fprintf(r->out, "%s%9s %9s%s\n", paint(r, PAINT_DIM), "false",
			"true", paint(r, PAINT_OFF));
	}
	for (size_t i = 0; i < n; i++) {
		const struct told *t = &told[i];

		if (i < r->top) {
			fprintf(r->out, "%9s ",
				count_text(t->kind[SHARING_FALSE]));
			fprintf(r->out, "%9s\n",
				count_text(t->kind[SHARING_TRUE]));
			print_path(r, "store", t->publisher);
			print_path(r, "met by", t->detector);
		}
		forget(&told[i]);
	}
	if (n > r->top)
		fprintf(r->out, "  ... and %s more (--top %s shows all)\n",
			count_text(n - r->top), count_text(n));
	if (n)
		fputs("  Innermost call first; *: the function calls itself "
		      "there.\n",
		      r->out);
	free(told);
}

json_t *call_json(const struct place *p, bool recurs)
{
	json_t *o = json_object();

	put_location(o, p->function, p->file, p->line);
	put(o, "module", text(p->module));
	put(o, "offset", hex(p->offset));
	if (recurs)
		put(o, "recursive", json_true());
	return o;
}

static json_t *json_path(const struct report *r, const struct process *s,
			 uint32_t node)
{
	static struct call_frame frame[CALL_FRAMES_MAX];
	size_t n = call_frames(r, s, node, frame);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		append(a, call_json(&frame[i].place, frame[i].recurs));
	return a;
}

static int by_detections(const void *a, const void *b)
{
	const struct cdp_memory_calls *x =
		*(const struct cdp_memory_calls *const *)a;
	const struct cdp_memory_calls *y =
		*(const struct cdp_memory_calls *const *)b;

	return (x->count < y->count) - (x->count > y->count);
}

static void add_process(const struct report *r, size_t i, json_t *a)
{
	const struct process *s = &r->profile->process[i];
	const struct cdp_memory_calls **order =
		xcalloc(s->calls + 1, sizeof(*order));

	for (size_t k = 0; k < s->calls; k++)
		order[k] = &s->call[k];
	qsort(order, s->calls, sizeof(*order), by_detections);
	for (size_t k = 0; k < s->calls && k < JSON_MAX; k++) {
		const struct cdp_memory_calls *c = order[k];
		json_t *o = json_object();

		put(o, "process", integer(i));
		put(o, "line", hex(c->line));
		put(o, "sharing",
		    json_string(c->sharing == SHARING_TRUE ? "true" : "false"));
		put(o, "detections", integer(c->count));
		put(o, "avoidable", integer(c->avoidable));
		put(o, "unavoidable", integer(c->unavoidable));
		put(o, "publisher", json_path(r, s, c->publisher_path));
		put(o, "detector", json_path(r, s, c->detector_path));
		append(a, o);
	}
	free(order);
}

void report_calls_json(const struct report *r, json_t *o)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->profile->processes; i++)
		add_process(r, i, a);
	if (json_array_size(a))
		put(o, "call_paths", a);
	else
		json_decref(a);
}
