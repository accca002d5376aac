/* SPDX-License-Identifier: MIT */
/*
 * no_vectors - the interpreter without its vector arithmetic
 *
 * Linked with --wrap=interp_vector_handler into a copy of a test program or of
 * the library (ablate_vectors.sh), it takes the place of the table of vector
 * instructions: what is left out makes its results unknown. The variable
 * NO_VECTORS says what:
 *
 *	arithmetic  all but moves, extracts, inserts and masked moves (move.c)
 *	all         every instruction on vector or mask registers
 */
#include <stdlib.h>
#include <string.h>

#include "src/x86/interp/move.h"
#include "src/x86/interp/operand.h"
#include "src/x86/interp/table_vector.h"

step_fn *__real_interp_vector_handler(const struct insn *insn);
step_fn *__wrap_interp_vector_handler(const struct insn *insn);

static enum {
	NOTHING,
	ARITHMETIC,
	ALL
} left_out;

__attribute__((constructor(101))) static void read_setting(void)
{
	const char *what = getenv("NO_VECTORS");

	if (what && !strcmp(what, "arithmetic"))
		left_out = ARITHMETIC;
	else if (what && !strcmp(what, "all"))
		left_out = ALL;
	else if (what && *what)
		abort();
}

static bool is_move(step_fn *f)
{
	static step_fn *const moves[] = {
		step_vec_move,   step_vec_low,           step_vec_scalar_move,
		step_vec_half,   step_vec_extract,       step_vec_insert,
		step_vec_signs,  step_vec_test,          step_vec_zero,
		step_vec_masked, step_vec_maskmov_bytes, step_ldmxcsr,
	};

	for (unsigned i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i] == f)
			return true;
	return false;
}

step_fn *__wrap_interp_vector_handler(const struct insn *insn)
{
	step_fn *f = __real_interp_vector_handler(insn);

	if (left_out == ALL || (left_out == ARITHMETIC && !is_move(f)))
		return step_unknown;
	return f;
}
