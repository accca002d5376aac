/* SPDX-License-Identifier: MIT */
/*
 * stacks - detections as stacks of frames, for flame graphs
 *
 * The file counts detections twice: by threads, instructions and addresses
 * (pairs), and by threads and paths of calls. The stacks divide the pairs among
 * the paths that end at their instructions; what remains has no calls.
 */
#include <stdlib.h>
#include <string.h>

#include "stacks.h"
#include "analysis/base/util.h"
#include "analysis/report/calls.h"

static const char *const kinds[SHARING_KINDS] = {
	[SHARING_TRUE] = "true sharing",
	[SHARING_FALSE] = "false sharing",
};

/* Safe for a terminal, and without what separates frames. */
static char *frame_name(const char *s)
{
	char *name = xstrdup(safe_text(s));

	for (char *p = name; *p; p++)
		if (*p == ';')
			*p = ':';
	return name;
}

/* Takes @name. */
static void add_frame(struct stack *x, char *name, const char *file, int line)
{
	x->frame = grow(x->frame, x->frames, &x->room, sizeof(*x->frame));
	x->frame[x->frames++] = (struct stack_frame){
		.name = frame_name(name),
		.file = file,
		.line = line,
	};
	free(name);
}

static void add_site(struct stack *x, const struct tally *t, uint32_t site,
		     const char *what)
{
	const struct place *p;

	if (site == NO_SITE) {
		add_frame(x, xasprintf("%s ?", what), NULL, 0);
		return;
	}
	p = &t->site[site].place;
	add_frame(x,
		  p->function ? xasprintf("%s %s (%s)", what, p->function,
					  place_text(p))
			      : xasprintf("%s %s", what, place_text(p)),
		  p->file, p->line);
}

/* The calls of path @node, outermost first, without the access itself. */
static void add_calls(struct stack *x, const struct report *r,
		      const struct process *process, uint32_t node)
{
	static struct call_frame frame[CALL_FRAMES_MAX];
	size_t n = call_frames(r, process, node, frame);

	while (n-- > 1) {
		const struct place *p = &frame[n].place;

		add_frame(x, xstrdup(p->function ? p->function : place_text(p)),
			  p->file, p->line);
	}
}

static struct stack *new_stack(struct stacks *s)
{
	s->stack = grow(s->stack, s->stacks, &s->room, sizeof(*s->stack));
	s->stack[s->stacks] = (struct stack){ 0 };
	return &s->stack[s->stacks++];
}

/* @detections of @pair, by the calls @c unless that is NULL. */
static void add_stack(struct stacks *s, const struct report *r,
		      const struct line_tally *l, uint32_t pair,
		      const struct cdp_memory_calls *c, uint64_t detections)
{
	const struct tally *t = &r->tally;
	const struct pair_row *p = &r->profile->pair[pair];
	const struct process *from = &r->profile->process[p->process];
	struct stack *x = new_stack(s);

	x->kind = p->sharing;
	x->threads[0] = p->publisher;
	x->threads[1] = p->detector;
	x->line = l->line;
	x->detections = detections;
	add_frame(x, xstrdup(base_name(from->header.exe)), NULL, 0);
	add_frame(x, xstrdup(kinds[p->sharing]), NULL, 0);
	add_frame(x, xstrdup(object_text(&l->object)), NULL, 0);
	if (c)
		add_calls(x, r, from, c->publisher_path);
	add_site(x, t, t->publisher_site[pair], "store in");
	if (c)
		add_calls(x, r, from, c->detector_path);
	add_site(x, t, t->detector_site[pair], "access in");
}

/* The calls of a process, by line, and how many detections of each are left. */
struct line_calls {
	const struct cdp_memory_calls **call;
	uint64_t *left;
	size_t n;
};

static int by_line(const void *a, const void *b)
{
	const struct cdp_memory_calls *x =
		*(const struct cdp_memory_calls *const *)a;
	const struct cdp_memory_calls *y =
		*(const struct cdp_memory_calls *const *)b;

	return order_u64(x->line, y->line);
}

static void calls_init(struct line_calls *c, const struct process *process)
{
	c->n = process->calls;
	c->call = xcalloc(c->n + 1, sizeof(*c->call));
	c->left = xcalloc(c->n + 1, sizeof(*c->left));
	for (size_t i = 0; i < c->n; i++)
		c->call[i] = &process->call[i];
	if (c->n)
		qsort(c->call, c->n, sizeof(*c->call), by_line);
	for (size_t i = 0; i < c->n; i++)
		c->left[i] = c->call[i]->count;
}

