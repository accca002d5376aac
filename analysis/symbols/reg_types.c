/* SPDX-License-Identifier: MIT */
/*
 * reg_types - what the registers of a function point to
 *
 * The function's instructions are decoded once; a work list carries the types
 * of the registers from each instruction to those that may follow it. What was
 * found for the last functions is kept.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "reg_types.h"
#include "reg_types_internal.h"
#include "analysis/base/util.h"

enum {
	FUNCTION_BYTES_MAX = 1 << 16,
	FUNCTIONS_KEPT = 64,
	VISITS = 12,           /* of each instruction, on average, at most */
	APPLIED_MAX = 1 << 20, /* seeds at instructions */
};

struct function {
	uint64_t start, end;
	struct insn *insn;
	struct regs *in; /* before each instruction that was reached */
	bool *reached, *waits;
	size_t insns;
	struct seed *seed;
	size_t seeds;
	/* The seeds that hold at instruction i: from first[i] to first[i+1]. */
	uint32_t *first, *holds;
};

struct reg_types {
	struct reg_types_file file;
	struct function kept[FUNCTIONS_KEPT];
	size_t next; /* to be replaced */
};

static void function_release(struct function *f)
{
	free(f->insn);
	free(f->in);
	free(f->reached);
	free(f->waits);
	free(f->seed);
	free(f->first);
	free(f->holds);
	memset(f, 0, sizeof(*f));
}

struct reg_types *reg_types_new(const struct reg_types_file *file)
{
	struct reg_types *r = xcalloc(1, sizeof(*r));

	r->file = *file;
	return r;
}

void reg_types_free(struct reg_types *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < FUNCTIONS_KEPT; i++)
		function_release(&r->kept[i]);
	free(r);
}

/* The contiguous code around @ip that belongs to its function. */
static bool find_range(struct reg_types *r, uint64_t ip, Dwarf_Die *die,
		       struct function *f)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!dwarf_code_function(r->file.code, ip, die))
		return false;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start <= ip && ip < end) {
			f->start = start;
			f->end = end;
			return end - start <= FUNCTION_BYTES_MAX;
		}
	return false;
}

static bool decode(struct reg_types *r, struct function *f)
{
	size_t bytes = f->end - f->start, room = 0;
	const uint8_t *code = r->file.bytes(r->file.ctx, f->start, bytes);
	struct insn insn;

	if (!code)
		return false;
	for (size_t at = 0; at < bytes; at += insn.len) {
		if (decode_bytes(code + at, bytes - at, f->start + at, &insn))
			return f->insns > 0;
		f->insn = grow(f->insn, f->insns, &room, sizeof(*f->insn));
		f->insn[f->insns++] = insn;
	}
	return f->insns > 0;
}

static size_t index_after(const struct function *f, uint64_t ip)
{
	size_t low = 0, high = f->insns;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->insn[mid].ip < ip)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The number of the instruction at @ip, or insns. */
static size_t number_of(const struct function *f, uint64_t ip)
{
	size_t i = index_after(f, ip);

	return i < f->insns && f->insn[i].ip == ip ? i : f->insns;
}

/* Find which seeds hold at which instruction. */
static void index_seeds(struct function *f)
{
	size_t total = 0, n = 0;

	for (; n < f->seeds && total < APPLIED_MAX; n++)
		total += index_after(f, f->seed[n].end) -
			 index_after(f, f->seed[n].start);
	f->first = xcalloc(f->insns + 1, sizeof(*f->first));
	f->holds = xcalloc(total, sizeof(*f->holds));
	for (size_t i = 0; i < n; i++)
		for (size_t k = index_after(f, f->seed[i].start);
		     k < index_after(f, f->seed[i].end); k++)
			f->first[k + 1]++;
	for (size_t i = 0; i < f->insns; i++)
		f->first[i + 1] += f->first[i];
	/* From the last on, so that first[] ends where it should begin. */
	for (size_t i = n; i--;)
		for (size_t k = index_after(f, f->seed[i].start);
		     k < index_after(f, f->seed[i].end); k++)
			f->holds[--f->first[k + 1]] = i;
	memmove(f->first, f->first + 1, f->insns * sizeof(*f->first));
	f->first[f->insns] = total;
}

