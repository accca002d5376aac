/* SPDX-License-Identifier: MIT */
/*
 * separate - lines of their own for bytes that different threads use
 */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "pair_index.h"
#include "separate.h"
#include "analysis/base/util.h"

enum {
	LINE_BYTES = 1 << MACHINE_LINE_SHIFT,
	PIECE_BYTES = 8, /* QEMU splits larger accesses */
	/* Accesses of the thread with the second most, for a line to count. */
	CONTENDED = 32,
	MOST = 10, /* all but one of so many accesses */
	/* The group of a byte: number of its thread + 1, 0: not used, or: */
	SEVERAL_READ = UINT16_MAX - 1,
	SEVERAL = UINT16_MAX,
};

/* The first line that is new: programs have smaller addresses. */
#define NEW_LINES (UINT64_C(1) << 42)

/* A line of the program; threads come one after the other. */
struct line_use {
	uint32_t thread; /* the latest, and its accesses */
	uint64_t accesses;
	uint64_t first, second; /* most accesses of a thread before it */
	bool written;
};

/*
 * A byte. The thread that makes most accesses is found as in Boyer and Moore's
 * majority vote, whose candidate a further pass counts.
 */
struct byte_use {
	uint16_t user; /* the candidate + 1; later the group */
	uint64_t votes, own, all, stores;
};

struct line_bytes {
	struct byte_use byte[LINE_BYTES];
};

struct separate {
	struct pair_index lines;  /* (line, 0), of those with bytes */
	struct line_bytes *bytes; /* by number */
	size_t room;
	struct pair_index pieces; /* (line, user): those on new lines */
};

enum pass_kind {
	PASS_LINES, /* which lines count */
	PASS_VOTE,
	PASS_COUNT,
	PASSES
};

/* The passes over the trace. */
struct pass {
	enum pass_kind kind;
	struct pair_index all; /* (line, 0) */
	struct line_use *use;  /* by number */
	size_t room;
	struct separate *to;
};

static uint32_t access_bytes(const struct trace *t,
			     const struct trace_step *step,
			     const struct trace_access *a)
{
	uint32_t bytes =
		t->insn[step->block->first + a->index].decoded.memory_bytes;

	return bytes && bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
}

static bool is_contended(const struct line_use *u)
{
	uint64_t second = u->second;

	if (u->accesses > second)
		second = u->accesses < u->first ? u->accesses : u->first;
	return u->written && second >= CONTENDED;
}

/* The line is used by a thread after others. */
static void next_thread(struct line_use *u, uint32_t thread)
{
	if (u->accesses > u->first) {
		u->second = u->first;
		u->first = u->accesses;
	} else if (u->accesses > u->second) {
		u->second = u->accesses;
	}
	u->accesses = 0;
	u->thread = thread;
}

static void note_line(struct pass *p, uint32_t thread,
		      const struct trace_access *a)
{
	size_t n = p->all.pairs;
	uint32_t i = pair_index_of(&p->all, a->addr >> MACHINE_LINE_SHIFT, 0);

	if (i == n) {
		p->use = grow(p->use, n, &p->room, sizeof(*p->use));
		p->use[i] = (struct line_use){ .thread = thread };
	}
	if (p->use[i].thread != thread)
		next_thread(&p->use[i], thread);
	p->use[i].accesses++;
	p->use[i].written |= a->store;
}

/* After the first pass: keep the lines that threads contend for. */
static void choose_lines(struct pass *p)
{
	struct separate *s = p->to;

	for (size_t i = 0; i < p->all.pairs; i++) {
		if (!is_contended(&p->use[i]))
			continue;
		s->bytes = grow(s->bytes, s->lines.pairs, &s->room,
				sizeof(*s->bytes));
		memset(&s->bytes[s->lines.pairs], 0, sizeof(*s->bytes));
		pair_index_of(&s->lines, p->all.key[i].a, 0);
	}
}

static void vote(struct byte_use *b, uint16_t user, bool store)
{
	b->all++;
	b->stores += store;
	if (!b->votes)
		b->user = user;
	if (b->user == user)
		b->votes++;
	else
		b->votes--;
}

