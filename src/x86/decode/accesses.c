/* SPDX-License-Identifier: MIT */
/*
 * accesses - the accesses of an instruction, from register values
 */
#include <errno.h>
#include <string.h>

#include <Zydis/Zydis.h>
#undef assert /* Zycore brings it; handlers must not use it */

#include "accesses.h"
#include "width.h"

#include "src/base/signal_safe.h"

/* The word that bit @offset of a bit string falls into. */
static uint64_t bit_string(const struct insn *insn, const struct cpu_state *cpu)
{
	const struct operand *op = &insn->op[1];
	int64_t bit = (int64_t)sign_extend(cpu->gpr[op->reg], op->bytes);
	int64_t word_bits = 8 * op->bytes;

	return (uint64_t)((bit & -word_bits) / 8);
}

int decode_address(const struct insn *insn, const struct mem_operand *m,
		   const struct cpu_state *cpu, uint64_t *addr)
{
	uint64_t a = (uint64_t)m->disp, gs_base;

	if (m->base != NO_REG)
		a += cpu->gpr[m->base];
	if (m->index != NO_REG && m->kind != MEM_VSIB)
		a += m->scale ? cpu->gpr[m->index] * m->scale
			      : (uint8_t)cpu->gpr[m->index];
	if (m->kind == MEM_STACK_PUSH)
		a -= m->bytes;
	else if (m->kind == MEM_BITS)
		a += bit_string(insn, cpu);
	else if (m->kind == MEM_LINE)
		a &= -(uint64_t)m->bytes;
	if (insn->flags & INSN_ADDRESS32 && m->kind != MEM_STACK_PUSH &&
	    m->kind != MEM_STACK_POP)
		a = (uint32_t)a;
	if (m->segment == SEGMENT_FS) {
		if (!cpu->fs_known)
			return -EAGAIN;
		a += cpu->fs_base;
	} else if (m->segment == SEGMENT_GS) {
		if (!cpu_state_gs_base(cpu, &gs_base))
			return -EAGAIN;
		a += gs_base;
	}
	*addr = a;
	return 0;
}

int decode_mask_operand(const struct insn *insn)
{
	if (insn->write_mask)
		return -1;
	for (int i = 0; i < insn->mems; i++) {
		if (insn->mem[i].kind == MEM_MASKED)
			return 1;
		if (insn->mem[i].kind == MEM_VSIB)
			return 2;
	}
	return -1;
}

uint64_t decode_vector_mask(const struct insn *insn, const void *bytes)
{
	const uint8_t *b = bytes;
	unsigned size = insn->element_bytes;
	uint64_t select = 0;

	for (unsigned i = 0; i < insn->mask_elements; i++)
		select |= (uint64_t)(b[i * size + size - 1] >> 7) << i;
	return select;
}

static void set_access(struct access *a, const struct insn *insn,
		       const struct mem_operand *m, uint64_t addr, uint32_t len)
{
	a->addr = addr;
	a->ip = insn->ip;
	a->len = len;
	a->flags = m->rw;
	if (insn->flags & INSN_LOCKED)
		a->flags |= ACCESS_LOCKED;
	if (m->kind == MEM_STACK_PUSH || m->kind == MEM_STACK_POP)
		a->flags |= ACCESS_IMPLICIT;
}

void decode_operand(const struct insn *insn, const struct mem_operand *m,
		    uint64_t address, struct access *out)
{
	set_access(out, insn, m, address, m->bytes);
}

static bool is_compressed(const struct insn *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_VPCOMPRESSB:
	case ZYDIS_MNEMONIC_VPCOMPRESSW:
	case ZYDIS_MNEMONIC_VPCOMPRESSD:
	case ZYDIS_MNEMONIC_VPCOMPRESSQ:
	case ZYDIS_MNEMONIC_VCOMPRESSPS:
	case ZYDIS_MNEMONIC_VCOMPRESSPD:
	case ZYDIS_MNEMONIC_VPEXPANDB:
	case ZYDIS_MNEMONIC_VPEXPANDW:
	case ZYDIS_MNEMONIC_VPEXPANDD:
	case ZYDIS_MNEMONIC_VPEXPANDQ:
	case ZYDIS_MNEMONIC_VEXPANDPS:
	case ZYDIS_MNEMONIC_VEXPANDPD:
		return true;
	default:
		return false;
	}
}

