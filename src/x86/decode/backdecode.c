/* SPDX-License-Identifier: MIT */
/*
 * backdecode - find the instruction before an instruction
 *
 * Decoding from almost any byte reaches the true instruction boundaries after
 * a few instructions. So each of the bytes 49 to 64 before an address starts a
 * chain of instructions; one that ends exactly at the address votes for the
 * length of its last instruction, and a clear majority wins. A chain that
 * contains an instruction not found in compiled code has no vote.
 *
 * There is no vote if an instruction that ends at the address was executed: the
 * cache of decoded instructions has it then.
 *
 * The instruction found is the one before in memory. It is also the one
 * executed before, unless the address is a branch target. Branches to the
 * address are searched for nearby, and a little further away each time the
 * address is asked for again. If there is one, the answer is "unclear".
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "accesses.h"
#include "backdecode_internal.h"
#include "branches.h"
#include "decode.h"
#include "src/base/signal_safe.h"

enum {
	VOTERS = 16, /* start offsets, the farthest ones */
	VOTES_PERCENT = 75,
	RINGS = 15,
	KNOWN_ENTRIES = 8192,
};

/* The first instruction of a function that may be called through a pointer. */
static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/*
 * A cache of answers. Bits [63:17] of an entry: address, [16:9]: check of the
 * bytes before it, [8:5]: rings searched for branches to it, [4]: one was
 * found, [3:0]: length of the instruction before. An entry is one atomic word,
 * so it is always consistent; an address that shares an entry with another
 * replaces it.
 */
static _Atomic uint64_t known[KNOWN_ENTRIES];

void backdecode_read(const struct memory *mem, uint64_t ip,
		     struct code_before *c)
{
	uint64_t in_page = ip & 4095;

	c->ip = ip;
	c->have = BACK_BYTES;
	if (memory_is_direct(mem, ip - BACK_BYTES, BACK_BYTES)) {
		memory_copy_direct(c->bytes, ip - BACK_BYTES, BACK_BYTES);
		return;
	}
	if (!mem->read(mem->ctx, ip - BACK_BYTES, c->bytes, BACK_BYTES))
		return;
	c->have = in_page < BACK_BYTES ? (uint32_t)in_page : 0;
	if (c->have && mem->read(mem->ctx, ip - c->have,
				 c->bytes + BACK_BYTES - c->have, c->have))
		c->have = 0;
}

int backdecode_at(const struct code_before *c, uint32_t back, struct insn *insn)
{
	return decode_bytes(c->bytes + BACK_BYTES - back, back, c->ip - back,
			    insn);
}

/* The instruction at each byte before an address, indexed by bytes back. */
struct chains {
	uint8_t length[BACK_BYTES + 1];
	uint8_t last[BACK_BYTES + 1];  /* length of the chain's last instruction
					*/
	bool branches[BACK_BYTES + 1]; /* to the address */
};

enum {
	NO_VOTE,
	UNTRIED = 0xff
};

/* ud2, syscall, int3, hlt: the FLOW_SYSTEM instructions of compiled code. */
static bool compiled_system(const uint8_t *b)
{
	return (b[0] == 0x0f && (b[1] == 0x0b || b[1] == 0x05)) ||
	       b[0] == 0xcc || b[0] == 0xf4;
}

/* Decode the chain that starts @back bytes before the address. */
static uint8_t follow(const struct code_before *c, uint32_t back,
		      struct chains *t)
{
	uint32_t b = back, next;
	uint8_t last = NO_VOTE;
	struct insn_shape insn;

	while (t->last[b] == UNTRIED) {
		const uint8_t *code = c->bytes + BACK_BYTES - b;

		t->last[b] = NO_VOTE;
		if (decode_shape(code, b, c->ip - b, &insn) || insn.len > b)
			break;
		t->length[b] = insn.len;
		if (insn.flow == FLOW_SYSTEM && !compiled_system(code))
			break;
		t->branches[b] =
			(insn.flow == FLOW_COND || insn.flow == FLOW_JUMP) &&
			insn.target == c->ip;
		if (insn.len == b) {
			t->last[b] = insn.len;
			break;
		}
		b -= insn.len;
	}
	last = t->last[b];
	/* Record the outcome for every member of the chain. */
	for (; back != b; back = next) {
		next = back - t->length[back];
		t->last[back] = last;
	}
	return last;
}

