/* SPDX-License-Identifier: MIT */
/*
 * uop_class - the class of what an instruction computes
 *
 * Integer instructions by the decoder's category, vector instructions by their
 * names, which are systematic: a leading v is the form with three operands, ss,
 * sd, ps and pd at the end are floating-point, a leading p is integer.
 */
#include <string.h>

#include "uop_class.h"

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool ends(const char *s, const char *with)
{
	size_t n = strlen(s), m = strlen(with);

	return n >= m && !strcmp(s + n - m, with);
}

static bool is_floating(const char *s)
{
	return ends(s, "ss") || ends(s, "sd") || ends(s, "ps") ||
	       ends(s, "pd") || ends(s, "sh") || ends(s, "ph");
}

static bool is_double(const char *s)
{
	return ends(s, "sd") || ends(s, "pd");
}

static enum uop_class conversion(const char *s)
{
	if (ends(s, "si") || ends(s, "si2sd") || ends(s, "usi"))
		return ends(s, "si2sd") ? UOP_CVT_DOUBLE : UOP_CVT_TO_INT;
	if (ends(s, "ss2sd"))
		return UOP_CVT_WIDEN;
	if (ends(s, "ps2pd"))
		return UOP_CVT_WIDEN_P;
	if (ends(s, "sd2ss") || ends(s, "pd2ps"))
		return UOP_CVT_NARROW;
	return strstr(s, "pd") || strstr(s, "sd") ? UOP_CVT_DOUBLE
						  : UOP_CVT_SINGLE;
}

static enum uop_class floating(const char *s)
{
	static const struct {
		const char *prefix;
		enum uop_class single, twice;
	} table[] = {
		{ "addsub", UOP_FADD, UOP_FADD },
		{ "add", UOP_FADD, UOP_FADD },
		{ "sub", UOP_FADD, UOP_FADD },
		{ "min", UOP_FADD, UOP_FADD },
		{ "max", UOP_FADD, UOP_FADD },
		{ "hadd", UOP_FADD, UOP_FADD },
		{ "hsub", UOP_FADD, UOP_FADD },
		{ "round", UOP_FADD, UOP_FADD },
		{ "rndscale", UOP_FADD, UOP_FADD },
		{ "reduce", UOP_FADD, UOP_FADD },
		{ "range", UOP_FADD, UOP_FADD },
		{ "getexp", UOP_FADD, UOP_FADD },
		{ "getmant", UOP_FADD, UOP_FADD },
		{ "scalef", UOP_FMUL32, UOP_FMUL64 },
		{ "mul", UOP_FMUL32, UOP_FMUL64 },
		{ "dp", UOP_FMUL32, UOP_FMUL64 },
		{ "fmadd", UOP_FMUL32, UOP_FMUL64 },
		{ "fmsub", UOP_FMUL32, UOP_FMUL64 },
		{ "fnmadd", UOP_FMUL32, UOP_FMUL64 },
		{ "fnmsub", UOP_FMUL32, UOP_FMUL64 },
		{ "div", UOP_FDIV32, UOP_FDIV64 },
		{ "sqrt", UOP_FSQRT32, UOP_FSQRT64 },
		{ "rsqrt", UOP_FRECIP, UOP_FRECIP },
		{ "rcp", UOP_FRECIP, UOP_FRECIP },
		{ "comi", UOP_FCOMP, UOP_FCOMP },
		{ "ucomi", UOP_FCOMP, UOP_FCOMP },
		{ "cmp", UOP_FCOMP, UOP_FCOMP },
		{ "fpclass", UOP_FCOMP, UOP_FCOMP },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (begins(s, table[i].prefix))
			return is_double(s) ? table[i].twice : table[i].single;
	return UOP_VMOVE;
}

static bool any_prefix(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (begins(s, *list))
			return true;
	return false;
}

/* Names of vector instructions, without the v. */
static enum uop_class vector(const char *s)
{
	/*
	 * Products without carries and rounds of AES take about as long: 3 to
	 * 7 cycles, pipelined (agner.org/optimize).
	 */
	static const char *const multiply[] = { "pmul",    "pmadd",  "pmadd52",
						"pdpb",    "pdpw",   "psadbw",
						"mpsadbw", "pclmul", "aesenc",
						"aesdec",  NULL };
	static const char *const arithmetic[] = {
		"padd",   "psub",      "pcmpeq", "pcmpgt",   "pcmp",
		"pmax",   "pmin",      "pavg",   "pabs",     "psign",
		"psll",   "psrl",      "psra",   "prol",     "pror",
		"phadd",  "phsub",     "phmin",  "ptest",    "pternlog",
		"plzcnt", "pconflict", "popcnt", "dbpsadbw", NULL
	};
	static const char *const moves[] = {
		"p",       "mov",       "and",      "or",      "xor",
		"unpck",   "shuf",      "blend",    "insert",  "extract",
		"perm",    "broadcast", "lddqu",    "maskmov", "align",
		"zero",    "expand",    "compress", "test",    "gather",
		"scatter", "k",         "emms",     "ldmxcsr", "stmxcsr",
		"shld",    "shrd",      NULL
	};
	/* What has neither the speed of a move nor of an addition. */
	static const char *const others[] = { "pcmpestr", "pcmpistr", "aesimc",
					      "aeskey",   "sha",      "gf2",
					      NULL };

