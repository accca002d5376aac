/* SPDX-License-Identifier: MIT */
/*
 * cfi - what .eh_frame says of the frame at an instruction
 */
#include <errno.h>
#include <string.h>

#include "cfi.h"
#include "dwarf.h"

#include "src/base/signal_safe.h"

enum {
	HDR_VERSION = 1,
	ENTRY_BYTES = 8,
	ENTRIES_AT_ONCE = 16, /* near the end of a search, one fetch has all */
	AUGMENTATION_MAX = 8,
	EXTENDED_LENGTH = 0xfffffff0u, /* and above: none below 4 GiB has it */
	PROGRAM_BYTES_MAX = 1 << 20,
	EXPRESSION_BYTES_MAX = 1024,
};

/* A FDE and its CIE, as far as they are needed. */
struct entry {
	uint64_t start, end; /* code */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool signal;
	uint64_t fde;
	struct walk common, own; /* the programs of CIE and FDE */
};

struct table {
	uint64_t hdr, entries, count;
};

/* The sorted table of @module's .eh_frame_hdr. */
static int open_table(struct reader *r, const struct unwind_module *module,
		      struct table *t)
{
	struct walk w = walk_from(r, module->index, 64);
	uint8_t version, frame, count, entry;

	version = (uint8_t)walk_fixed(&w, 1);
	frame = (uint8_t)walk_fixed(&w, 1);
	count = (uint8_t)walk_fixed(&w, 1);
	entry = (uint8_t)walk_fixed(&w, 1);
	walk_pointer(&w, frame, false);
	if (w.spent || version != HDR_VERSION ||
	    entry != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return -ENOENT;
	t->hdr = module->index;
	t->count = walk_pointer(&w, count, true);
	t->entries = w.at;
	return w.spent || !t->count || t->count > UINT32_MAX ? -ENOENT : 0;
}

struct table_entry {
	int32_t code, fde; /* from the header on */
};

/* The last function that begins at @pc or before; -ENOENT: none does. */
static int search(struct reader *r, const struct table *t, uint64_t pc,
		  uint64_t *fde)
{
	uint64_t low = 0, high = t->count;
	struct table_entry e = { 0, 0 }, last = { 0, 0 };
	bool found = false;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		/* So that the fetch has the entries that are left. */
		if (high - low <= ENTRIES_AT_ONCE &&
		    reader_copy(r, t->entries + low * ENTRY_BYTES, &e,
				sizeof(e)))
			return -ENOENT;
		if (reader_copy(r, t->entries + mid * ENTRY_BYTES, &e,
				sizeof(e)))
			return -ENOENT;
		if (t->hdr + (uint64_t)(int64_t)e.code <= pc) {
			last = e;
			found = true;
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	*fde = t->hdr + (uint64_t)(int64_t)last.fde;
	return found ? 0 : -ENOENT;
}

/* Length and id of the entry at @at; the walk is then over what follows. */
static uint32_t open_entry(struct reader *r, uint64_t at, struct walk *w)
{
	uint32_t length;

	*w = walk_from(r, at, 4);
	length = (uint32_t)walk_fixed(w, 4);
	if (!length || length >= EXTENDED_LENGTH ||
	    length > PROGRAM_BYTES_MAX || w->at + length < w->at)
		w->spent = true;
	w->end = w->at + length;
	return (uint32_t)walk_fixed(w, 4);
}

/* The data of a CIE that its augmentation string announces. */
static void read_augmentation(struct walk *w, const char *letters,
			      struct entry *e)
{
	uint64_t bytes = walk_uleb(w), begin = w->at;
	uint8_t encoding;

	for (const char *c = letters; *c; c++) {
		if (*c == 'R') {
			e->encoding = (uint8_t)walk_fixed(w, 1);
		} else if (*c == 'P') {
			encoding = (uint8_t)walk_fixed(w, 1);
			walk_pointer(w, encoding, false);
		} else if (*c == 'L') {
			walk_fixed(w, 1);
		} else if (*c == 'S') {
			e->signal = true;
		} else if (*c != 'B') {
			break; /* what it means for the frame is not known */
		}
	}
	if (w->at - begin > bytes)
		w->spent = true;
	w->at = begin;
	walk_skip(w, bytes);
}

static int read_cie(struct reader *r, uint64_t at, struct entry *e,
		    bool *augmented)
{
	char letters[AUGMENTATION_MAX + 1] = "";
	struct walk w;
	uint32_t id = open_entry(r, at, &w);
	uint8_t version = (uint8_t)walk_fixed(&w, 1);
	uint64_t column;
	int n = 0;

	for (char c; (c = (char)walk_fixed(&w, 1)); n++) {
		if (n == AUGMENTATION_MAX)
			return -EINVAL;
		letters[n] = c;
	}
	e->code_align = walk_uleb(&w);
	e->data_align = walk_sleb(&w);
	column = version == 1 ? walk_fixed(&w, 1) : walk_uleb(&w);
	*augmented = letters[0] == 'z';
	if (w.spent || id || (version != 1 && version != 3) ||
	    column != FRAME_PC || (letters[0] && !*augmented))
		return -EINVAL;
	if (*augmented)
		read_augmentation(&w, letters + 1, e);
	e->common = w;
	return w.spent ? -EINVAL : 0;
}

static int read_fde(struct reader *r, uint64_t at, struct entry *e)
{
	struct walk w;
	uint32_t to_cie = open_entry(r, at, &w);
	bool augmented;

	memset(e, 0, sizeof(*e));
	e->fde = at;
	if (w.spent || !to_cie || read_cie(r, at + 4 - to_cie, e, &augmented))
		return -EINVAL;
	e->start = walk_pointer(&w, e->encoding, true);
	e->end = e->start + walk_pointer(&w, e->encoding & DW_EH_PE_FORM, true);
	if (augmented)
		walk_skip(&w, walk_uleb(&w));
	e->own = w;
	return w.spent ? -EINVAL : 0;
}

/* A program of call frame instructions on its way. */
struct run {
	struct entry *e;
	struct walk *code;
	uint64_t pc, at; /* of the row; rows behind pc are not wanted */
	unsigned steps;  /* left */
	struct cfi_row *row;
	const struct cfi_where *initial; /* registers after the CIE's program */
	struct cfi_where kept[CFI_REMEMBERED_MAX][UNWIND_REGISTERS + 1];
	unsigned depth;
	bool bad;
};

static void set(struct run *s, uint64_t reg, enum cfi_rule rule, int64_t value)
{
	if (value != (int32_t)value) {
		s->bad = true;
	} else if (reg < UNWIND_REGISTERS) {
		s->row->reg[reg] =
			(struct cfi_where){ .rule = (uint8_t)rule,
					    .value = (int32_t)value };
	} /* vectors are not followed */
}

static void set_factored(struct run *s, uint64_t reg, enum cfi_rule rule,
			 int64_t n)
{
	int64_t value;

	if (__builtin_mul_overflow(n, s->e->data_align, &value))
		s->bad = true;
	else
		set(s, reg, rule, value);
}

static void set_cfa(struct run *s, uint64_t reg, int64_t offset)
{
	struct cfi_where *cfa = &s->row->cfa;

	if (reg >= UNWIND_REGISTERS || offset != (int32_t)offset) {
		s->bad = true;
		return;
	}
	*cfa = (struct cfi_where){ .rule = RULE_VAL_OFFSET,
				   .base = (uint8_t)reg,
				   .value = (int32_t)offset };
}

/* Pass over an expression; its place from the FDE on. */
static int64_t expression(struct run *s)
{
	int64_t at = (int64_t)(s->code->at - s->e->fde);

	walk_skip(s->code, walk_uleb(s->code));
	return at;
}

static void restore(struct run *s, uint64_t reg)
{
	if (!s->initial)
		s->bad = true;
	else if (reg < UNWIND_REGISTERS)
		s->row->reg[reg] = s->initial[reg];
}

static void remember(struct run *s)
{
	if (s->depth == CFI_REMEMBERED_MAX) {
		s->bad = true;
		return;
	}
	memcpy(s->kept[s->depth], s->row->reg, sizeof(s->row->reg));
	s->kept[s->depth++][UNWIND_REGISTERS] = s->row->cfa;
}

static void recall(struct run *s)
{
	if (!s->depth) {
		s->bad = true;
		return;
	}
	memcpy(s->row->reg, s->kept[--s->depth], sizeof(s->row->reg));
	s->row->cfa = s->kept[s->depth][UNWIND_REGISTERS];
}

/* Instructions that change the CFA. False: @op is none. */
static bool change_cfa(struct run *s, uint8_t op)
{
	struct walk *c = s->code;
	uint64_t reg = s->row->cfa.base;
	int64_t offset = s->row->cfa.value;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = walk_uleb(c);
		set_cfa(s, reg, (int64_t)walk_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = walk_uleb(c);
		offset = walk_sleb(c);
		s->bad |= __builtin_mul_overflow(offset, s->e->data_align,
						 &offset);
		set_cfa(s, reg, offset);
		return true;
	case DW_CFA_def_cfa_register:
		s->bad |= s->row->cfa.rule != RULE_VAL_OFFSET;
		set_cfa(s, walk_uleb(c), offset);
		return true;
	case DW_CFA_def_cfa_offset:
		s->bad |= s->row->cfa.rule != RULE_VAL_OFFSET;
		set_cfa(s, reg, (int64_t)walk_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		s->bad |= s->row->cfa.rule != RULE_VAL_OFFSET;
		offset = walk_sleb(c);
		s->bad |= __builtin_mul_overflow(offset, s->e->data_align,
						 &offset);
		set_cfa(s, reg, offset);
		return true;
	case DW_CFA_def_cfa_expression:
		offset = expression(s);
		s->bad |= offset != (int32_t)offset;
		s->row->cfa = (struct cfi_where){ .rule = RULE_VAL_EXPRESSION,
						  .value = (int32_t)offset };
		return true;
	default:
		return false;
	}
}

/* Instructions that change a register's rule. False: @op is none. */
static bool change_register(struct run *s, uint8_t op)
{
	struct walk *c = s->code;
	uint64_t reg;

	if (op < DW_CFA_offset_extended ||
	    (op > DW_CFA_register && op < DW_CFA_expression) ||
	    (op > DW_CFA_val_expression &&
	     op != DW_CFA_GNU_negative_offset_extended))
		return false;
	reg = walk_uleb(c);
	switch (op) {
	case DW_CFA_offset_extended:
		set_factored(s, reg, RULE_OFFSET, (int64_t)walk_uleb(c));
		return true;
	case DW_CFA_offset_extended_sf:
		set_factored(s, reg, RULE_OFFSET, walk_sleb(c));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_factored(s, reg, RULE_OFFSET, -(int64_t)walk_uleb(c));
		return true;
	case DW_CFA_val_offset:
		set_factored(s, reg, RULE_VAL_OFFSET, (int64_t)walk_uleb(c));
		return true;
	case DW_CFA_val_offset_sf:
		set_factored(s, reg, RULE_VAL_OFFSET, walk_sleb(c));
		return true;
	case DW_CFA_restore_extended:
		restore(s, reg);
		return true;
	case DW_CFA_undefined:
		set(s, reg, RULE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set(s, reg, RULE_SAME, 0);
		return true;
	case DW_CFA_register:
		set(s, reg, RULE_REGISTER, (int64_t)walk_uleb(c));
		return true;
	case DW_CFA_expression:
		set(s, reg, RULE_EXPRESSION, expression(s));
		return true;
	case DW_CFA_val_expression:
		set(s, reg, RULE_VAL_EXPRESSION, expression(s));
		return true;
	default:
		return false;
	}
}

/* One instruction. False at one that begins a row behind pc. */
static bool step(struct run *s)
{
	struct walk *c = s->code;
	uint8_t op = (uint8_t)walk_fixed(c, 1), low = op & 0x3f;
	uint64_t by = 0;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		by = low;
		goto advance;
	case DW_CFA_offset:
		set_factored(s, low, RULE_OFFSET, (int64_t)walk_uleb(c));
		return true;
	case DW_CFA_restore:
		restore(s, low);
		return true;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		s->at = walk_pointer(c, s->e->encoding, true);
		return s->at <= s->pc;
	case DW_CFA_advance_loc1:
		by = walk_fixed(c, 1);
		break;
	case DW_CFA_advance_loc2:
		by = walk_fixed(c, 2);
		break;
	case DW_CFA_advance_loc4:
		by = walk_fixed(c, 4);
		break;
	case DW_CFA_remember_state:
		remember(s);
		return true;
	case DW_CFA_restore_state:
		recall(s);
		return true;
	case DW_CFA_GNU_args_size:
		walk_uleb(c);
		return true;
	default:
		s->bad |= !change_cfa(s, op) && !change_register(s, op);
		return true;
	}
advance:
	s->at += by * s->e->code_align;
	return s->at <= s->pc;
}

static int run_program(struct run *s, struct walk *code)
{
	s->code = code;
	while (code->at < code->end && step(s) && !s->bad && !code->spent)
		if (!s->steps--)
			return -EINVAL;
	return s->bad || code->spent ? -EINVAL : 0;
}

static int find_row(struct entry *e, uint64_t pc, struct cfi_row *row)
{
	struct cfi_where initial[UNWIND_REGISTERS];
	struct run s;
	int err;

	s.e = e;
	s.pc = UINT64_MAX; /* the CIE's program has no places */
	s.at = e->start;
	s.steps = CFI_STEPS_MAX;
	s.row = row;
	s.initial = NULL;
	s.depth = 0;
	s.bad = false;
	err = run_program(&s, &e->common);
	if (err)
		return err;
	memcpy(initial, row->reg, sizeof(initial));
	s.initial = initial;
	s.pc = pc;
	s.at = e->start;
	return run_program(&s, &e->own);
}

int cfi_find(struct reader *reader, const struct unwind_module *module,
	     uint64_t pc, struct cfi_row *row)
{
	struct table t;
	struct entry e;
	uint64_t fde;
	int err;

	memset(row, 0, sizeof(*row));
	if (!module->index || open_table(reader, module, &t) ||
	    search(reader, &t, pc, &fde))
		return -ENOENT;
	err = read_fde(reader, fde, &e);
	if (err)
		return err;
	if (pc < e.start || pc >= e.end)
		return -ENOENT;
	row->signal = e.signal;
	row->fde = fde;
	row->start = e.start;
	err = find_row(&e, pc, row);
	if (err)
		return err;
	return row->cfa.rule == RULE_SAME ? -EINVAL : 0;
}

int cfi_function(struct reader *reader, uint64_t fde, uint64_t *start,
		 uint64_t *end)
{
	struct entry e;
	int err = read_fde(reader, fde, &e);

	*start = e.start;
	*end = e.end;
	return err;
}

struct walk cfi_expression(struct reader *reader, const struct cfi_row *row,
			   const struct cfi_where *where)
{
	uint64_t at = row->fde + (uint64_t)(int64_t)where->value;
	struct walk w =
		walk_from(reader, at, 10); /* the most that a length has */
	uint64_t bytes = walk_uleb(&w);

	if (bytes > EXPRESSION_BYTES_MAX)
		w.spent = true;
	w.end = w.at + bytes;
	return w;
}
