/* SPDX-License-Identifier: MIT */
/*
 * backdecode_trap - the access that hit a watchpoint
 *
 * The trap comes after the access. So the instruction is the one before the
 * program counter, or a call, return or jump through memory that led there, or
 * a repeated string instruction that is not finished. (A branch that accesses
 * no memory cannot have led there, because the trap would have come before
 * it.) There is an answer only if exactly one access explains the watched
 * bytes; the winner of the vote is tried first.
 */
#include <errno.h>
#include <string.h>

#include "accesses.h"
#include "backdecode_internal.h"
#include "decode.h"
#include "width.h"
#include "src/base/signal_safe.h"

/* The target of the call @insn executed with @cpu; false if not known. */
static bool call_target(const struct insn *insn, const struct cpu_state *cpu,
			const struct memory *mem, uint64_t *target)
{
	const struct operand *op = &insn->op[0];
	uint64_t addr;

	switch (insn->operands ? op->kind : OPERAND_NONE) {
	case OPERAND_IMM:
		*target = insn->imm;
		return true;
	case OPERAND_GPR:
		*target = cpu->gpr[op->reg];
		return true;
	case OPERAND_MEM:
		return !decode_address(insn, &insn->mem[op->reg], cpu, &addr) &&
		       !mem->read(mem->ctx, addr, target, sizeof(*target));
	default:
		return false;
	}
}

/* The watched bytes, and the access that explains the trap so far. */
struct search {
	uint64_t addr;
	uint32_t len;
	bool stores_only;
	uint32_t found; /* distinct explanations */
	struct access access;
};

static void explain(struct search *s, const struct access *a)
{
	struct access watched = { .addr = s->addr, .len = s->len };

	if (!access_overlaps(a, &watched) ||
	    (s->stores_only && !(a->flags & ACCESS_STORE)))
		return;
	if (s->found && s->access.addr == a->addr && s->access.len == a->len &&
	    s->access.flags == a->flags) {
		/* The longer one has a prefix, which is part of it. */
		s->access.ip = a->ip;
		return;
	}
	if (!s->found++)
		s->access = *a;
}

/* True if @insn loads a general register; *@sign if it extends the sign. */
static bool plain_load(const struct insn *insn, bool *sign)
{
	const uint8_t *b = insn->bytes, *end = b + insn->len;

	if (insn->mems != 1 || insn->mem[0].kind != MEM_PLAIN ||
	    insn->operands != 2 || insn->op[0].kind != OPERAND_GPR ||
	    insn->op[0].bytes < 4)
		return false;
	while (b < end && (*b == 0x66 || *b == 0x64 || *b == 0x65 ||
			   *b == 0x2e || *b == 0x3e || (*b & 0xf0) == 0x40))
		b++;
	if (b < end && *b == 0x0f && ++b < end) {
		*sign = *b >= 0xbe;
		return *b == 0xb6 || *b == 0xb7 || *b == 0xbe || *b == 0xbf;
	}
	*sign = *b == 0x63;
	return *b == 0x8b || *b == 0x63;
}

/* Possible addresses differ by a multiple of this, the scale of @reg. */
static uint64_t address_step(const struct mem_operand *m, uint32_t reg)
{
	if (m->index != reg)
		return 1;
	if (m->base != reg)
		return m->scale;
	return m->scale == 1 ? 2 : 1;
}

/* True if the watched word is a pointer to the current program counter. */
static bool leads_here(const struct search *s, const struct cpu_state *cpu,
		       const struct memory *mem)
{
	uint64_t word;

	return !mem->read(mem->ctx, s->addr & ~7ull, &word, sizeof(word)) &&
	       word == cpu->rip;
}

/*
 * A load may overwrite a register of its own address, as mov rax, [rax] does.
 * The watched bytes leave few possible addresses, and the scale of an index
 * fewer. If exactly one of them holds the value that was loaded, that is the
 * address; if several do, only the instruction is known. Alignment does not
 * help to choose, as compressors compare words at any address.
 */
enum chase {
	CHASE_NONE,
	CHASE_TOLD,
	CHASE_SOMEWHERE
};

static enum chase chase(const struct search *s, const struct insn *insn,
			const struct cpu_state *cpu, const struct memory *mem,
			struct access *a)
{
	const struct mem_operand *m = &insn->mem[0];
	uint32_t dest = insn->op[0].reg, len = m->bytes;
	uint32_t size = s->len + 2 * (len - 1), matches = 0;
	uint64_t low = s->addr - (len - 1), rest, v, match = 0;
	uint64_t step = address_step(m, dest);
	struct cpu_state others = *cpu;
	uint8_t bytes[64];
	bool sign;

	if (!plain_load(insn, &sign) || size > sizeof(bytes) ||
	    s->stores_only || insn->flags & INSN_ADDRESS32 ||
	    leads_here(s, cpu, mem))
		return CHASE_NONE;
	others.gpr[dest] = 0;
	if (decode_address(insn, m, &others, &rest) ||
	    mem->read(mem->ctx, low, bytes, size))
		return CHASE_NONE;
	for (uint32_t i = 0; i + len <= size; i++) {
		if ((low + i - rest) % step)
			continue;
		v = 0;
		memcpy(&v, bytes + i, len);
		if (sign)
			v = sign_extend(v, len);
		if (insn->op[0].bytes == 4)
			v = (uint32_t)v;
		if (v == cpu->gpr[dest]) {
			matches++;
			match = low + i;
		}
	}
	*a = (struct access){
		.addr = match, .ip = insn->ip, .len = len, .flags = ACCESS_LOAD
	};
	if (matches == 1)
		return CHASE_TOLD;
	a->addr = s->addr;
	a->len = s->len;
	return matches ? CHASE_SOMEWHERE : CHASE_NONE;
}