static void note_bytes(struct pass *p, uint32_t thread,
		       const struct trace_access *a, uint32_t bytes)
{
	uint64_t end = a->addr % LINE_BYTES + bytes;
	uint16_t user = (uint16_t)(thread + 1);
	struct byte_use *b;
	uint32_t i;

	if (!pair_index_find(&p->to->lines, a->addr >> MACHINE_LINE_SHIFT, 0,
			     &i))
		return;
	b = p->to->bytes[i].byte;
	for (uint64_t k = a->addr % LINE_BYTES; k < end && k < LINE_BYTES; k++)
		if (p->kind == PASS_VOTE)
			vote(&b[k], user, a->store);
		else
			b[k].own += b[k].user == user;
}

/* All accesses of thread number @i. Returns 0, or -EINVAL. */
static int pass_thread(struct pass *p, const struct trace *t, uint32_t i)
{
	struct trace_stream *stream = trace_stream_open(t, i);
	const struct trace_step *step = &stream->step;
	int more;

	while ((more = trace_stream_next(stream)) > 0)
		for (size_t k = 0; k < step->accesses; k++) {
			const struct trace_access *a = &step->access[k];

			if (p->kind == PASS_LINES)
				note_line(p, i, a);
			else
				note_bytes(p, i, a, access_bytes(t, step, a));
		}
	trace_stream_close(stream);
	return more;
}

static int pass_all(struct pass *p, const struct trace *t)
{
	int err = 0;

	for (uint32_t i = 0; i < t->threads && !err; i++)
		err = pass_thread(p, t, i);
	return err;
}

static uint16_t group_of(const struct byte_use *b)
{
	if (!b->all || (b->all - b->own) * MOST <= b->all)
		return b->user;
	return b->stores * MOST <= b->all ? SEVERAL_READ : SEVERAL;
}

/* The group whose bytes stay in their line. */
static uint16_t who_stays(const struct line_bytes *l)
{
	uint16_t first = 0;

	for (int k = 0; k < LINE_BYTES; k++) {
		if (l->byte[k].user == SEVERAL)
			return SEVERAL;
		first = first ? first : l->byte[k].user;
	}
	return first;
}

static void make_pieces(struct separate *s)
{
	for (size_t i = 0; i < s->lines.pairs; i++) {
		struct byte_use *b = s->bytes[i].byte;
		uint16_t stays;

		for (int k = 0; k < LINE_BYTES; k++)
			b[k].user = group_of(&b[k]);
		stays = who_stays(&s->bytes[i]);
		for (int k = 0; k < LINE_BYTES; k++)
			if (b[k].user && b[k].user != stays)
				pair_index_of(&s->pieces, s->lines.key[i].a,
					      b[k].user);
	}
}

struct separate *separate_new(const struct trace *t)
{
	struct pass p = { 0 };
	int err = 0;

	if (t->threads < 2 || t->threads >= SEVERAL_READ)
		return NULL;
	p.to = xcalloc(1, sizeof(*p.to));
	for (p.kind = PASS_LINES; p.kind < PASSES && !err; p.kind++) {
		err = pass_all(&p, t);
		if (p.kind == PASS_LINES)
			choose_lines(&p);
	}
	pair_index_release(&p.all);
	free(p.use);
	if (!err)
		make_pieces(p.to);
	if (err || !p.to->pieces.pairs) {
		separate_free(p.to);
		return NULL;
	}
	return p.to;
}

void separate_free(struct separate *s)
{
	if (!s)
		return;
	pair_index_release(&s->lines);
	pair_index_release(&s->pieces);
	free(s->bytes);
	free(s);
}

/* The group of an access: those that share come first. */
static uint16_t user_of(const struct line_bytes *l, uint64_t first,
			uint32_t bytes)
{
	uint16_t user = 0;

	for (uint64_t k = first; k < first + bytes && k < LINE_BYTES; k++)
		user = l->byte[k].user > user ? l->byte[k].user : user;
	return user;
}

uint64_t separate_address(const struct separate *s, uint64_t addr,
			  uint32_t bytes)
{
	uint64_t line = addr >> MACHINE_LINE_SHIFT, in = addr % LINE_BYTES;
	uint32_t i, piece;

	if (!pair_index_find(&s->lines, line, 0, &i) ||
	    !pair_index_find(&s->pieces, line, user_of(&s->bytes[i], in, bytes),
			     &piece))
		return addr;
	return (NEW_LINES + piece) << MACHINE_LINE_SHIFT | in;
}

void separate_step(const struct separate *s, const struct trace *t,
		   const struct trace_step *step)
{
	for (size_t i = 0; i < step->accesses; i++) {
		struct trace_access *a = &step->access[i];

		a->addr =
			separate_address(s, a->addr, access_bytes(t, step, a));
	}
}
