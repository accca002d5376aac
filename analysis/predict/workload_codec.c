/* SPDX-License-Identifier: MIT */
/*
 * workload_codec - the content of a .profile file, written or read
 *
 * Once something did not fit, all further numbers are read as 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload_codec.h"
#include "analysis/base/util.h"

#define ENTROPY_UNIT 1e6

enum {
	FLAGS_ALL = UOP_IS_LOAD | UOP_IS_STORE | UOP_IS_BRANCH | UOP_IS_VECTOR |
		    UOP_IS_BARRIER | MICRO_IS_DRAINED | UOP_IS_ZERO,
	HAS_ACCESS = 1,
	HAS_FETCH = 2,

	TAKEN_BYTES = 1 << 17, /* are passed on at a time */

	/* The least that an element takes. */
	WINDOW_BYTES = 15,
	MICRO_BYTES = 3,
	UOP_BYTES = 5,
	ACCESS_BYTES = 2 + DEPTH_SIZES,
	EVENT_BYTES = 7,
};

static void fail(struct workload_codec *c, const char *what)
{
	if (!c->wrong)
		c->wrong = what;
}

static __attribute__((noinline)) void make_room(struct workload_codec *c)
{
	if (c->take && c->room >= TAKEN_BYTES) {
		c->take(c->data, c->bytes, c->n);
		c->taken += c->n;
		c->n = 0;
		return;
	}
	c->room = 2 * c->room + 4096;
	c->bytes = realloc(c->bytes, c->room);
	if (!c->bytes)
		die("no memory for a profile: %zu bytes", c->room);
}

static inline void write_number(struct workload_codec *c, uint64_t x)
{
	if (c->room - c->n < TRACE_NUMBER_BYTES)
		make_room(c);
	if (x <= 0x7f)
		c->bytes[c->n++] = (unsigned char)x;
	else
		c->n = (size_t)(trace_put(c->bytes + c->n, x) - c->bytes);
}

static uint64_t read_number(struct workload_codec *c, uint64_t max,
			    const char *what)
{
	const unsigned char *next;
	uint64_t x = 0;

	if (c->wrong)
		return 0;
	next = trace_get(c->bytes + c->at, c->bytes + c->n, &x);
	if (!next || x > max) {
		fail(c, what);
		return 0;
	}
	c->at = (size_t)(next - c->bytes);
	return x;
}

/* Write @x, or read what takes its place; @what is wrong above @max. */
static inline uint64_t number(struct workload_codec *c, uint64_t x,
			      uint64_t max, const char *what)
{
	if (c->reads)
		return read_number(c, max, what);
	write_number(c, x);
	return x;
}

/*
 * A number of elements, each of which takes at least @least bytes in the file;
 * their array of @size bytes each is made for reading.
 */
static size_t elements(struct workload_codec *c, size_t n, size_t least,
		       size_t size, void *array)
{
	void *made;

	n = number(c, n, c->reads ? (c->n - c->at) / least : UINT64_MAX,
		   "more elements than it has bytes for");
	if (c->reads) {
		made = xcalloc(n + 1, size);
		memcpy(array, &made, sizeof(made));
	}
	return n;
}

/* Counts, most of them 0: how many are not, then the gap before each and it. */
static void counts(struct workload_codec *c, uint32_t *x, size_t n,
		   const char *what)
{
	size_t some = 0, at = 0;

	for (size_t i = 0; !c->reads && i < n; i++)
		some += x[i] != 0;
	some = number(c, some, n, what);
	for (; some && !c->wrong; some--) {
		size_t i = at;

		while (!c->reads && !x[i])
			i++;
		at += number(c, i - at, n - 1 - at, what);
		x[at] = (uint32_t)number(c, x[at], UINT32_MAX, what);
		if (++at == n && some > 1)
			fail(c, what);
	}
}

static void code_window(struct workload_codec *c, struct window *w, bool shared)
{
	static const char what[] = "a window whose counts do not fit";

	w->instructions = number(c, w->instructions, UINT64_MAX, what);
	counts(c, w->uops, UOP_CLASSES, what);
	counts(c, w->wrong, PREDICTORS, what);
	for (int i = 0; i < ENTROPIES; i++)
		w->entropy[i] = (double)number(c,
					       (uint64_t)llround(w->entropy[i] *
								 ENTROPY_UNIT),
					       (uint64_t)ENTROPY_UNIT, what) /
				ENTROPY_UNIT;
	for (int k = 0; k < WINDOW_KINDS; k++) {
		counts(c, w->reuse[k], WORKLOAD_REUSES, what);
		counts(c, w->global[k], WORKLOAD_REUSES, what);
		counts(c, w->depth[k][0], DEPTH_SIZES * (DEPTH_WAYS + 1), what);
		if (shared)
			counts(c, w->shared[k][0],
			       SHARED_SIZES * (DEPTH_WAYS + 1), what);
	}
}

