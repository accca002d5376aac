/* SPDX-License-Identifier: MIT */
/*
 * trace_stream - the tokens of one thread, a block at a time
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "trace_live.h"
#include "analysis/base/util.h"

enum {
	ACCESSES_MAX = 1 << 20, /* of one block */
	QUICK_MAX = 1 << 30,    /* instructions, from token to token */
	EVENTS_MAX = 1 << 16,
	KINDS = 2,
};

/* @n more elements of @size bytes behind @used in @array, all zero. */
static void *widen(void *array, size_t used, size_t n, size_t size)
{
	char *wide = xcalloc(used + n, size);

	if (used)
		memcpy(wide, array, used * size);
	free(array);
	return wide;
}

/* Tokens may now name so many blocks, with so many instructions. */
static void know(struct trace_stream *s, size_t blocks, size_t insns)
{
	if (blocks <= s->blocks)
		return;
	s->next =
		widen(s->next, s->blocks, blocks - s->blocks, sizeof(*s->next));
	s->last = widen(s->last, KINDS * s->insns, KINDS * (insns - s->insns),
			sizeof(*s->last));
	s->blocks = blocks;
	s->insns = insns;
}

struct trace_stream *trace_stream_open(const struct trace *t, size_t thread)
{
	struct trace_stream *s = xcalloc(1, sizeof(*s));

	s->trace = t;
	s->thread = &t->thread[thread];
	if (t->live)
		return s; /* the chunks say */
	know(s, t->blocks, t->insns);
	return s;
}

void trace_stream_close(struct trace_stream *s)
{
	free(s->next);
	free(s->last);
	free(s->step.access);
	free(s->step.event);
	free(s);
}

static int damaged(struct trace_stream *s, const char *why)
{
	snprintf(s->error, sizeof(s->error),
		 "thread %u, chunk at offset %llu: %s", s->thread->id,
		 (unsigned long long)s->offset, why);
	return -EINVAL;
}

/* The next chunk of a trace that is being recorded. */
static int more_live(struct trace_stream *s)
{
	struct trace_live *l = s->trace->live;
	struct trace_live_chunk c;
	size_t thread = s->thread->id;
	const char *wrong;
	int r = trace_live_next(l, thread, s->chunk, &c, s->error);

	if (r != 1)
		return r;
	know(s, c.blocks, c.insns);
	s->offset = c.offset;
	wrong = trace_chunk_unpack(&c.head, c.data, s->content);
	s->at = s->content;
	s->end = s->at + c.head.bytes;
	trace_live_done(l, thread, s->chunk++);
	return wrong ? damaged(s, wrong) : 1;
}

/* The next chunk in the file. */
static int more_of_file(struct trace_stream *s)
{
	const struct trace_chunks *file = &s->trace->file;
	size_t i;
	int err;

	if (s->chunk == s->thread->chunks)
		return 0;
	i = s->thread->chunk[s->chunk++];
	s->offset = file->place[i].offset;
	err = trace_chunks_read(file, i, s->content, s->error);
	s->at = s->content;
	s->end = s->at + file->place[i].chunk.bytes;
	return err ? err : 1;
}

/* True if there are tokens left, read from the next chunk if need be. */
static int more(struct trace_stream *s)
{
	int r = 1;

	while (r == 1 && s->at == s->end)
		r = s->trace->live ? more_live(s) : more_of_file(s);
	return r;
}

/* trace_get; most numbers have one byte. */
static inline const unsigned char *get(const unsigned char *at,
				       const unsigned char *end, uint64_t *n)
{
	if (at < end && !(*at & 0x80)) {
		*n = *at;
		return at + 1;
	}
	return trace_get(at, end, n);
}

static inline bool number(struct trace_stream *s, uint64_t *n)
{
	const unsigned char *at = get(s->at, s->end, n);

	if (at)
		s->at = at;
	return at;
}

static int take_block(struct trace_stream *s, uint64_t value)
{
	uint64_t n = (uint64_t)trace_unzigzag(value);

	if (s->blocks)
		n += s->next[s->number];
	if (n >= s->blocks)
		return damaged(s, "a block that the trace does not have");
	s->next[s->number] = (uint32_t)n;
	s->number = (uint32_t)n;
	return 0;
}

static int take_access(struct trace_stream *s, bool store, uint64_t ahead)
{
	struct trace_step *step = &s->step;
	uint64_t index = ahead, change, *last;

	if (!step->block)
		return damaged(s, "an access before the first block");
	if (step->accesses)
		index += step->access[step->accesses - 1].index;
	if (ahead >= step->block->insns || index >= step->block->insns)
		return damaged(s, "an access behind the end of its block");
	if (!number(s, &change))
		return damaged(s, "an access without an address");
	if (step->accesses == ACCESSES_MAX)
		return damaged(s, "a block with too many accesses");
	last = &s->last[(step->block->first + index) * KINDS + store];
	*last += (uint64_t)trace_unzigzag(change);
	if (step->accesses == step->access_room)
		step->access = grow(step->access, step->accesses,
				    &step->access_room, sizeof(*step->access));
	step->access[step->accesses++] = (struct trace_access){
		.addr = *last, .index = (uint32_t)index, .store = store
	};
	return 0;
}

