/* SPDX-License-Identifier: MIT */
/*
 * table - the function that executes each instruction
 */
#include "table.h"
#include "bits.h"
#include "convert.h"
#include "flow.h"
#include "integer.h"
#include "move.h"
#include "mul.h"
#include "operand.h"
#include "string_ops.h"
#include "table_vector.h"

#include "src/base/signal_safe.h"

#define STEPS(X)                                                               \
	X(nop)                                                                 \
	X(mov)                                                                 \
	X(movsx)                                                               \
	X(movbe)                                                               \
	X(lea)                                                                 \
	X(bswap)                                                               \
	X(add)                                                                 \
	X(sub)                                                                 \
	X(logic)                                                               \
	X(incdec)                                                              \
	X(neg)                                                                 \
	X(not )                                                                \
	X(xchg)                                                                \
	X(cmpxchg)                                                             \
	X(cmpxchg_pair)                                                        \
	X(cmov)                                                                \
	X(setcc)                                                               \
	X(widen)                                                               \
	X(spread)                                                              \
	X(xlat)                                                                \
	X(adx)                                                                 \
	X(rdbase)                                                              \
	X(shift)                                                               \
	X(rotate)                                                              \
	X(rotate_carry)                                                        \
	X(shift_double)                                                        \
	X(bit_test)                                                            \
	X(bit_scan)                                                            \
	X(zero_count)                                                          \
	X(popcnt)                                                              \
	X(bmi_quiet)                                                           \
	X(bmi_three)                                                           \
	X(bmi_lowest)                                                          \
	X(mul)                                                                 \
	X(imul)                                                                \
	X(mulx)                                                                \
	X(div)                                                                 \
	X(crc32)                                                               \
	X(jump)                                                                \
	X(jcc)                                                                 \
	X(loop)                                                                \
	X(call)                                                                \
	X(ret)                                                                 \
	X(push)                                                                \
	X(pop)                                                                 \
	X(pushf)                                                               \
	X(popf)                                                                \
	X(enter)                                                               \
	X(leave)                                                               \
	X(lahf)                                                                \
	X(sahf)                                                                \
	X(flag)                                                                \
	X(string_move)                                                         \
	X(string_compare)

#define NUMBER(name)  DO_##name,
#define POINTER(name) [DO_##name] = step_##name,

enum {
	DO_unknown,
	STEPS(NUMBER)
};

static step_fn *const steps[] = { [DO_unknown] = step_unknown, STEPS(POINTER) };

#define M(mnemonic, step) [ZYDIS_MNEMONIC_##mnemonic] = DO_##step