/* How many before it asked for its line, by those that did. */
static void code_asked(struct workload_codec *c, struct micro_access *a,
		       const char *what)
{
	unsigned int by = 0;
	int kinds = c->version > WORKLOAD_STRIDES ? PREFETCH_KINDS
						  : PREFETCH_STREAM;

	for (int i = 0; i < kinds; i++)
		by |= a->asked[i] ? 1u << i : 0;
	by = (unsigned int)number(c, by | (unsigned int)a->vain << kinds,
				  (1u << 2 * kinds) - 1, what);
	a->vain = (uint8_t)(by >> kinds);
	for (int i = 0; i < kinds; i++)
		if (by >> i & 1)
			a->asked[i] = (uint16_t)number(c, a->asked[i],
						       UINT16_MAX, what);
	if (a->asked[PREFETCH_STREAM])
		a->place = (uint8_t)number(c, a->place, UINT8_MAX, what);
	if (a->vain >> PREFETCH_STREAM & 1)
		a->ended = (uint8_t)number(c, a->ended, UINT8_MAX, what);
}

static void code_access(struct workload_codec *c, struct micro_access *a,
			bool shared)
{
	static const char what[] = "an access with an impossible reuse";

	a->reuse = (uint16_t)number(c, a->reuse, WORKLOAD_REUSES - 1, what);
	a->global = (uint16_t)number(c, a->global, WORKLOAD_REUSES - 1, what);
	for (int i = 0; i < DEPTH_SIZES; i++)
		a->depth[i] = (uint8_t)number(c, a->depth[i], DEPTH_WAYS, what);
	for (int i = 0; shared && i < SHARED_SIZES; i++)
		a->shared[i] =
			(uint8_t)number(c, a->shared[i], DEPTH_WAYS, what);
	if (c->version > WORKLOAD_PLAIN)
		code_asked(c, a, what);
	if (c->version > WORKLOAD_SETLESS)
		a->set = (uint16_t)number(c, a->set, MICRO_SETS, what);
	else if (c->reads)
		a->set = MICRO_SETS;
}

/* The micro-operation number @at of its micro-trace. */
static void code_uop(struct workload_codec *c, struct micro_uop *u, size_t at,
		     uint32_t *accesses)
{
	static const char what[] = "a micro-operation that does not fit its "
				   "micro-trace";
	uint64_t has =
		(u->access ? HAS_ACCESS : 0) | (u->fetch ? HAS_FETCH : 0);

	u->class = (uint8_t)number(c, u->class, UOP_CLASSES - 1, what);
	u->flags = (uint8_t)number(c, u->flags, FLAGS_ALL, what);
	u->wrong = (uint8_t)number(c, u->wrong, (1 << PREDICTORS) - 1, what);
	u->sources = (uint8_t)number(c, u->sources, MICRO_SOURCES, what);
	for (int i = 0; i < u->sources; i++) {
		u->source[i] = (uint16_t)number(c, u->source[i], at, what);
		if (!u->source[i])
			fail(c, what);
	}
	has = number(c, has, HAS_ACCESS | HAS_FETCH, what);
	if (has & HAS_ACCESS) {
		u->access = ++*accesses;
		u->line = (uint16_t)number(c, u->line, at, what);
		u->forward = (uint16_t)number(c, u->forward, at, what);
	}
	if (has & HAS_FETCH)
		u->fetch = ++*accesses;
}

static void code_micro(struct workload_codec *c, struct workload_thread *t,
		       struct micro_trace *m, uint64_t *window, uint32_t *first)
{
	static const char what[] = "a micro-trace that does not fit";

	*window += number(c, m->window - *window,
			  t->windows ? t->windows - 1 - *window : 0, what);
	m->window = (uint32_t)*window;
	m->instructions =
		(uint32_t)number(c, m->instructions, MICRO_INSNS, what);
	m->uops = (uint32_t)number(c, m->uops, MICRO_UOPS, what);
	m->first = *first;
	*first += m->uops;
	if (*first > t->uops || !t->windows)
		fail(c, what);
}

