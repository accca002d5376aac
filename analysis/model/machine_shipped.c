/* SPDX-License-Identifier: MIT */
/*
 * machine_shipped - the machine files that are part of reusetrack
 */
#include <string.h>

#include "machine_shipped.h"

#define FOLDER "analysis/model/machines/"

/* The bytes of the file @path and a 0, under the name @symbol. */
#define EMBED(symbol, path)                                                    \
	extern const char symbol[];                                            \
	__asm__(".pushsection .rodata\n"                                       \
		".hidden " #symbol "\n"                                        \
		".global " #symbol "\n" #symbol ":\n"                          \
		".incbin \"" FOLDER path "\"\n"                                \
		".byte 0\n"                                                    \
		".popsection\n")

EMBED(machine_golden_c1, "golden-c1");
EMBED(machine_golden_c2, "golden-c2");
EMBED(machine_golden_c3, "golden-c3");
EMBED(machine_golden_c4, "golden-c4");
EMBED(machine_golden_c5, "golden-c5");
EMBED(machine_golden_cove, "golden-cove");
EMBED(machine_neoverse_n1, "neoverse-n1");
EMBED(machine_skylake, "skylake");
EMBED(machine_zen2, "zen2");
EMBED(machine_zen4, "zen4");
EMBED(machine_zen5, "zen5");
EMBED(machine_rppm_c1, "rppm-c1");
EMBED(machine_rppm_c2, "rppm-c2");
EMBED(machine_rppm_c3, "rppm-c3");
EMBED(machine_rppm_c4, "rppm-c4");
EMBED(machine_rppm_c5, "rppm-c5");

static const struct {
	const char *name, *text, *words;
} shipped[] = {
	{ "golden-c1", machine_golden_c1, "5 GHz, 2 wide, ROB 32" },
	{ "golden-c2", machine_golden_c2, "3.33 GHz, 3 wide, ROB 72" },
	{ "golden-c3", machine_golden_c3, "2.5 GHz, 4 wide, ROB 128" },
	{ "golden-c4", machine_golden_c4, "2 GHz, 5 wide, ROB 200" },
	{ "golden-c5", machine_golden_c5, "1.66 GHz, 6 wide, ROB 288" },
	{ "rppm-c1", machine_rppm_c1, "smallest of RPPM's table IV" },
	{ "rppm-c2", machine_rppm_c2, "small of RPPM's table IV" },
	{ "rppm-c3", machine_rppm_c3, "base of RPPM's table IV" },
	{ "rppm-c4", machine_rppm_c4, "big of RPPM's table IV" },
	{ "rppm-c5", machine_rppm_c5, "biggest of RPPM's table IV" },
	{ "zen2", machine_zen2,
	  "complex of an EPYC 7742, 3.4 GHz, 6 wide, ROB 224" },
	{ "zen4", machine_zen4,
	  "two cores of an EPYC 9004, 3.7 GHz, 6 wide, ROB 320" },
	{ "zen5", machine_zen5,
	  "two cores of an EPYC 9005, 4 GHz, 8 wide, ROB 448" },
	{ "skylake", machine_skylake, "Core i7-6700K, 4 GHz, 4 wide, ROB 224" },
	{ "neoverse-n1", machine_neoverse_n1,
	  "Graviton2, 2.5 GHz, 4 wide, ROB 128" },
	{ "golden-cove", machine_golden_cove,
	  "Core i9-12900K, 4.9 GHz, 6 wide, ROB 512" },
};
enum {
	SHIPPED = sizeof(shipped) / sizeof(shipped[0])
};

const char *machine_shipped(const char *name)
{
	for (size_t i = 0; i < SHIPPED; i++)
		if (!strcmp(shipped[i].name, name))
			return shipped[i].text;
	return NULL;
}

const char *machine_shipped_name(size_t i, const char **words)
{
	if (i >= SHIPPED)
		return NULL;
	*words = shipped[i].words;
	return shipped[i].name;
}
