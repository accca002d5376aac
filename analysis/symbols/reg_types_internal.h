/* SPDX-License-Identifier: MIT */
/*
 * reg_types_internal - what the files of reg_types share
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_REG_TYPES_INTERNAL_H
#define COMDET_ANALYSIS_SYMBOLS_REG_TYPES_INTERNAL_H

#include "reg_types.h"
#include "reg_value.h"
#include "src/x86/decode/cpu_state.h"
#include "src/x86/decode/decode.h"

enum {
	GPRS = 16,
	FRAME = GPRS, /* no register, but the value of rsp before the call */
	SPILLS_MAX = 24,
	TAKEN_MAX = 64,
};

/*
 * From @start to @end, DWARF says that @reg has @value; or, if @in_memory, that
 * a variable of value.type begins value.at bytes behind what @reg points to.
 */
struct seed {
	uint64_t start, end;
	uint8_t reg;
	bool in_memory;
	struct reg_value value;
};

/* A register that the function has put away at @at of its frame. */
struct spill {
	int64_t at;
	struct reg_value value;
};

struct spills {
	struct spill spill[SPILLS_MAX];
	size_t n;
};

/* In the order of instruction encoding. */
struct regs {
	struct reg_value r[GPRS];
};

/* What is known before an instruction. */
struct moment {
	struct regs regs;
	struct spills spills;
	/* The seeds that hold there: seed[holds[0]] to seed[holds[n - 1]] */
	const struct seed *seed;
	const uint32_t *holds;
	size_t n;
};

/* What the instructions of a function have in common. */
struct habits {
	bool calls_keep_nothing; /* no register but rsp and rbp */
	/* Where the frame has what other functions may write. */
	int64_t taken[TAKEN_MAX];
	size_t takens;
	bool all_taken;
};

/*
 * What DWARF says of the pointers in @function between @start and @end, ordered
 * by start; malloc'ed, *@n of them.
 */
struct seed *reg_types_seeds(struct dwarf_types *t, Dwarf_Die *function,
			     uint64_t start, uint64_t end, size_t *n);

/* Change @m, but not its seeds, as instruction number @i does. */
void reg_types_step(const struct reg_types_file *file, const struct insn *insn,
		    uint32_t i, struct habits *habits, struct moment *m);

/* What @mem is the address of. False if that is not known. */
bool reg_types_place(const struct reg_types_file *file,
		     const struct mem_operand *mem, const struct moment *m,
		     struct typed_place *out);

/* The variable at the place @v of the frame; a place in it, or any number. */
struct reg_value reg_types_in_frame(const struct moment *m, struct reg_value v);

/* The spilled value at @at of the frame; NULL: none. */
const struct reg_value *spills_find(const struct spills *s, int64_t at);
/* Forget what the @bytes at @at of the frame held; -1: of the whole frame. */
void spills_forget(struct spills *s, int64_t at, int bytes);
void spills_put(struct spills *s, int64_t at, const struct reg_value *v);
/* A function is called that may write to the places of @h. */
void spills_call(struct spills *s, const struct habits *h);
/* Keep what holds in both. True if @to lost something. */
bool spills_meet(struct spills *to, const struct spills *from);

#endif