static void code_micros(struct workload_codec *c, struct workload_thread *t,
			bool shared)
{
	uint32_t first = 0, accesses = 0;
	uint64_t window = 0;

	for (size_t i = 0; i < t->micros && !c->wrong; i++)
		code_micro(c, t, &t->micro[i], &window, &first);
	if (first != t->uops)
		fail(c, "micro-operations without a micro-trace");
	for (size_t i = 0; i < t->micros && !c->wrong; i++)
		for (size_t k = 0; k < t->micro[i].uops; k++)
			code_uop(c, &t->uop[t->micro[i].first + k], k,
				 &accesses);
	if (accesses != t->accesses)
		fail(c, "accesses without a micro-operation");
	for (size_t i = 0; i < t->accesses && !c->wrong; i++)
		code_access(c, &t->access[i], shared);
}

static void code_events(struct workload_codec *c, struct workload_thread *t,
			size_t threads)
{
	static const char what[] = "an event that does not fit";
	uint64_t at = 0;

	for (size_t i = 0; i < t->events && !c->wrong; i++) {
		struct workload_event *e = &t->event[i];

		at += number(c, e->instruction - at, t->instructions - at,
			     what);
		e->instruction = at;
		e->event.kind = (enum sync_kind)number(c, e->event.kind,
						       SYNC_KINDS - 1, what);
		e->event.timeout = number(c, e->event.timeout, 1, what);
		e->outside = number(c, e->outside, 1, what);
		e->event.object = number(c, e->event.object, UINT64_MAX, what);
		if ((e->event.kind == SYNC_CREATE ||
		     e->event.kind == SYNC_JOIN) &&
		    e->event.object >= threads)
			fail(c,
			     "an event about a thread that it does not have");
		e->event.argument =
			number(c, e->event.argument, UINT64_MAX, what);
		e->event.pair = number(c, e->event.pair, SYNC_PAIRS_MAX, what);
	}
}

static void code_thread(struct workload_codec *c, struct workload_thread *t,
			const struct workload *w)
{
	static const char what[] = "a thread with impossible counts";
	uint64_t sum = 0;

	t->id = (uint32_t)number(c, t->id, TRACE_THREADS_MAX - 1, what);
	t->starts = number(c, t->starts, 1, what);
	t->instructions = number(c, t->instructions, INT64_MAX, what);
	t->lines = number(c, t->lines, INT64_MAX, what);
	t->stored_lines = number(c, t->stored_lines, t->lines, what);
	t->windows = elements(c, t->windows, WINDOW_BYTES, sizeof(*t->window),
			      &t->window);
	t->micros = elements(c, t->micros, MICRO_BYTES, sizeof(*t->micro),
			     &t->micro);
	t->uops = elements(c, t->uops, UOP_BYTES, sizeof(*t->uop), &t->uop);
	t->accesses = elements(c, t->accesses, ACCESS_BYTES, sizeof(*t->access),
			       &t->access);
	t->events = elements(c, t->events, EVENT_BYTES, sizeof(*t->event),
			     &t->event);
	for (size_t i = 0; i < t->windows && !c->wrong; i++) {
		code_window(c, &t->window[i], w->shared);
		sum = sat_add(sum, t->window[i].instructions);
	}
	if (sum != t->instructions)
		fail(c, "a thread whose windows do not add up to its "
			"instructions");
	code_micros(c, t, w->shared);
	code_events(c, t, w->threads);
}

void workload_codec_run(struct workload_codec *c, struct workload *w)
{
	static const char other[] = "it has other classes of micro-operations, "
				    "predictors or depths than this reusetrack";
	const uint64_t sizes[] = { UOP_CLASSES, PREDICTORS, DEPTH_SETS_MIN,
				   DEPTH_SIZES, DEPTH_WAYS, WORKLOAD_REUSES };
	uint64_t shared = w->shared ? SHARED_SIZES : 0;
	size_t threads;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (number(c, sizes[i], UINT64_MAX, other) != sizes[i])
			fail(c, other);
	if (c->version > WORKLOAD_UNSHARED)
		shared = number(c, shared, SHARED_SIZES, other);
	w->shared = c->version > WORKLOAD_UNSHARED && shared;
	if (w->shared && shared != SHARED_SIZES)
		fail(c, other);
	w->interval = number(c, w->interval, INT64_MAX, "an interval");
	threads = number(c, w->threads, WORKLOAD_THREADS_MAX,
			 "a number of threads");
	if (c->reads)
		w->thread = xcalloc(threads + 1, sizeof(*w->thread));
	w->threads = threads;
	for (size_t i = 0; i < threads; i++)
		code_thread(c, &w->thread[i], w);
	if (c->reads && c->at != c->n)
		fail(c, "bytes behind the last thread");
}