/*
 * True if the register points into a larger object that has @new's as a part:
 * the larger one tells more. So is the object that a method was inlined for.
 */
static bool is_part(struct dwarf_types *t, const struct reg_value *old,
		    const struct reg_value *new)
{
	int64_t size, at;

	if (!reg_value_is_place(old) || old->type == new->type ||
	    __builtin_sub_overflow(old->at, new->at, &at))
		return false;
	size = (int64_t)old->type->size;
	if (size <= 0)
		return false;
	at = (at % size + size) % size;
	return dwarf_types_holds(t, old->type, (uint64_t)at, new->type);
}

/*
 * Add the seeds of instruction @i to @m. DWARF knows better than we do; of its
 * ranges, the narrower one counts.
 */
static void apply_seeds(struct reg_types *r, const struct function *f, size_t i,
			struct moment *m)
{
	m->seed = f->seed;
	m->holds = &f->holds[f->first[i]];
	m->n = f->first[i + 1] - f->first[i];
	for (size_t k = 0; k < m->n; k++) {
		const struct seed *s = &f->seed[m->holds[k]];
		struct reg_value *v = &m->regs.r[s->reg % GPRS];

		/* An address in the frame leads to the variables there. */
		if (!s->in_memory && v->type != &reg_value_frame &&
		    !is_part(r->file.types, v, &s->value))
			*v = s->value;
	}
}

static void know_nothing(struct moment *m)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < GPRS; i++)
		m->regs.r[i] = reg_value_any();
}

/* The number of an unknown number: that of an instruction, or of a register. */
static uint32_t unknown_of(const struct function *f, size_t to, int reg)
{
	return (uint32_t)(1 + f->insns + GPRS * to + (size_t)reg);
}

/* Where ways meet, a register that is not known is a number of its own. */
static struct reg_value meet_one(const struct function *f, size_t to, int reg,
				 struct reg_value old, struct reg_value new)
{
	uint32_t own = unknown_of(f, to, 0);

	/* What was such a number before is not the same any more. */
	if (new.unknown >= own &&new.unknown < own + GPRS)
		new.unknown = 0;
	if (old.unknown >= own && old.unknown < own + GPRS &&
	    old.unknown != own + (uint32_t)reg)
		old.unknown = 0;
	old = reg_value_either(old, new);
	if (!old.type && old.stride == 1 && !old.unknown)
		old = (struct reg_value){ .stride = 1,
					  .unknown = own + (uint32_t)reg };
	return old;
}

/* Keep what holds on all ways. True if @to lost something, or was new. */
static bool meet(struct function *f, struct spills *spills, size_t to,
		 const struct moment *from)
{
	struct regs *in = &f->in[to];
	bool changed;

	if (!f->reached[to]) {
		f->reached[to] = true;
		*in = from->regs;
		spills[to] = from->spills;
		return true;
	}
	changed = spills_meet(&spills[to], &from->spills);
	for (int i = 0; i < GPRS; i++) {
		struct reg_value v =
			meet_one(f, to, i, in->r[i], from->regs.r[i]);

		changed |= !reg_value_same(&v, &in->r[i]);
		in->r[i] = v;
	}
	return changed;
}

struct work {
	uint32_t *todo;
	size_t n, room;
	struct spills *spills; /* before each instruction */
};

static void pass_on(struct function *f, struct work *w, size_t to,
		    const struct moment *m)
{
	if (to >= f->insns || !meet(f, w->spills, to, m) || f->waits[to])
		return;
	f->waits[to] = true;
	w->todo = grow(w->todo, w->n, &w->room, sizeof(*w->todo));
	w->todo[w->n++] = to;
}