/*
 * Return the length of the instruction that ends at the address, 0 if the vote
 * is unclear. *@targeted: one of the instructions before it branches to the
 * address.
 */
static uint32_t elect(const struct code_before *c, bool *targeted)
{
	uint32_t votes[INSN_BYTES_MAX + 1] = { 0 };
	uint32_t total = 0, best = 0, start[INSN_BYTES_MAX + 1] = { 0 };
	struct chains t = { 0 };

	*targeted = false;
	memset(t.last, UNTRIED, sizeof(t.last));
	for (uint32_t back = c->have; back > 0 && back + VOTERS > c->have;
	     back--) {
		uint8_t last = follow(c, back, &t);

		if (!last)
			continue;
		if (!votes[last]++)
			start[last] = back;
		total++;
	}
	for (uint32_t i = 1; i <= INSN_BYTES_MAX; i++) {
		if (votes[i] > votes[best])
			best = i;
	}
	if (!best || votes[best] * 100 < total * VOTES_PERCENT)
		return 0;
	for (uint32_t b = start[best]; b > 0; b -= t.length[b])
		*targeted |= t.branches[b];
	return best;
}

/*
 * As elect, but without a vote if an instruction was executed that ends there.
 * Only a vote finds short branches from the bytes before, so there must be none
 * that look like one.
 */
static uint32_t find_length(const struct memory *mem,
			    const struct code_before *c, bool *targeted)
{
	uint32_t length = 0;

	if (!branches_may_lead_to_end(c->bytes, BACK_BYTES))
		length = decode_length_before(mem, c->ip);
	*targeted = false;
	return length ? length : elect(c, targeted);
}

static uint64_t code_check(const struct code_before *c)
{
	uint64_t h = c->have, word;

	for (int i = 0; i < BACK_BYTES; i += 8) {
		memcpy(&word, c->bytes + i, 8);
		h = (h ^ word) * 0x9E3779B97F4A7C15ull;
	}
	return h >> 56;
}

uint32_t backdecode_previous(const struct memory *mem,
			     const struct code_before *c, bool *targeted)
{
	uint64_t tag = c->ip << 17 | code_check(c) << 9;
	_Atomic uint64_t *entry =
		&known[(c->ip * 0x9E3779B97F4A7C15ull >> 32) % KNOWN_ENTRIES];
	uint64_t word = atomic_load_explicit(entry, memory_order_relaxed);
	uint32_t length, ring;

	if (word >> 9 == tag >> 9) {
		length = word & 15;
		ring = word >> 5 & 15;
		*targeted = word & 16;
	} else {
		length = find_length(mem, c, targeted);
		ring = 0;
		if (length && !*targeted)
			*targeted = branches_back(mem, c->ip);
	}
	/* Search a little further each time the address is asked for. */
	if (length && !*targeted && ring < RINGS) {
		*targeted = branches_in_ring(mem, c->ip, ring);
		ring++;
	}
	atomic_store_explicit(entry,
			      tag | ring << 5 | (*targeted ? 16 : 0) | length,
			      memory_order_relaxed);
	return length;
}

static bool writes_own_address(const struct insn *insn)
{
	int mask_operand;

	for (int i = 0; i < insn->mems; i++) {
		const struct mem_operand *m = &insn->mem[i];

		if (m->kind == MEM_OPAQUE || m->kind == MEM_VSIB)
			return true; /* a gather clears its mask */
		if (m->kind != MEM_MASKED)
			continue;
		mask_operand = decode_mask_operand(insn);
		if (mask_operand < 0
			    ? insn->mask_written >> insn->write_mask & 1
			    : insn->vec_written >> insn->op[mask_operand].reg &
				      1)
			return true;
	}
	return insn->gpr_written & insn->gpr_address;
}

