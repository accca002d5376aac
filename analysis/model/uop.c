/* SPDX-License-Identifier: MIT */
/*
 * uop - an x86-64 instruction as micro-operations
 */
#include <Zydis/Zydis.h>
#include <string.h>

#include "uop.h"
#include "uop_class.h"

const char *const uop_class_names[UOP_CLASSES] = {
#define X(NAME, name, words) [UOP_##NAME] = #name,
	UOP_CLASS_LIST(X)
#undef X
};

const char *const uop_class_words[UOP_CLASSES] = {
#define X(NAME, name, words) [UOP_##NAME] = words,
	UOP_CLASS_LIST(X)
#undef X
};

/* Numbers of registers: general, vector, mask, x87, and these. */
enum {
	REG_VECTOR = 16,
	REG_MASK = REG_VECTOR + 32,
	REG_X87 = REG_MASK + 8,
	REG_FLAGS = REG_X87 + 8,
	REG_OTHER,    /* control and segment registers */
	REG_LOADED,   /* from the load to the operation, of one instruction */
	REG_COMPUTED, /* from the operation to the store */
	REG_NONE = -1
};

/* What the operands say, before it is split. */
struct operands {
	struct uop address, compute; /* registers read and written */
	bool loads, stores, vector;
};

static int register_number(ZydisRegister r)
{
	ZydisRegister whole;

	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_FLAGS:
		return REG_FLAGS;
	case ZYDIS_REGCLASS_IP:
	case ZYDIS_REGCLASS_INVALID:
		return REG_NONE;
	case ZYDIS_REGCLASS_MASK:
		return REG_MASK + ZydisRegisterGetId(r);
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
		return REG_X87 + ZydisRegisterGetId(r);
	default:
		break;
	}
	whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	if (whole == ZYDIS_REGISTER_RFLAGS)
		return REG_FLAGS;
	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
		return whole - ZYDIS_REGISTER_RAX;
	if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
		return REG_VECTOR + (whole - ZYDIS_REGISTER_ZMM0);
	return r == ZYDIS_REGISTER_NONE ? REG_NONE : REG_OTHER;
}

static void add_to(uint8_t *list, uint8_t *n, int room, int number)
{
	if (number == REG_NONE)
		return;
	for (int i = 0; i < *n; i++)
		if (list[i] == number)
			return;
	if (*n < room)
		list[(*n)++] = (uint8_t)number;
}

static void add_source(struct uop *u, int number)
{
	add_to(u->source, &u->sources, UOP_SOURCES, number);
}

static void add_result(struct uop *u, int number)
{
	add_to(u->result, &u->results, UOP_RESULTS, number);
}

static void add_sources(struct uop *to, const struct uop *from)
{
	for (int i = 0; i < from->sources; i++)
		add_source(to, from->source[i]);
}

static void add_results(struct uop *to, const struct uop *from)
{
	for (int i = 0; i < from->results; i++)
		add_result(to, from->result[i]);
}

/* Bytes of the largest memory operand. */
static uint8_t memory_bytes(const ZydisDecodedInstruction *insn,
			    const ZydisDecodedOperand *operand)
{
	unsigned int bytes = 0;

	for (int i = 0; i < insn->operand_count; i++)
		if (operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand[i].size / 8 > bytes)
			bytes = operand[i].size / 8;
	return bytes <= UINT8_MAX ? (uint8_t)bytes : 0;
}

static void take_operand(struct operands *all, const ZydisDecodedOperand *o)
{
	bool reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		int number = register_number(o->reg.value);

		all->vector |= number >= REG_VECTOR && number < REG_FLAGS;
		if (reads)
			add_source(&all->compute, number);
		if (writes)
			add_result(&all->compute, number);
	} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		add_source(&all->address, register_number(o->mem.base));
		add_source(&all->address, register_number(o->mem.index));
		if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			add_sources(&all->compute, &all->address);
		else if (o->mem.type != ZYDIS_MEMOP_TYPE_MIB) {
			all->loads |= reads;
			all->stores |= writes;
		}
	}
}

/* A move between a register and memory computes nothing. */
static bool is_move(ZydisMnemonic m, const char *name, bool vector)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_LEAVE:
		return true;
	case ZYDIS_MNEMONIC_MOVHPS: /* these keep a half of the register */
	case ZYDIS_MNEMONIC_MOVHPD:
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD:
		return false;
	case ZYDIS_MNEMONIC_FLD:
	case ZYDIS_MNEMONIC_FST:
	case ZYDIS_MNEMONIC_FSTP:
		return true;
	default:
		name += name[0] == 'v';
		return vector && (!strncmp(name, "mov", 3) ||
				  !strncmp(name, "broadcast", 9) ||
				  !strcmp(name, "lddqu"));
	}
}

