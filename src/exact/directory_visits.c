/* SPDX-License-Identifier: MIT */
/*
 * directory_visits - which transfers are useless, and the logs of lines
 *
 * A thread that gets the line for the first time has never had a useful
 * transfer of it, so all bytes that were ever stored are fresh to it. Hence a
 * thread needs an entry only once it has had a transfer or has stored.
 */
#include "directory_internal.h"
#include "src/base/signal_safe.h"

/* One thread's part of a block. */
struct visit {
	struct exact_visits *block; /* NULL: there is none */
	uint32_t i;
};

static void add(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(
		word, atomic_load_explicit(word, memory_order_relaxed) + n,
		memory_order_relaxed);
}

static struct visit find(const struct exact *x, const struct exact_record *r,
			 uint32_t id)
{
	for (uint32_t n = r->visits; n; n = x->visits[n].next)
		for (uint32_t i = 0; i < EXACT_BLOCK_VISITS; i++)
			if (x->visits[n].thread[i] == id + 1)
				return (struct visit){ &x->visits[n], i };
	return (struct visit){ NULL, 0 };
}

/* Returns 0 if there is none left. */
static uint32_t take_block(struct exact *x)
{
	uint32_t n =
		atomic_load_explicit(&x->visits_used, memory_order_relaxed);

	if (n >= x->visits_max - 1)
		return 0;
	n = atomic_fetch_add_explicit(&x->visits_used, 1,
				      memory_order_relaxed) +
	    1;
	return n < x->visits_max ? n : 0;
}

static struct visit make(struct exact *x, struct exact_record *r, uint32_t id)
{
	struct visit v = find(x, r, id);
	uint32_t n = r->visits, i = 0;

	if (v.block)
		return v;
	while (n && i < EXACT_BLOCK_VISITS && x->visits[n].thread[i])
		i++;
	if (!n || i == EXACT_BLOCK_VISITS) {
		n = take_block(x);
		if (!n)
			return v;
		x->visits[n].next = r->visits;
		r->visits = n;
		i = 0;
	}
	v = (struct visit){ &x->visits[n], i };
	v.block->thread[i] = id + 1;
	v.block->fresh[i] = r->ever;
	return v;
}

static bool is_useless(const struct visit *v)
{
	return v->block && v->block->useless >> v->i & 1;
}

static void count_useless(struct exact *x, struct exact_record *r,
			  const struct visit *v, uint32_t id, uint64_t n)
{
	add(&x->cell[(size_t)id * x->threads + v->block->from[v->i]].useless,
	    n);
	add(&r->useless, n);
}

void exact_visit_begin(struct exact *x, struct exact_record *r, uint32_t id)
{
	struct visit v = make(x, r, id);

	if (!v.block)
		return;
	v.block->from[v.i] = r->writer - 1;
	v.block->useless |= 1u << v.i;
	count_useless(x, r, &v, id, 1);
}

void exact_visit_touch(struct exact *x, struct exact_record *r, uint32_t id,
		       uint64_t bytes)
{
	struct visit v = find(x, r, id);

	if (!is_useless(&v) || !(v.block->fresh[v.i] & bytes))
		return;
	v.block->useless &= ~(1u << v.i);
	v.block->fresh[v.i] = 0;
	count_useless(x, r, &v, id, -1);
}

void exact_visit_stored(struct exact *x, struct exact_record *r, uint32_t id,
			uint64_t bytes)
{
	make(x, r, id);
	for (uint32_t n = r->visits; n; n = x->visits[n].next) {
		struct exact_visits *b = &x->visits[n];

		for (uint32_t i = 0; i < EXACT_BLOCK_VISITS; i++) {
			if (b->thread[i] == id + 1)
				continue;
			b->fresh[i] |= bytes;
			b->useless &= ~(1u << i);
		}
	}
	r->ever |= bytes;
}

bool exact_visit_open(const struct exact *x, const struct exact_record *r,
		      uint32_t id)
{
	struct visit v = find(x, r, id);

	return is_useless(&v);
}

static uint32_t log_of(const struct exact_record *r)
{
	return atomic_load_explicit(&r->log, memory_order_relaxed);
}

/* Returns 0 if there is none left. */
static uint32_t take_log(struct exact *x)
{
	uint32_t n = atomic_load_explicit(&x->logs_used, memory_order_relaxed);

	if (n >= x->logs_max)
		return 0;
	n = atomic_fetch_add_explicit(&x->logs_used, 1, memory_order_relaxed);
	if (n >= x->logs_max)
		return 0;
	line_log_begin(&x->log[n], x->window, n);
	return n + 1;
}

void exact_log_transfer(struct exact *x, struct exact_record *r)
{
	uint64_t transfers =
		atomic_load_explicit(&r->transfers, memory_order_relaxed);

	if (transfers < LINE_LOG_FIRST)
		return;
	if (!log_of(r))
		atomic_store_explicit(&r->log, take_log(x),
				      memory_order_relaxed);
	if (log_of(r))
		line_log_transfer(&x->log[log_of(r) - 1], transfers);
}

struct line_log *exact_log_open(const struct exact *x,
				const struct exact_record *r)
{
	struct line_log *log;

	if (!log_of(r))
		return NULL;
	log = &x->log[log_of(r) - 1];
	return log->open ? log : NULL;
}