static bool writes_register(const struct insn *insn, int reg)
{
	for (int i = 0; i < insn->operands; i++) {
		if (insn->op[i].kind == OPERAND_GPR && insn->op[i].reg == reg &&
		    insn->op[i].rw & ACCESS_STORE)
			return true;
	}
	return false;
}

static bool explicit_access(const struct insn *insn)
{
	for (int i = 0; i < insn->mems; i++) {
		if (insn->mem[i].rw && insn->mem[i].kind != MEM_STACK_PUSH &&
		    insn->mem[i].kind != MEM_STACK_POP)
			return true;
	}
	return false;
}

/*
 * Turn the registers after @insn into those before it, as far as its addresses
 * need them. False if they cannot be known.
 */
static bool rewind_registers(const struct insn *insn, struct cpu_state *cpu)
{
	uint32_t bytes = insn->mems ? insn->mem[0].bytes : 0;
	uint64_t back = cpu->rflags & 0x400 ? bytes : -(uint64_t)bytes;
	struct insn rest = *insn;

	if (insn->flags & INSN_STRING) {
		for (int i = 0; i < insn->mems; i++) {
			if (insn->mem[i].base < 16)
				cpu->gpr[insn->mem[i].base] += back;
		}
		if (insn->flags & (INSN_REP | INSN_REPNE))
			cpu->gpr[GPR_RCX]++;
		return !(insn->flags & INSN_ADDRESS32);
	}
	for (int i = 0; i < insn->mems; i++) {
		const struct mem_operand *m = &insn->mem[i];

		if (m->kind != MEM_STACK_PUSH && m->kind != MEM_STACK_POP)
			continue;
		/* After leave, enter and pop rsp the old rsp is lost. */
		if (m->base != GPR_RSP || writes_register(insn, GPR_RSP))
			return false;
		if (m->kind == MEM_STACK_PUSH)
			cpu->gpr[GPR_RSP] += m->bytes;
		else
			cpu->gpr[GPR_RSP] -= m->bytes;
		rest.gpr_written &= (uint16_t) ~(1u << GPR_RSP);
	}
	return !writes_own_address(&rest);
}

int backdecode_accesses(const struct insn *insn, const struct cpu_state *cpu,
			struct access *out)
{
	struct cpu_state before = *cpu;
	int n;

	if (!insn->mems || !rewind_registers(insn, &before))
		return 0;
	n = decode_accesses(insn, &before, out);
	return n < 0 ? 0 : n;
}

int backdecode_stalled(const struct cpu_state *cpu, const struct memory *mem,
		       struct access *a)
{
	struct access all[DECODE_ACCESSES_MAX];
	const struct insn *next;
	struct insn insn;
	struct code_before code;
	bool targeted;
	uint32_t length;
	int n, err, best = -1;

	next = decode_at(mem, cpu->rip, &insn, &err);
	if (!next || !memcmp(next->bytes, endbr64, sizeof(endbr64)) ||
	    next->flags & (INSN_REP | INSN_REPNE))
		return -EAGAIN;
	backdecode_read(mem, cpu->rip, &code);
	length = backdecode_previous(mem, &code, &targeted);
	if (!length || targeted ||
	    !decode_at(mem, cpu->rip - length, &insn, &err) ||
	    insn.len != length || insn.flow == FLOW_JUMP ||
	    insn.flow == FLOW_RET)
		return -EAGAIN;
	if (insn.flow != FLOW_NEXT)
		return -ENOENT;
	n = backdecode_accesses(&insn, cpu, all);
	for (int i = 0; i < n; i++) {
		if (all[i].flags & ACCESS_IMPLICIT)
			continue;
		if (best < 0 || (all[i].flags & ACCESS_LOAD &&
				 !(all[best].flags & ACCESS_LOAD)))
			best = i;
	}
	if (best < 0)
		return explicit_access(&insn) ? -EAGAIN : -ENOENT;
	*a = all[best];
	return 0;
}