static int take_event(struct trace_stream *s, uint64_t kind)
{
	struct trace_step *step = &s->step;
	struct trace_event e = {
		.kind = (enum trace_event_kind)(kind &
						~(uint64_t)TRACE_OUTSIDE),
		.outside = kind & TRACE_OUTSIDE,
	};

	kind &= ~(uint64_t)TRACE_OUTSIDE;
	if (!kind || kind >= TRACE_EVENT_KINDS)
		return damaged(s, "an event of an unknown kind");
	if (!number(s, &e.object) || !number(s, &e.argument))
		return damaged(s, "an event without its object");
	if (step->events == EVENTS_MAX)
		return damaged(s, "too many events without instructions");
	step->event = grow(step->event, step->events, &step->event_room,
			   sizeof(*step->event));
	step->event[step->events++] = e;
	return 0;
}

/* True if @token, of a part that was traced quickly, is no event. */
static bool is_use(uint64_t token)
{
	return (token & 3) != TRACE_EVENT ||
	       token >> TRACE_TOKEN_BITS == TRACE_PASS;
}

/*
 * The use that @token begins, behind the one in @u, and what follows it; or
 * NULL, and in @wrong why.
 */
static inline const unsigned char *get_use(const unsigned char *at,
					   const unsigned char *end,
					   uint64_t token, struct trace_use *u,
					   const char **wrong)
{
	u->kind = (enum trace_token)(token & 3);
	at = get(at, end, &u->insns);
	if (at)
		at = get(at, end, &u->passed);
	if (!at) {
		*wrong = "a use without its time";
		return NULL;
	}
	if (u->insns > QUICK_MAX || u->passed > QUICK_MAX) {
		*wrong = "a use after an impossible time";
		return NULL;
	}
	if (u->kind != TRACE_EVENT)
		u->line += (uint64_t)trace_unzigzag(token >> TRACE_TOKEN_BITS);
	return at;
}

/* A token of a part that was traced quickly. */
static int take_quick(struct trace_stream *s, uint64_t token)
{
	const unsigned char *at;
	const char *wrong;

	if (!is_use(token))
		return take_event(s, token >> TRACE_TOKEN_BITS);
	at = get_use(s->at, s->end, token, &s->step.use, &wrong);
	if (!at)
		return damaged(s, wrong);
	s->at = at;
	return 0;
}

bool trace_stream_use(struct trace_stream *s, struct trace_use *use)
{
	struct trace_use u = { .line = s->step.use.line };
	const unsigned char *at = s->at;
	const char *wrong;
	uint64_t token;

	if (!s->step.quick || at == s->end)
		return false;
	at = get(at, s->end, &token);
	if (!at || !is_use(token))
		return false;
	at = get_use(at, s->end, token, &u, &wrong);
	if (!at)
		return false;
	s->at = at;
	s->step.use.line = u.line;
	*use = u;
	return true;
}

/* True if @token begins or ends a quick part. */
static bool is_change(uint64_t token)
{
	uint64_t kind = token >> TRACE_TOKEN_BITS;

	return (token & 3) == TRACE_EVENT &&
	       (kind == TRACE_QUICK || kind == TRACE_WHOLE);
}

static int change(struct trace_stream *s, uint64_t token)
{
	uint64_t next_ip, unused;

	if (!s->takes_quick)
		return damaged(s, "it is a trace for a profile, which says "
				  "only of parts what was executed");
	if (!number(s, &next_ip) || !number(s, &unused))
		return damaged(s, "an event without its object");
	s->step.quick = token >> TRACE_TOKEN_BITS == TRACE_QUICK;
	s->step.next_ip = s->step.quick ? next_ip : 0;
	return 0;
}

static int take_token(struct trace_stream *s, uint64_t token)
{
	uint64_t value = token >> TRACE_TOKEN_BITS;

	switch ((enum trace_token)(token & 3)) {
	case TRACE_LOAD:
		return take_access(s, false, value);
	case TRACE_STORE:
		return take_access(s, true, value);
	default:
		return take_event(s, value);
	}
}

int trace_stream_next(struct trace_stream *s)
{
	struct trace_step *step = &s->step;
	uint64_t token;
	int r;

	step->accesses = step->events = 0;
	step->next_ip = 0;
	step->use.kind = TRACE_EVENT;
	step->use.insns = step->use.passed = 0;
	step->block = s->pending ? &s->trace->block[s->number] : NULL;
	s->pending = false;
	while ((r = more(s)) == 1) {
		if (!number(s, &token))
			return damaged(s, "a token is cut off");
		if (is_change(token)) {
			r = change(s, token);
			if (r || step->block || step->events)
				return r ? r : 1;
			continue;
		}
		if (step->quick) {
			r = take_quick(s, token);
			return r ? r : 1;
		}
		if ((token & 3) == TRACE_BLOCK) {
			r = take_block(s, token >> TRACE_TOKEN_BITS);
			if (r)
				return r;
			s->pending = true;
			step->next_ip = s->trace->block[s->number].ip;
			if (step->block || step->events)
				return 1;
			step->block = &s->trace->block[s->number];
			s->pending = false;
			step->next_ip = 0;
			continue;
		}
		r = take_token(s, token);
		if (r)
			return r;
	}
	return r < 0 ? r : step->block || step->events;
}
