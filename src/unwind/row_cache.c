/* SPDX-License-Identifier: MIT */
/*
 * row_cache - rows of .eh_frame, remembered by instruction
 */
#include <stdatomic.h>
#include <string.h>

#include "row_cache.h"

#include "src/base/signal_safe.h"

enum {
	KEPT = 6,
	UNCHANGED = INT16_MIN,
	SAVED_PC = -8, /* where a call leaves it */
	SIGNAL = 1,
	FIRST = 2, /* nobody called it */
	ROWS_MAX = 1 << 20,
};

static const uint8_t kept[KEPT] = { FRAME_RBX, FRAME_RBP, 12, 13, 14, 15 };

/* What of a row the cache holds. */
struct packed {
	uint64_t pc, identity;
	int32_t cfa;
	uint8_t base, flags;
	int16_t saved[KEPT];
	uint8_t spare[6];
};

enum {
	WORDS = sizeof(struct packed) / sizeof(uint64_t),
};
_Static_assert(sizeof(struct packed) == WORDS * sizeof(uint64_t), "words");

/* Odd while it is being written. */
struct slot {
	_Alignas(64) _Atomic uint64_t sequence;
	_Atomic uint64_t word[WORDS];
};

struct row_cache {
	uint32_t rows;
	struct slot slot[];
};

size_t row_cache_size(uint32_t rows)
{
	if (!rows || rows & (rows - 1) || rows > ROWS_MAX)
		return 0;
	return sizeof(struct row_cache) + rows * sizeof(struct slot);
}

struct row_cache *row_cache_init(void *mem, uint32_t rows)
{
	struct row_cache *c = mem;

	c->rows = rows;
	return c;
}

static uint32_t slot_of(const struct row_cache *c, uint64_t pc)
{
	return (uint32_t)(pc * 0x9E3779B97F4A7C15u >> 32) & (c->rows - 1);
}

static bool pack(uint64_t pc, uint64_t identity, const struct cfi_row *row,
		 struct packed *p)
{
	const struct cfi_where *caller = &row->reg[FRAME_PC];

	memset(p, 0, sizeof(*p));
	if (row->cfa.rule != RULE_VAL_OFFSET)
		return false;
	p->pc = pc;
	p->identity = identity;
	p->cfa = row->cfa.value;
	p->base = row->cfa.base;
	if (caller->rule == RULE_UNDEFINED)
		p->flags = FIRST;
	else if (caller->rule != RULE_OFFSET || caller->value != SAVED_PC)
		return false;
	if (row->signal)
		p->flags |= SIGNAL;
	for (unsigned i = 0, k = 0; i < FRAME_PC; i++) {
		const struct cfi_where *w = &row->reg[i];
		bool mine = k < KEPT && kept[k] == i;

		if (w->rule != RULE_SAME &&
		    (!mine || w->rule != RULE_OFFSET ||
		     w->value != (int16_t)w->value || w->value == UNCHANGED))
			return false;
		if (mine)
			p->saved[k++] = w->rule == RULE_SAME
						? UNCHANGED
						: (int16_t)w->value;
	}
	return true;
}

static void unpack(const struct packed *p, struct cfi_row *row)
{
	memset(row, 0, sizeof(*row));
	row->cfa = (struct cfi_where){ .rule = RULE_VAL_OFFSET,
				       .base = p->base,
				       .value = p->cfa };
	row->signal = p->flags & SIGNAL;
	row->reg[FRAME_PC].rule =
		p->flags & FIRST ? RULE_UNDEFINED : RULE_OFFSET;
	row->reg[FRAME_PC].value = SAVED_PC;
	for (unsigned k = 0; k < KEPT; k++) {
		if (p->saved[k] == UNCHANGED)
			continue;
		row->reg[kept[k]].rule = RULE_OFFSET;
		row->reg[kept[k]].value = p->saved[k];
	}
}

bool row_cache_find(const struct row_cache *c, uint64_t pc, uint64_t identity,
		    struct cfi_row *row)
{
	const struct slot *s = &c->slot[slot_of(c, pc)];
	uint64_t word[WORDS], before;
	struct packed p;

	/* (A) pairs with (D): the words are those of this sequence. */
	before = atomic_load_explicit(&s->sequence, memory_order_acquire);
	for (int i = 0; i < WORDS; i++)
		word[i] =
			atomic_load_explicit(&s->word[i], memory_order_relaxed);
	/* (B) pairs with (C): a writer that changed them is seen. */
	atomic_thread_fence(memory_order_acquire);
	if (before & 1 ||
	    atomic_load_explicit(&s->sequence, memory_order_relaxed) != before)
		return false;
	memcpy(&p, word, sizeof(p));
	if (!before || p.pc != pc || p.identity != identity)
		return false;
	unpack(&p, row);
	return true;
}

void row_cache_put(struct row_cache *c, uint64_t pc, uint64_t identity,
		   const struct cfi_row *row)
{
	struct slot *s = &c->slot[slot_of(c, pc)];
	uint64_t word[WORDS], before;
	struct packed p;

	if (!pack(pc, identity, row, &p))
		return;
	memcpy(word, &p, sizeof(word));
	before = atomic_load_explicit(&s->sequence, memory_order_relaxed);
	if (before & 1 || !atomic_compare_exchange_strong_explicit(
				  &s->sequence, &before, before + 1,
				  memory_order_relaxed, memory_order_relaxed))
		return;
	/* (C) pairs with (B). */
	atomic_thread_fence(memory_order_release);
	for (int i = 0; i < WORDS; i++)
		atomic_store_explicit(&s->word[i], word[i],
				      memory_order_relaxed);
	/* (D) pairs with (A). */
	atomic_store_explicit(&s->sequence, before + 2, memory_order_release);
}