/* Try @insn, which ends at the program counter or still repeats there. */
static void try_instruction(struct search *s, const struct insn *insn,
			    const struct cpu_state *cpu)
{
	struct access all[DECODE_ACCESSES_MAX];
	int n = backdecode_accesses(insn, cpu, all);

	for (int i = 0; i < n; i++)
		explain(s, &all[i]);
}

/* A call led to @target: try whether that jumps through memory to here. */
static void try_jump(struct search *s, uint64_t target,
		     const struct cpu_state *cpu, const struct memory *mem)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct access all[DECODE_ACCESSES_MAX];
	const struct insn *insn;
	struct insn scratch;
	uint64_t there;
	int err;

	insn = decode_at(mem, target, &scratch, &err);
	if (insn && !memcmp(insn->bytes, endbr64, sizeof(endbr64)))
		insn = decode_at(mem, target + insn->len, &scratch, &err);
	if (!insn || insn->flow != FLOW_JUMP || insn->mems != 1 ||
	    decode_accesses(insn, cpu, all) != 1 ||
	    mem->read(mem->ctx, all[0].addr, &there, sizeof(there)) ||
	    there != cpu->rip)
		return;
	explain(s, &all[0]);
}

/*
 * If the thread arrived by a call, the return address is on top of the stack.
 * The call may have led to a jump through memory, as in calls to other
 * libraries.
 */
static void try_call(struct search *s, const struct cpu_state *cpu,
		     const struct memory *mem)
{
	struct access all[DECODE_ACCESSES_MAX];
	struct cpu_state before = *cpu;
	struct insn insn;
	struct code_before code;
	uint64_t back, target;
	int n;

	if (mem->read(mem->ctx, cpu->gpr[GPR_RSP], &back, sizeof(back)))
		return;
	backdecode_read(mem, back, &code);
	before.gpr[GPR_RSP] += sizeof(back);
	for (uint32_t length = 2; length <= 8 && length <= code.have;
	     length++) {
		if (backdecode_at(&code, length, &insn) || insn.len != length ||
		    insn.flow != FLOW_CALL)
			continue;
		if (!call_target(&insn, &before, mem, &target))
			continue;
		if (target != cpu->rip) {
			try_jump(s, target, cpu, mem);
			continue;
		}
		n = decode_accesses(&insn, &before, all);
		for (int i = 0; i < n; i++)
			explain(s, &all[i]);
		/*
		 * A longer call that ends here has bytes of the instruction
		 * before as its prefix: do not look for one.
		 */
		return;
	}
}

/*
 * If the thread arrived by a return, the word below the stack pointer holds
 * the program counter, and a call ends there. The call's address is given in
 * place of the return's, which is not known.
 */
static void try_return(struct search *s, const struct cpu_state *cpu,
		       const struct memory *mem, const struct code_before *code)
{
	struct access a = { .addr = cpu->gpr[GPR_RSP] - 8,
			    .len = 8,
			    .flags = ACCESS_LOAD | ACCESS_IMPLICIT };
	struct insn insn;
	uint64_t word;

	if (s->stores_only ||
	    mem->read(mem->ctx, a.addr, &word, sizeof(word)) ||
	    word != cpu->rip)
		return;
	for (uint32_t length = 2; length <= 8 && length <= code->have;
	     length++) {
		if (backdecode_at(code, length, &insn) || insn.len != length ||
		    insn.flow != FLOW_CALL)
			continue;
		a.ip = insn.ip;
		explain(s, &a);
		return;
	}
}

int backdecode_trapped(const struct cpu_state *cpu, const struct memory *mem,
		       uint64_t addr, uint32_t len, bool stores_only,
		       struct access *a)
{
	struct search s = { .addr = addr,
			    .len = len,
			    .stores_only = stores_only };
	const struct insn *next;
	struct insn insn;
	struct code_before code;
	struct access load;
	enum chase chased = CHASE_NONE;
	bool targeted;
	uint32_t length;
	int err;

	backdecode_read(mem, cpu->rip, &code);
	length = backdecode_previous(mem, &code, &targeted);
	/* Usually the winner of the vote explains the trap. */
	if (length && !backdecode_at(&code, length, &insn) &&
	    insn.flow == FLOW_NEXT) {
		try_instruction(&s, &insn, cpu);
		if (!s.found && insn.gpr_written & insn.gpr_address)
			chased = chase(&s, &insn, cpu, mem, &load);
		if (chased == CHASE_TOLD)
			explain(&s, &load);
	}
	if (s.found == 1) {
		*a = s.access;
		return 0;
	}
	next = decode_at(mem, cpu->rip, &insn, &err);
	if (next && next->flags & (INSN_REP | INSN_REPNE))
		try_instruction(&s, next, cpu);
	try_call(&s, cpu, mem);
	try_return(&s, cpu, mem, &code);
	if (!s.found && !length) {
		for (uint32_t l = 1; l <= INSN_BYTES_MAX && l <= code.have;
		     l++) {
			if (!backdecode_at(&code, l, &insn) && insn.len == l &&
			    insn.flow == FLOW_NEXT)
				try_instruction(&s, &insn, cpu);
		}
	}
	/* This load would explain any trap, so it is tried last. */
	if (!s.found && chased == CHASE_SOMEWHERE)
		explain(&s, &load);
	if (s.found != 1)
		return -EAGAIN;
	*a = s.access;
	return 0;
}
