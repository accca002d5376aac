/* SPDX-License-Identifier: MIT */
/*
 * oracle_cpu - which instructions this processor executes
 *
 * Zydis names the extension that an instruction belongs to, CPUID says whether
 * the processor has it, and XCR0 whether the system saves its registers. An
 * extension that the table does not have fails the test, so that a new snippet
 * gets its row.
 */
#ifndef COMDET_TESTS_ORACLE_ORACLE_CPU_H
#define COMDET_TESTS_ORACLE_ORACLE_CPU_H

#include <check.h>
#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

/* The widest vector registers that a test may load and compare. */
enum oracle_vectors {
	ORACLE_XMM,
	ORACLE_YMM,
	ORACLE_ZMM, /* and the mask registers, 64 bits each */
};

enum {
	EAX,
	EBX,
	ECX,
	EDX
};

static bool cpuid_bit(uint32_t leaf, int reg, int bit)
{
	uint32_t r[4] = { 0 };

	return __get_cpuid_count(leaf, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
	       r[reg] >> bit & 1;
}

static enum oracle_vectors oracle_cpu_vectors(void)
{
	enum {
		YMM_STATE = 0x6,
		ZMM_STATE = 0xe6
	};
	uint32_t low, high;

	if (!cpuid_bit(1, ECX, 27) || !cpuid_bit(1, ECX, 28))
		return ORACLE_XMM;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if ((low & YMM_STATE) != YMM_STATE)
		return ORACLE_XMM;
	if ((low & ZMM_STATE) != ZMM_STATE || !cpuid_bit(7, EBX, 16) ||
	    !cpuid_bit(7, EBX, 30))
		return ORACLE_YMM;
	return ORACLE_ZMM;
}

struct cpu_extension {
	const char *name; /* Zydis', without the width of an AVX-512 form */
	uint32_t leaf;    /* of CPUID; 0: every x86-64 processor has it */
	int reg, bit;
};

static const struct cpu_extension cpu_extensions[] = {
	{ "I86", 0, 0, 0 },
	{ "I186", 0, 0, 0 },
	{ "I386", 0, 0, 0 },
	{ "I486", 0, 0, 0 },
	{ "I486REAL", 0, 0, 0 },
	{ "PENTIUMREAL", 0, 0, 0 },
	{ "PENTIUMMMX", 0, 0, 0 },
	{ "PPRO", 0, 0, 0 },
	{ "CMOV", 0, 0, 0 },
	{ "LONGMODE", 0, 0, 0 },
	{ "X87", 0, 0, 0 },
	{ "FXSAVE", 0, 0, 0 },
	{ "SSE", 0, 0, 0 },
	{ "SSEMXCSR", 0, 0, 0 },
	{ "SSE_PREFETCH", 0, 0, 0 },
	{ "SSE2", 0, 0, 0 },
	{ "SSE2MMX", 0, 0, 0 },
	{ "FAT_NOP", 0, 0, 0 },
	{ "PAUSE", 0, 0, 0 },
	{ "CET", 0, 0, 0 },   /* endbr64 is a no-op without it */
	{ "LZCNT", 0, 0, 0 }, /* lzcnt is bsr without it */
	{ "SSE3", 1, ECX, 0 },
	{ "PCLMULQDQ", 1, ECX, 1 },
	{ "SSSE3", 1, ECX, 9 },
	{ "FMA", 1, ECX, 12 },
	{ "CMPXCHG16B", 1, ECX, 13 },
	{ "SSE4", 1, ECX, 19 },
	{ "SSE42", 1, ECX, 20 },
	{ "MOVBE", 1, ECX, 22 },
	{ "POPCNT", 1, ECX, 23 },
	{ "AES", 1, ECX, 25 },
	{ "AVXAES", 1, ECX, 25 },
	{ "XSAVE", 1, ECX, 27 },
	{ "AVX", 1, ECX, 28 },
	{ "LAHF", 0x80000001, ECX, 0 },
	{ "BMI1", 7, EBX, 3 },
	{ "AVX2", 7, EBX, 5 },
	{ "AVX2GATHER", 7, EBX, 5 },
	{ "BMI2", 7, EBX, 8 },
	{ "AVX512F", 7, EBX, 16 },
	{ "AVX512DQ", 7, EBX, 17 },
	{ "ADOX_ADCX", 7, EBX, 19 },
	{ "SHA", 7, EBX, 29 },
	{ "AVX512BW", 7, EBX, 30 },
	{ "AVX512_VBMI", 7, ECX, 1 },
	{ "VAES", 7, ECX, 9 },
	{ "VAES", 7, ECX, 9 },
	{ "AVX512_VPOPCNTDQ", 7, ECX, 14 },
	{ "AVX512_VP2INTERSECT", 7, EDX, 8 },
};

static const struct cpu_extension *find_extension(const char *set)
{
	static const char *const widths[] = { "_128", "_128N",   "_256",
					      "_512", "_SCALAR", "_KOP" };
	size_t n = strlen(set);

	for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		size_t w = strlen(widths[i]);

		if (n > w && !strcmp(set + n - w, widths[i])) {
			n -= w;
			break;
		}
	}
	for (unsigned i = 0;
	     i < sizeof(cpu_extensions) / sizeof(cpu_extensions[0]); i++) {
		const struct cpu_extension *x = &cpu_extensions[i];

		if (strlen(x->name) == n && !strncmp(x->name, set, n))
			return x;
	}
	ck_abort_msg("no row in oracle_cpu.h for %s", set);
}

