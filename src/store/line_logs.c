/* SPDX-License-Identifier: MIT */
/*
 * line_logs - what padding would avoid, from samples
 */
#include <stdatomic.h>
#include <string.h>

#include "line_logs.h"
#include "src/exact/contended.h"
#include "src/exact/cure.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	LINES = 4096, /* places for lines, a power of two */
	LOOKS = 16,   /* places where a line may be */
	PATIENCE = 8, /* findings that a watch may last when others wait */
	JUDGED = LINE_LOG_TURNS / 2, /* turns from which a log tells */
	NO_LINE = UINT32_MAX,
};

/* A line with transfers. */
struct found_line {
	uint64_t line; /* 0: free */
	double transfers, of_false, false_square;
	double needed, needed_square;
	uint64_t findings;
	uint32_t log; /* + 1; 0: none */
	bool watched;
	struct contended contended;
};

enum watch_state {
	WATCH_IDLE,
	WATCH_CHANGING, /* the caller acts */
	WATCH_LIVE
};

/* The turn that a log is in. Written with the lock, read without. */
struct present {
	_Atomic uint64_t line;   /* 0: nothing was logged yet */
	_Atomic uint64_t thread; /* + 1 */
	_Atomic uint64_t touched, stored, locked; /* bytes */
};

struct watch {
	enum watch_state state;
	uint32_t line;  /* index of the found line */
	uint64_t since; /* findings before */
	struct present present;
};

struct line_logs {
	_Atomic uint32_t lock;
	uint64_t findings;
	uint32_t logs; /* in use */
	bool longer;   /* the first logs have more windows */
	bool with_needed;
	struct watch watch[LINE_LOGS_SLOTS];
	struct found_line rest; /* of lines that found no place */
	struct found_line line[LINES];
	struct line_log log[LINE_LOGS_MAX];
	struct line_window window[];
};

size_t line_logs_size(void)
{
	return sizeof(struct line_logs) +
	       line_log_windows(LINE_LOGS_MAX) * sizeof(struct line_window);
}

struct line_logs *line_logs_init(void *mem, bool longer)
{
	struct line_logs *l = mem;

	l->longer = longer;
	return l;
}

void line_logs_with_needed(struct line_logs *l)
{
	l->with_needed = true;
}

static uint32_t place_of(struct line_logs *l, uint64_t line)
{
	uint64_t hash = line / LINE_BYTES * 0x9e3779b97f4a7c15u >> 40;

	for (uint32_t i = 0; i < LOOKS; i++) {
		uint32_t at = (hash + i) % LINES;

		if (!l->line[at].line)
			l->line[at].line = line;
		if (l->line[at].line == line)
			return at;
	}
	return NO_LINE;
}

static void add_weights(struct found_line *f, const struct transfer_chain *c)
{
	double of_false = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		f->transfers += c->event[i].weight;
		of_false += c->event[i].weight_false;
	}
	f->of_false += of_false;
	f->false_square += of_false * of_false;
	f->findings++;
}

void line_logs_needed(struct line_logs *l, const struct transfer_chain *c)
{
	struct found_line *f;
	double sum = 0;
	uint32_t at;

	for (uint32_t i = 0; i < c->n; i++)
		sum += c->event[i].weight;
	spin_lock(&l->lock);
	at = place_of(l, c->line);
	f = at == NO_LINE ? &l->rest : &l->line[at];
	f->needed += sum;
	f->needed_square += sum * sum;
	spin_unlock(&l->lock);
}

/* A slot for another line, or LINE_LOGS_SLOTS: the oldest of those. */
static uint32_t pick_slot(const struct line_logs *l)
{
	uint32_t oldest = LINE_LOGS_SLOTS;

	for (uint32_t i = 0; i < LINE_LOGS_SLOTS; i++) {
		if (l->watch[i].state == WATCH_IDLE)
			return i;
		if (l->watch[i].state == WATCH_LIVE &&
		    l->findings - l->watch[i].since > PATIENCE &&
		    (oldest == LINE_LOGS_SLOTS ||
		     l->watch[i].since < l->watch[oldest].since))
			oldest = i;
	}
	return oldest;
}