/* Follow all ways from the first instruction on, as far as @h is known. */
static void track(struct reg_types *r, struct function *f, bool entered,
		  struct habits *h)
{
	size_t budget = VISITS * f->insns;
	struct work w = { .n = 0 };
	struct moment m;

	memset(f->reached, 0, f->insns);
	w.spills = xcalloc(f->insns, sizeof(*w.spills));
	know_nothing(&m);
	if (entered)
		m.regs.r[GPR_RSP] = reg_value_pointer(&reg_value_frame, -8);
	pass_on(f, &w, 0, &m);
	while (w.n && budget--) {
		size_t i = w.todo[--w.n];
		const struct insn *insn = &f->insn[i];

		f->waits[i] = false;
		m.regs = f->in[i];
		m.spills = w.spills[i];
		apply_seeds(r, f, i, &m);
		reg_types_step(&r->file, insn, (uint32_t)i + 1, h, &m);
		if (insn->flow == FLOW_JUMP || insn->flow == FLOW_COND)
			pass_on(f, &w, number_of(f, insn->imm), &m);
		if (insn->flow != FLOW_JUMP && insn->flow != FLOW_RET)
			pass_on(f, &w, i + 1, &m);
	}
	/* Unfinished, some of it may hold on one way only. */
	if (w.n)
		memset(f->reached, 0, f->insns);
	free(w.todo);
	free(w.spills);
}

/* True if callers enter the code at its first instruction. */
static bool is_entered(Dwarf_Die *die, const struct function *f)
{
	Dwarf_Addr entry;

	return !dwarf_entrypc(die, &entry) && entry == f->start;
}

/* No register keeps its value over a call. */
static bool is_go(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) == DW_LANG_Go;
}

/* Track the function around @ip; NULL if it is not known. */
static struct function *function_at(struct reg_types *r, uint64_t ip)
{
	struct function *f, found = { .start = 0 };
	struct habits habits = { .takens = 0 };
	Dwarf_Die die;

	for (size_t i = 0; i < FUNCTIONS_KEPT; i++)
		if (ip >= r->kept[i].start && ip < r->kept[i].end)
			return &r->kept[i];
	if (!find_range(r, ip, &die, &found) || !decode(r, &found)) {
		function_release(&found);
		return NULL;
	}
	found.in = xcalloc(found.insns, sizeof(*found.in));
	found.reached = xcalloc(found.insns, sizeof(*found.reached));
	found.waits = xcalloc(found.insns, sizeof(*found.waits));
	found.seed = reg_types_seeds(r->file.types, &die, found.start,
				     found.end, &found.seeds);
	index_seeds(&found);
	/* The first time shows which places of the frame are taken. */
	habits.calls_keep_nothing = is_go(&die);
	track(r, &found, is_entered(&die, &found), &habits);
	memset(found.waits, 0, found.insns);
	track(r, &found, is_entered(&die, &found), &habits);
	f = &r->kept[r->next++ % FUNCTIONS_KEPT];
	function_release(f);
	*f = found;
	return f;
}

bool reg_types_access(struct reg_types *r, uint64_t ip, struct typed_place *out)
{
	const struct function *f = function_at(r, ip);
	const struct mem_operand *mem = NULL;
	const struct insn *insn;
	struct moment m;
	size_t i = f ? number_of(f, ip) : 0;

	if (!f || i == f->insns)
		return false;
	insn = &f->insn[i];
	for (int k = 0; k < insn->mems; k++) {
		if (!insn->mem[k].rw || insn->mem[k].kind == MEM_STACK_PUSH ||
		    insn->mem[k].kind == MEM_STACK_POP)
			continue;
		if (mem)
			return false;
		mem = &insn->mem[k];
	}
	if (!mem || mem->kind == MEM_VSIB || mem->kind == MEM_OPAQUE)
		return false;
	know_nothing(&m);
	if (f->reached[i])
		m.regs = f->in[i];
	apply_seeds(r, f, i, &m);
	return reg_types_place(&r->file, mem, &m, out);
}