static int gather_elements(const struct insn *insn, const struct mem_operand *m,
			   uint64_t address, uint64_t select,
			   const uint8_t *index, struct access *out)
{
	int n = 0;

	for (unsigned i = 0; i < insn->mask_elements; i++) {
		uint64_t x = 0, a;

		if (!(select >> i & 1))
			continue;
		memcpy(&x, index + i * insn->index_bytes, insn->index_bytes);
		a = address + sign_extend(x, insn->index_bytes) * m->scale;
		if (insn->flags & INSN_ADDRESS32)
			a = (uint32_t)a;
		set_access(&out[n++], insn, m, a, m->bytes);
	}
	return n;
}

int decode_elements(const struct insn *insn, const struct mem_operand *m,
		    uint64_t address, uint64_t select, const void *index,
		    struct access *out)
{
	unsigned size = insn->element_bytes, elements = m->bytes / size;
	uint64_t touched = 0;
	int n = 0;

	select &= low_bits(insn->mask_elements);
	if (m->kind == MEM_VSIB)
		return gather_elements(insn, m, address, select, index, out);
	if (is_compressed(insn)) {
		if (select)
			set_access(&out[n++], insn, m, address,
				   size * __builtin_popcountll(select));
		return n;
	}
	/* A broadcast uses one memory element for several mask bits. */
	for (unsigned i = 0; i < insn->mask_elements; i += elements)
		touched |= select >> i & low_bits(elements);
	while (touched) {
		unsigned first = __builtin_ctzll(touched);
		uint64_t gaps = ~(touched >> first);
		unsigned end = elements - first;

		if (gaps && (unsigned)__builtin_ctzll(gaps) < end)
			end = __builtin_ctzll(gaps);
		set_access(&out[n++], insn, m, address + first * size,
			   end * size);
		touched &= ~(low_bits(end) << first);
	}
	return n;
}

/* Bytes [0, n) of vector register @reg. */
static int vector_bytes(const struct cpu_state *cpu, unsigned reg, unsigned n,
			uint8_t *to)
{
	for (unsigned at = 0; at < n; at += LANE_BYTES) {
		const void *lane = cpu_state_lane(cpu, reg, at / LANE_BYTES);

		if (!lane)
			return -EAGAIN;
		memcpy(to + at, lane,
		       n - at < LANE_BYTES ? n - at : LANE_BYTES);
	}
	return 0;
}

static int masked(const struct insn *insn, const struct mem_operand *m,
		  const struct cpu_state *cpu, uint64_t address,
		  struct access *out)
{
	uint8_t mask[64], index[64];
	int err, from = decode_mask_operand(insn);
	uint64_t select;

	if (from < 0) {
		if (!cpu->opmask)
			return -EAGAIN;
		memcpy(&select,
		       (const uint8_t *)cpu->opmask + 8 * insn->write_mask, 8);
	} else {
		if (insn->op[from].kind != OPERAND_VEC)
			return -EAGAIN; /* mmx */
		err = vector_bytes(cpu, insn->op[from].reg,
				   insn->mask_elements * insn->element_bytes,
				   mask);
		if (err)
			return err;
		select = decode_vector_mask(insn, mask);
	}
	if (m->kind == MEM_VSIB) {
		err = vector_bytes(cpu, m->index,
				   insn->mask_elements * insn->index_bytes,
				   index);
		if (err)
			return err;
	}
	return decode_elements(insn, m, address, select, index, out);
}

int decode_accesses(const struct insn *insn, const struct cpu_state *cpu,
		    struct access *out)
{
	uint64_t rcx = cpu->gpr[GPR_RCX];
	uint64_t address;
	int n = 0, err;

	if (insn->flags & INSN_STRING &&
	    insn->flags & (INSN_REP | INSN_REPNE) &&
	    !(insn->flags & INSN_ADDRESS32 ? (uint32_t)rcx : rcx))
		return 0;
	for (int i = 0; i < insn->mems; i++) {
		const struct mem_operand *m = &insn->mem[i];

		if (m->kind == MEM_OPAQUE)
			return -EOPNOTSUPP;
		if (!m->rw)
			continue;
		err = decode_address(insn, m, cpu, &address);
		if (err)
			return err;
		if (m->kind == MEM_MASKED || m->kind == MEM_VSIB) {
			err = masked(insn, m, cpu, address, &out[n]);
			if (err < 0)
				return err;
			n += err;
		} else {
			set_access(&out[n++], insn, m, address, m->bytes);
		}
	}
	return n;
}