/* The log of @f, if there is one and its window may open now. */
static struct line_log *log_for(struct line_logs *l, struct found_line *f)
{
	if (!f->log && l->logs < LINE_LOGS_MAX) {
		line_log_begin(&l->log[l->logs], l->window, l->logs);
		if (!l->longer)
			l->log[l->logs].capacity = LINE_LOG_WINDOWS;
		f->log = ++l->logs;
	}
	return f->log ? &l->log[f->log - 1] : NULL;
}

static void put(_Atomic uint64_t *word, uint64_t x)
{
	atomic_store_explicit(word, x, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static struct line_logs_order begin_watch(struct line_logs *l, uint32_t at)
{
	struct line_logs_order order = { 0, 0, 0 };
	struct found_line *f = &l->line[at];
	uint32_t slot = pick_slot(l);
	struct line_log *log;
	struct watch *w;

	if (f->watched || slot == LINE_LOGS_SLOTS)
		return order;
	log = log_for(l, f);
	if (!log)
		return order;
	/* Windows are spread over the findings, not over transfers. */
	line_log_transfer(log, LINE_LOG_FIRST +
				       (f->findings - 1) * LINE_LOG_SPACING);
	if (!log->open)
		return order;
	w = &l->watch[slot];
	order = (struct line_logs_order){ .slot = slot, .watch = f->line };
	if (w->state == WATCH_LIVE) {
		struct found_line *old = &l->line[w->line];

		order.unwatch = old->line;
		old->watched = false;
		l->log[old->log - 1].open = false;
	}
	f->watched = true;
	put(&w->present.line, 0);
	w->state = WATCH_CHANGING;
	w->line = at;
	w->since = l->findings;
	return order;
}

struct line_logs_order line_logs_found(struct line_logs *l,
				       const struct transfer_chain *c)
{
	struct line_logs_order order = { 0, 0, 0 };
	uint32_t at;

	if (!c->n)
		return order;
	spin_lock(&l->lock);
	l->findings++;
	at = place_of(l, c->line);
	add_weights(at == NO_LINE ? &l->rest : &l->line[at], c);
	if (at != NO_LINE)
		order = begin_watch(l, at);
	spin_unlock(&l->lock);
	return order;
}

static void set_state(struct line_logs *l, uint32_t slot,
		      enum watch_state state)
{
	spin_lock(&l->lock);
	l->watch[slot].state = state;
	spin_unlock(&l->lock);
}

void line_logs_watching(struct line_logs *l, uint32_t slot)
{
	set_state(l, slot, WATCH_LIVE);
}

void line_logs_idle(struct line_logs *l, uint32_t slot)
{
	set_state(l, slot, WATCH_IDLE);
}

/* The bytes of @a on @line, a bit each. */
static uint64_t bytes_on(uint64_t line, const struct access *a)
{
	uint64_t first = a->addr > line ? a->addr - line : 0;
	uint64_t last = access_last(a) - line;

	if (first >= LINE_BYTES || access_last(a) < line)
		return 0;
	if (last >= LINE_BYTES)
		last = LINE_BYTES - 1;
	return (~0ull >> (LINE_BYTES - 1 - (last - first))) << first;
}

static bool is_locked(const struct access *a)
{
	return a->flags & ACCESS_LOCKED ||
	       (a->flags & ACCESS_LOAD && a->flags & ACCESS_STORE);
}

static void note_turn(struct present *p, uint64_t line, uint32_t thread,
		      uint64_t bytes, const struct access *a)
{
	if (get(&p->line) != line || get(&p->thread) != thread + 1) {
		put(&p->line, line);
		put(&p->thread, thread + 1);
		put(&p->touched, 0);
		put(&p->stored, 0);
		put(&p->locked, 0);
	}
	put(&p->touched, get(&p->touched) | bytes);
	if (access_stores(a))
		put(&p->stored, get(&p->stored) | bytes);
	if (is_locked(a))
		put(&p->locked, get(&p->locked) | bytes);
}

bool line_logs_tells(const struct line_logs *l, uint32_t slot, uint32_t thread,
		     const struct access *a)
{
	const struct present *p = &l->watch[slot].present;
	uint64_t line = get(&p->line), bytes;

	if (!line || get(&p->thread) != thread + 1)
		return true;
	bytes = bytes_on(line, a);
	return bytes & ~get(&p->touched) ||
	       (access_stores(a) && bytes & ~get(&p->stored)) ||
	       (is_locked(a) && bytes & ~get(&p->locked));
}

static bool add_access(struct line_logs *l, struct watch *w, uint32_t thread,
		       const struct access *a)
{
	struct found_line *f = &l->line[w->line];
	uint64_t bytes = bytes_on(f->line, a);
	struct line_log *log = &l->log[f->log - 1];

	if (!bytes)
		return false;
	note_turn(&w->present, f->line, thread, bytes, a);
	if (is_locked(a))
		contended_add(&f->contended, thread, bytes);
	line_log_add(log, thread, bytes, access_stores(a));
	if (log->open)
		return false;
	f->watched = false;
	w->state = WATCH_CHANGING;
	return true;
}

bool line_logs_access(struct line_logs *l, uint32_t slot, uint32_t thread,
		      const struct access *a)
{
	struct watch *w = &l->watch[slot];
	bool done;

	spin_lock(&l->lock);
	done = w->state == WATCH_LIVE && add_access(l, w, thread, a);
	spin_unlock(&l->lock);
	return done;
}

static double as_share(double share)
{
	return share > 0 ? share < 1 ? share : 1 : 0;
}

/*
 * A line without a log, or with a short one: what is false by the published
 * definition. Of few turns some grouping of bytes always seems to save much.
 */
static double avoidable_share(const struct line_logs *l,
			      const struct found_line *f, struct cure *cure)
{
	memset(cure, 0, sizeof(*cure));
	if (f->log)
		cure_find(&l->log[f->log - 1], cure);
	if (cure->transfers && cure->turns >= JUDGED)
		return 1 - (double)cure->after / (double)cure->transfers;
	memset(cure, 0, sizeof(*cure));
	return as_share(f->transfers > 0 ? f->of_false / f->transfers : 0);
}

static uint64_t as_word(double x)
{
	uint64_t word;

	memcpy(&word, &x, sizeof(word));
	return word;
}

/* Of lines that no log tells about. */
struct unlogged {
	double of_false, false_square, needed, needed_square;
};

static void add_unlogged(struct unlogged *u, const struct found_line *f)
{
	u->of_false += f->of_false;
	u->false_square += f->false_square;
	u->needed += f->needed;
	u->needed_square += f->needed_square;
}

static void put_line(const struct line_logs *l, const struct found_line *f,
		     struct unlogged *u, struct store *s,
		     struct store_writer *w)
{
	struct cure cure;
	double share = avoidable_share(l, f, &cure);
	uint64_t value[] = {
		f->line,
		as_word(f->transfers),
		as_word(f->transfers * share),
		f->contended.bytes,
		cure.turns,
		cure.groups,
	};

	if (!cure.turns)
		add_unlogged(u, f);
	if (f->line && !f->findings)
		return;
	store_transfer(s, w, CDP_AVOIDABLE_LINE, CDP_AVOIDABLE_SAMPLED, 0,
		       value, sizeof(value));
	for (uint32_t i = 0; i < cure.groups; i++) {
		double part = cure.transfers ? (double)cure.group_transfers[i] /
						       (double)cure.transfers
					     : 0;
		uint64_t group[] = { f->line, cure.bytes[i],
				     as_word(part * f->transfers) };

		store_transfer(s, w, CDP_AVOIDABLE_GROUP, CDP_AVOIDABLE_SAMPLED,
			       i, group, sizeof(group));
	}
}

void line_logs_store(struct line_logs *l, struct store *s,
		     struct store_writer *w)
{
	struct unlogged u = { 0 };

	for (uint32_t i = 0; i < LINES; i++)
		if (l->line[i].line)
			put_line(l, &l->line[i], &u, s, w);
	put_line(l, &l->rest, &u, s, w);
	if (l->with_needed)
		store_transfer(s, w, CDP_ESTIMATE_NEEDED, 0, 0, &u, sizeof(u));
}