	if (any_prefix(s, others) || ends(s, "kl"))
		return UOP_UNKNOWN;
	if (begins(s, "cvt"))
		return conversion(s);
	if (any_prefix(s, multiply))
		return UOP_VMUL;
	if (any_prefix(s, arithmetic))
		return UOP_VINT;
	if (is_floating(s))
		return floating(s);
	return any_prefix(s, moves) ? UOP_VMOVE : UOP_UNKNOWN;
}

static enum uop_class integer(const ZydisDecodedInstruction *insn)
{
	bool wide = insn->operand_width == 64;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_MULX:
		return wide ? UOP_MUL64 : UOP_MUL32;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		return wide ? UOP_DIV64 : UOP_DIV32;
	case ZYDIS_MNEMONIC_LEA:
		return UOP_LEA;
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
		return UOP_FENCE;
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_XGETBV:
	case ZYDIS_MNEMONIC_CRC32:
		return UOP_UNKNOWN;
	default:
		return UOP_ALU;
	}
}

/* Zydis has categories that integer and vector instructions share. */
static bool is_vector(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.isa_ext) {
	case ZYDIS_ISA_EXT_MMX:
	case ZYDIS_ISA_EXT_SSE:
	case ZYDIS_ISA_EXT_SSE2:
	case ZYDIS_ISA_EXT_AVX:
	case ZYDIS_ISA_EXT_AVX2:
	case ZYDIS_ISA_EXT_AVX512EVEX:
		return true;
	default:
		return false;
	}
}

enum uop_class uop_class_of(const ZydisDecodedInstruction *insn)
{
	const char *name = ZydisMnemonicGetString(insn->mnemonic);

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return UOP_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return UOP_JUMP;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CET:
		return UOP_NOP;
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_FLAGOP:
	case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_MISC:
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_BMI1:
	case ZYDIS_CATEGORY_BMI2:
	case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_ADOX_ADCX:
	case ZYDIS_CATEGORY_XSAVE:
		if (!is_vector(insn))
			return integer(insn);
		break;
	case ZYDIS_CATEGORY_X87_ALU:
	case ZYDIS_CATEGORY_FCMOV:
		return UOP_X87;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
		return UOP_UNKNOWN;
	default:
		break;
	}
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
		return UOP_FENCE;
	case ZYDIS_MNEMONIC_POPCNT:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_CRC32:
	case ZYDIS_MNEMONIC_MOVNTI:
		return UOP_ALU;
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVBE:
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_BSWAP:
	case ZYDIS_MNEMONIC_CWD:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
		return UOP_ALU;
	default:
		return vector(name + (name[0] == 'v'));
	}
}
