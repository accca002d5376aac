/* SPDX-License-Identifier: MIT */
/*
 * fuzz_jit_code - bytes of a fuzzer as a perf map and as a jitdump (make fuzz)
 */
#include <string.h>

#include "analysis/symbols/jit_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_code *j = jit_code_new();
	struct jit_place p;

	jit_code_add_map(j, (const char *)data, size);
	jit_code_add_dump(j, data, size);
	jit_code_ready(j);
	for (uint64_t addr = 0; addr < 4096; addr += 16)
		if (jit_code_find(j, addr, &p) && !p.function)
			__builtin_trap();
	jit_code_free(j);
	return 0;
}
