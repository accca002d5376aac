/* SPDX-License-Identifier: MIT */
/*
 * sampled - the access that a hardware sample reports
 */
#include <errno.h>
#include <stdbool.h>

#include "decode.h"
#include "sampled.h"
#include "src/base/signal_safe.h"

static bool is_implicit(const struct mem_operand *m)
{
	return m->kind == MEM_STACK_PUSH || m->kind == MEM_STACK_POP;
}

/*
 * Find the operand with an access of kind @wanted. There can be two only if
 * one is the stack, as in push and pop of memory or call through memory; the
 * explicit operand then has precedence.
 */
static const struct mem_operand *find_operand(const struct insn *insn,
					      uint32_t wanted)
{
	const struct mem_operand *found = NULL;

	for (int i = 0; i < insn->mems; i++) {
		const struct mem_operand *m = &insn->mem[i];

		if (!(m->rw & wanted) || m->kind == MEM_ADDRESS)
			continue;
		if (!found || is_implicit(found))
			found = m;
	}
	return found;
}

int decode_sampled(const struct memory *mem, uint64_t ip, uint64_t addr,
		   uint32_t wanted, uint32_t len, struct access *a)
{
	const struct mem_operand *m;
	const struct insn *insn;
	struct insn scratch;
	int error = 0;

	*a = (struct access){
		.addr = addr,
		.ip = ip,
		.len = len ? len : 1,
		.flags = wanted,
	};
	insn = decode_at(mem, ip, &scratch, &error);
	if (!insn)
		return error;
	m = find_operand(insn, wanted);
	if (!m)
		return -ENOENT;
	if (!len && m->bytes)
		a->len = m->bytes;
	if (wanted & ACCESS_STORE) {
		a->flags |= m->rw & ACCESS_LOAD;
		a->flags |= insn->flags & INSN_LOCKED ? ACCESS_LOCKED : 0;
	}
	if (is_implicit(m))
		a->flags |= ACCESS_IMPLICIT;
	return 0;
}
