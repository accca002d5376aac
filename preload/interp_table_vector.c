/* SPDX-License-Identifier: MIT */
#include "interp_steps.h"

#include "signal_safe.h"

step_fn *interp_vector_handler(const struct insn *insn)
{
	return step_unknown;
}