/* Those that both Intel and AMD list. */
static bool may_zero(ZydisMnemonic m)
{
	static const ZydisMnemonic zeroing[] = {
#define BOTH(name) ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_V##name
		ZYDIS_MNEMONIC_XOR,
		ZYDIS_MNEMONIC_SUB,
		ZYDIS_MNEMONIC_VPXORD,
		ZYDIS_MNEMONIC_VPXORQ,
		BOTH(PXOR),
		BOTH(XORPS),
		BOTH(XORPD),
		BOTH(PSUBB),
		BOTH(PSUBW),
		BOTH(PSUBD),
		BOTH(PSUBQ),
		BOTH(PCMPGTB),
		BOTH(PCMPGTW),
		BOTH(PCMPGTD),
		BOTH(PCMPGTQ),
#undef BOTH
	};

	for (size_t i = 0; i < sizeof(zeroing) / sizeof(*zeroing); i++)
		if (m == zeroing[i])
			return true;
	return false;
}

/* All of a register, by an operation on one register alone. */
static bool is_zeroing(const ZydisDecodedInstruction *insn,
		       const ZydisDecodedOperand *operand)
{
	ZydisRegister from = ZYDIS_REGISTER_NONE;
	int sources = 0;

	if (!may_zero(insn->mnemonic) || insn->operand_width < 32)
		return false;
	for (int i = 0; i < insn->operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &operand[i];
		bool reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
			return false;
		if (reads && o->reg.value == ZYDIS_REGISTER_K0)
			continue; /* all elements are written */
		/* MMX registers are not among them, nor masks. */
		if (register_number(o->reg.value) >= REG_MASK)
			return false;
		if (!reads)
			continue;
		if (sources++ && o->reg.value != from)
			return false;
		from = o->reg.value;
	}
	return sources == 2;
}

static struct uop *next_uop(struct uop_insn *to, enum uop_class class,
			    unsigned int flags)
{
	struct uop *u = &to->uop[to->uops++];

	u->class = (uint8_t) class;
	u->flags = (uint8_t)flags;
	return u;
}

static void put_load(struct uop_insn *to, const struct operands *all,
		     unsigned int flags, bool computes)
{
	struct uop *u = next_uop(to, UOP_LOAD, flags | UOP_IS_LOAD);

	add_sources(u, &all->address);
	if (computes || all->stores)
		add_result(u, REG_LOADED);
	else
		add_results(u, &all->compute);
}

static void put_compute(struct uop_insn *to, const struct operands *all,
			enum uop_class class, unsigned int flags)
{
	struct uop *u;

	flags |= class == UOP_BRANCH ? UOP_IS_BRANCH : 0;
	flags |= class == UOP_FENCE ? UOP_IS_BARRIER : 0;
	u = next_uop(to, class, flags);
	add_sources(u, &all->compute);
	add_results(u, &all->compute);
	if (all->loads)
		add_source(u, REG_LOADED);
	if (all->stores)
		add_result(u, REG_COMPUTED);
}

static void put_store(struct uop_insn *to, const struct operands *all,
		      unsigned int flags, bool computes, bool locked)
{
	struct uop *u = next_uop(to, UOP_STORE, flags | UOP_IS_STORE);

	u->flags |= locked ? UOP_IS_BARRIER : 0;
	add_sources(u, &all->address);
	if (computes) {
		add_source(u, REG_COMPUTED);
		return;
	}
	if (all->loads)
		add_source(u, REG_LOADED);
	add_sources(u, &all->compute);
	add_results(u, &all->compute);
}

static void take_bad(struct uop_insn *to)
{
	next_uop(to, UOP_UNKNOWN, 0);
	to->mnemonic = "(bad)";
}

void uop_decode(const unsigned char *code, size_t bytes, struct uop_insn *to)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	struct operands all = { 0 };
	ZydisDecodedInstruction insn;
	enum uop_class class;
	bool computes, locked;
	ZydisDecoder decoder;
	unsigned int flags;

	memset(to, 0, sizeof(*to));
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, bytes, &insn,
						 operand))) {
		take_bad(to);
		return;
	}
	for (int i = 0; i < insn.operand_count; i++)
		take_operand(&all, &operand[i]);
	to->memory_bytes = memory_bytes(&insn, operand);
	class = uop_class_of(&insn);
	to->mnemonic = ZydisMnemonicGetString(insn.mnemonic);
	to->known = class != UOP_UNKNOWN;
	flags = all.vector ? UOP_IS_VECTOR : 0;
	flags |= is_zeroing(&insn, operand) ? UOP_IS_ZERO : 0;
	computes = !((all.loads || all.stores) &&
		     is_move(insn.mnemonic, to->mnemonic, all.vector));
	locked = insn.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
		 insn.mnemonic == ZYDIS_MNEMONIC_XCHG;
	if (all.loads)
		put_load(to, &all, flags, computes);
	if (computes)
		put_compute(to, &all, class, flags);
	if (all.stores)
		put_store(to, &all, flags, computes, locked);
}