/* clang-format off */
static const uint8_t step_of[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	M(NOP, nop), M(ENDBR32, nop), M(ENDBR64, nop), M(PAUSE, nop),
	M(MFENCE, nop), M(LFENCE, nop), M(SFENCE, nop), M(FNOP, nop),
	M(PREFETCH, nop), M(PREFETCHNTA, nop), M(PREFETCHT0, nop),
	M(PREFETCHT1, nop), M(PREFETCHT2, nop), M(PREFETCHW, nop),
	M(PREFETCHWT1, nop), M(CLFLUSH, nop), M(CLFLUSHOPT, nop),
	M(CLWB, nop), M(CLDEMOTE, nop), M(SERIALIZE, nop),

	M(MOV, mov), M(MOVZX, mov), M(MOVSX, movsx), M(MOVSXD, movsx),
	M(MOVNTI, mov), M(MOVDIRI, mov), M(MOVBE, movbe), M(LEA, lea),
	M(BSWAP, bswap), M(XCHG, xchg), M(XLAT, xlat),
	M(CBW, widen), M(CWDE, widen), M(CDQE, widen),
	M(CWD, spread), M(CDQ, spread), M(CQO, spread),
	M(RDFSBASE, rdbase), M(RDGSBASE, rdbase),

	M(ADD, add), M(ADC, add), M(XADD, add),
	M(SUB, sub), M(SBB, sub), M(CMP, sub),
	M(AND, logic), M(OR, logic), M(XOR, logic), M(TEST, logic),
	M(INC, incdec), M(DEC, incdec), M(NEG, neg), M(NOT, not),
	M(ADCX, adx), M(ADOX, adx),
	M(CMPXCHG, cmpxchg), M(CMPXCHG8B, cmpxchg_pair),
	M(CMPXCHG16B, cmpxchg_pair),

	M(CMOVB, cmov), M(CMOVBE, cmov), M(CMOVL, cmov), M(CMOVLE, cmov),
	M(CMOVNB, cmov), M(CMOVNBE, cmov), M(CMOVNL, cmov),
	M(CMOVNLE, cmov), M(CMOVNO, cmov), M(CMOVNP, cmov), M(CMOVNS, cmov),
	M(CMOVNZ, cmov), M(CMOVO, cmov), M(CMOVP, cmov), M(CMOVS, cmov),
	M(CMOVZ, cmov),
	M(SETB, setcc), M(SETBE, setcc), M(SETL, setcc), M(SETLE, setcc),
	M(SETNB, setcc), M(SETNBE, setcc), M(SETNL, setcc),
	M(SETNLE, setcc), M(SETNO, setcc), M(SETNP, setcc), M(SETNS, setcc),
	M(SETNZ, setcc), M(SETO, setcc), M(SETP, setcc), M(SETS, setcc),
	M(SETZ, setcc),

	M(SHL, shift), M(SHR, shift), M(SAR, shift),
	M(ROL, rotate), M(ROR, rotate),
	M(RCL, rotate_carry), M(RCR, rotate_carry),
	M(SHLD, shift_double), M(SHRD, shift_double),
	M(BT, bit_test), M(BTS, bit_test), M(BTR, bit_test),
	M(BTC, bit_test), M(BSF, bit_scan), M(BSR, bit_scan),
	M(TZCNT, zero_count), M(LZCNT, zero_count), M(POPCNT, popcnt),
	M(PDEP, bmi_quiet), M(PEXT, bmi_quiet), M(SHLX, bmi_quiet),
	M(SHRX, bmi_quiet), M(SARX, bmi_quiet), M(RORX, bmi_quiet),
	M(ANDN, bmi_three), M(BEXTR, bmi_three), M(BZHI, bmi_three),
	M(BLSR, bmi_lowest), M(BLSI, bmi_lowest), M(BLSMSK, bmi_lowest),
	M(MUL, mul), M(IMUL, imul), M(MULX, mulx),
	M(DIV, div), M(IDIV, div), M(CRC32, crc32),

	M(JMP, jump), M(CALL, call), M(RET, ret),
	M(JB, jcc), M(JBE, jcc), M(JL, jcc), M(JLE, jcc), M(JNB, jcc),
	M(JNBE, jcc), M(JNL, jcc), M(JNLE, jcc), M(JNO, jcc), M(JNP, jcc),
	M(JNS, jcc), M(JNZ, jcc), M(JO, jcc), M(JP, jcc), M(JS, jcc),
	M(JZ, jcc), M(LOOP, loop), M(LOOPE, loop), M(LOOPNE, loop),
	M(JRCXZ, loop), M(JECXZ, loop),

	M(PUSH, push), M(POP, pop), M(PUSHF, pushf), M(PUSHFQ, pushf),
	M(POPF, popf), M(POPFQ, popf), M(ENTER, enter), M(LEAVE, leave),
	M(LAHF, lahf), M(SAHF, sahf), M(CLC, flag), M(STC, flag),
	M(CMC, flag), M(CLD, flag), M(STD, flag),

	M(MOVSB, string_move), M(MOVSW, string_move), M(MOVSQ, string_move),
	M(STOSB, string_move), M(STOSW, string_move), M(STOSD, string_move),
	M(STOSQ, string_move), M(LODSB, string_move), M(LODSW, string_move),
	M(LODSD, string_move), M(LODSQ, string_move),
	M(CMPSB, string_compare), M(CMPSW, string_compare),
	M(CMPSQ, string_compare), M(SCASB, string_compare),
	M(SCASW, string_compare), M(SCASD, string_compare),
	M(SCASQ, string_compare),
};
/* clang-format on */

/*
 * Zydis gives the string movsd and cmpsd the mnemonics of the scalar ones;
 * INSN_STRING distinguishes them.
 */
static step_fn *string_step(uint16_t mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_CMPSD ? step_string_compare
						: step_string_move;
}

step_fn *interp_handler(const struct insn *insn)
{
	uint8_t i = step_of[insn->mnemonic];

	if (i)
		return steps[i];
	if (insn->flags & INSN_STRING)
		return string_step(insn->mnemonic);
	return interp_vector_handler(insn);
}