/* Does the processor execute what Zydis calls @z? */
static bool cpu_executes(const ZydisDecodedInstruction *z,
			 enum oracle_vectors vectors)
{
	const char *set = ZydisISASetGetString(z->meta.isa_set);
	const struct cpu_extension *x = find_extension(set);
	bool evex = z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;

	if (z->mnemonic == ZYDIS_MNEMONIC_TZCNT)
		return true; /* bsf without BMI1 */
	if (x->leaf && !cpuid_bit(x->leaf, x->reg, x->bit))
		return false;
	if (!strncmp(set, "AVX512", 6)) {
		if (vectors < ORACLE_ZMM)
			return false;
		return !evex || strstr(set, "_512") || strstr(set, "_SCALAR") ||
		       strstr(set, "_128N") || cpuid_bit(7, EBX, 31); /* VL */
	}
	if (!strncmp(set, "AVX", 3) || !strcmp(set, "FMA") ||
	    !strcmp(set, "VAES"))
		return vectors >= ORACLE_YMM;
	return true;
}

/* Extensions that the processor lacks, and how many snippets needed them. */
struct cpu_lacks {
	const char *set[32];
	unsigned snippets[32];
};

/*
 * True if the processor executes all @n bytes of @code; else the first
 * extension it lacks is noted in @lacks.
 */
static bool oracle_cpu_runs(const uint8_t *code, size_t n,
			    enum oracle_vectors vectors,
			    struct cpu_lacks *lacks)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	const char *set;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < n; at += z.length) {
		ck_assert(ZYAN_SUCCESS(ZydisDecoderDecodeFull(
			&decoder, code + at, n - at, &z, operands)));
		if (cpu_executes(&z, vectors))
			continue;
		set = ZydisISASetGetString(z.meta.isa_set);
		for (unsigned i = 0; i < 32; i++) {
			if (lacks->set[i] && strcmp(lacks->set[i], set))
				continue;
			lacks->set[i] = set;
			lacks->snippets[i]++;
			return false;
		}
		ck_abort_msg("more than 32 extensions are missing");
	}
	return true;
}

/* ORACLE_WITHOUT lists instructions that an emulator carries out wrongly. */
static bool emulator_fails(const char *text)
{
	const char *list = getenv("ORACLE_WITHOUT");
	char word[32];

	for (int n; list && sscanf(list, "%31s%n", word, &n) == 1; list += n)
		if (strstr(text, word))
			return true;
	return false;
}

static void print_lacks(const struct cpu_lacks *lacks)
{
	for (unsigned i = 0; i < 32 && lacks->set[i]; i++)
		printf("this processor has no %s: %u snippets left out\n",
		       lacks->set[i], lacks->snippets[i]);
}

#endif
