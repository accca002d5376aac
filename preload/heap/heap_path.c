/* SPDX-License-Identifier: MIT */
/*
 * heap_path - the calls that led to an allocation (record --objects on -g)
 */
#include <stdatomic.h>
#include <stddef.h>

#include "heap_path.h"
#include "recall.h"
#include "sites.h"
#include "src/base/loaded.h"
#include "src/unwind/cfi.h"
#include "src/base/signal_safe.h"

enum {
	ROW_BITS = 13,
	ROWS = 1 << ROW_BITS,
	WORD = 8,
	RULES_FETCH = 256,
};

/* The lower half of a row; the upper half is a part of the address's hash. */
#define ROW_VALID  (1u << 31)
#define ROW_BY_RBP (1u << 30)
enum {
	RBP_SHIFT = 15,
	FIELD_BITS = 15,
	FIELD_MAX = (1 << (FIELD_BITS - 1)) - 1,
	FIELD_MASK = (1 << FIELD_BITS) - 1,
};

static _Atomic uint64_t rows[ROWS];
static _Atomic uint64_t generation;        /* of the loaded libraries */
static const struct loaded_ranges *tables; /* that stay mapped */

extern loaded_find_function _dl_find_object __attribute__((weak));

static bool fits(int64_t value)
{
	return !(value % WORD) && value / WORD <= FIELD_MAX &&
	       value / WORD >= -FIELD_MAX;
}

static uint32_t field(int64_t value)
{
	return (uint32_t)(value / WORD) & FIELD_MASK;
}

static int64_t value_of(uint32_t field)
{
	return ((int64_t)((field & FIELD_MASK) ^ (1 << (FIELD_BITS - 1))) -
		(1 << (FIELD_BITS - 1))) *
	       WORD;
}

/* ROW_VALID alone: the path ends there. */
static uint32_t pack(const struct cfi_row *row)
{
	const struct cfi_where *rbp = &row->reg[FRAME_RBP];
	const struct cfi_where *pc = &row->reg[FRAME_PC];
	uint32_t base = row->cfa.base == FRAME_RBP ? ROW_BY_RBP : 0;
	bool saved = rbp->rule == RULE_OFFSET;

	if (row->cfa.rule != RULE_VAL_OFFSET || row->signal ||
	    (row->cfa.base != FRAME_RSP && row->cfa.base != FRAME_RBP) ||
	    pc->rule != RULE_OFFSET || pc->value != -WORD ||
	    (!saved && rbp->rule != RULE_SAME) || row->cfa.value <= 0 ||
	    !fits(row->cfa.value) || (saved && !fits(rbp->value)))
		return ROW_VALID;
	return ROW_VALID | base | (saved ? field(rbp->value) << RBP_SHIFT : 0) |
	       field(row->cfa.value);
}

__attribute__((noinline)) static uint32_t learn(uint64_t pc)
{
	const struct unwind_memory memory = { own_memory_read, NULL };
	struct unwind_module m = { 0 };
	struct reader reader;
	struct cfi_row row;
	struct loaded_object f;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &f) ||
	    !f.eh_frame)
		return ROW_VALID;
	m.low = (uint64_t)(uintptr_t)f.start;
	m.high = (uint64_t)(uintptr_t)f.end;
	m.index = (uint64_t)(uintptr_t)f.eh_frame;
	reader_begin(&reader, &memory, RULES_FETCH);
	reader_direct(&reader, tables, m.index);
	return cfi_find(&reader, &m, pc, &row) ? ROW_VALID : pack(&row);
}

/* The row for the call that returns to @address. */
static uint32_t row_of(uint64_t address, uint64_t now)
{
	uint64_t hash = (address + now) * 0x9E3779B97F4A7C15u;
	_Atomic uint64_t *slot = &rows[hash >> (64 - ROW_BITS)];
	uint64_t tag = hash << ROW_BITS >> 32 << 32;
	uint64_t was = atomic_load_explicit(slot, memory_order_relaxed);
	uint32_t row;

	if (was >> 32 << 32 == tag && (uint32_t)was)
		return (uint32_t)was;
	/* A call may be the last instruction of its function. */
	row = learn(address - 1);
	atomic_store_explicit(slot, tag | row, memory_order_relaxed);
	return row;
}

/*
 * Follow the calls from @p->address[0] on. Where the walk's steps depend on
 * nothing but the addresses and values of %rbp that it met, it can be recalled.
 */
static void walk(struct own_stack *s, const uint64_t *frame,
		 struct recall_path *p)
{
	uint64_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	uint64_t sp = (uint64_t)(uintptr_t)(frame + 2), rbp = frame[0];
	uint64_t rbp_at = (uint64_t)(uintptr_t)frame;

	p->calls = 1;
	while (p->calls < HEAP_PATH_MAX) {
		uint32_t row = row_of(p->address[p->calls - 1], now);
		uint64_t cfa, next;

		if (!(row & ~ROW_VALID))
			return;
		cfa = (row & ROW_BY_RBP ? rbp : sp) + (uint64_t)value_of(row);
		if (cfa <= sp || !own_stack_load(s, sp, cfa - WORD, &next) ||
		    !next) {
			p->lasting = false;
			return;
		}
		if (row & ROW_BY_RBP)
			recall_path_rbp(p, rbp_at, rbp);
		recall_path_call(p, cfa - WORD, next);
		if (row >> RBP_SHIFT & FIELD_MASK) {
			rbp_at = cfa + (uint64_t)value_of(row >> RBP_SHIFT);
			if (!own_stack_load(s, sp, rbp_at, &rbp)) {
				p->lasting = false;
				return;
			}
		}
		sp = cfa;
	}
}

uint32_t heap_path_site(struct own_stack *s, uint64_t caller,
			const uint64_t *frame)
{
	struct recall_path p;
	uint32_t site;

	recall_path_begin(&p, caller, frame);
	walk(s, frame, &p);
	site = sites_path(p.address, p.calls);
	if (s && site)
		recall_put(s, &p, site);
	return site;
}

void heap_path_use(const struct loaded_ranges *lasting)
{
	tables = lasting;
}

void heap_path_forget(void)
{
	atomic_fetch_add_explicit(&generation, UINT64_C(0x100000000000),
				  memory_order_relaxed);
	recall_forget();
}