static size_t first_of_line(const struct line_calls *c, uint64_t line)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->call[mid]->line < line)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* True if a path that is not known, or one that begins at @ip. */
static bool begins_at(const struct process *process, uint32_t node, uint64_t ip)
{
	const struct cdp_path *n = process_path(process, node);

	return !n || n->ip == ip;
}

static bool is_of(const struct cdp_memory_calls *c, const struct report *r,
		  const struct pair_row *p, bool threads)
{
	const struct process *process = &r->profile->process[p->process];
	const struct thread_row *row = r->profile->thread;

	return c->sharing == p->sharing &&
	       (!threads || (row[p->publisher].id == c->publisher_thread &&
			     row[p->detector].id == c->detector_thread)) &&
	       begins_at(process, c->publisher_path, p->publisher_ip) &&
	       begins_at(process, c->detector_path, p->detector_ip);
}

/*
 * Give the detections of @pair that calls are known for to their stacks. With
 * @threads, only those of the same threads. Returns how many are left.
 */
static uint64_t divide(struct stacks *s, const struct report *r,
		       const struct line_tally *l, uint32_t pair,
		       struct line_calls *c, uint64_t left, bool threads)
{
	const struct pair_row *p = &r->profile->pair[pair];

	for (size_t i = first_of_line(c, l->line);
	     left && i < c->n && c->call[i]->line == l->line; i++) {
		uint64_t n = left < c->left[i] ? left : c->left[i];

		if (!n || !is_of(c->call[i], r, p, threads))
			continue;
		add_stack(s, r, l, pair, c->call[i], n);
		c->left[i] -= n;
		left -= n;
	}
	return left;
}

/* A row may stand for several threads, so equal threads are only preferred. */
static void add_pair(struct stacks *s, const struct report *r,
		     const struct line_tally *l, uint32_t pair,
		     struct line_calls *calls)
{
	const struct pair_row *p = &r->profile->pair[pair];
	struct line_calls *c = &calls[p->process];
	uint64_t left = p->count;

	/* Paths are numbers of one process. */
	if (p->publisher_process == p->process &&
	    p->detector_process == p->process && !p->foreign)
		for (int pass = 0; pass < 2 && left; pass++)
			left = divide(s, r, l, pair, c, left, !pass);
	if (left)
		add_stack(s, r, l, pair, NULL, left);
}

/* Detections whose line or instruction the file did not keep. */
static void add_rest(struct stacks *s, enum sharing kind, uint64_t detections)
{
	const char *const names[] = { "all processes", kinds[kind],
				      "lines not kept apart", "store in ?",
				      "access in ?" };
	struct stack *x = new_stack(s);

	x->kind = kind;
	x->threads[0] = x->threads[1] = UINT32_MAX;
	x->detections = detections;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_frame(x, xstrdup(names[i]), NULL, 0);
}

void stacks_init(struct stacks *s, const struct report *r)
{
	const struct tally *t = &r->tally;
	size_t processes = r->profile->processes;
	struct line_calls *calls = xcalloc(processes + 1, sizeof(*calls));
	uint64_t placed[SHARING_KINDS] = { 0 };

	*s = (struct stacks){ 0 };
	for (size_t i = 0; i < processes; i++)
		calls_init(&calls[i], &r->profile->process[i]);
	for (size_t i = 0; i < t->lines; i++) {
		const struct line_tally *l = &t->line[i];

		for (size_t k = 0; k < l->pairs; k++)
			add_pair(s, r, l, t->by_line[l->first + k], calls);
		for (int k = 0; k < SHARING_KINDS; k++)
			placed[k] = sat_add(placed[k], l->kind[k]);
	}
	for (int k = 0; k < SHARING_KINDS; k++)
		if (t->kind[k] > placed[k])
			add_rest(s, k, t->kind[k] - placed[k]);
	for (size_t i = 0; i < processes; i++) {
		free(calls[i].call);
		free(calls[i].left);
	}
	free(calls);
}

void stacks_release(struct stacks *s)
{
	for (size_t i = 0; i < s->stacks; i++) {
		for (size_t k = 0; k < s->stack[i].frames; k++)
			free(s->stack[i].frame[k].name);
		free(s->stack[i].frame);
	}
	free(s->stack);
	*s = (struct stacks){ 0 };
}
