/* SPDX-License-Identifier: MIT */
/*
 * our_code - which code of the process is ours
 */
#include <stddef.h>

#include "our_code.h"
#include "src/base/signal_safe.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static struct heap_code heap;

void our_code_init(const struct heap_code *h)
{
	if (h)
		heap = *h;
}

bool our_code_has(uint64_t ip)
{
	return (ip >= (uintptr_t)__ehdr_start && ip < (uintptr_t)etext) ||
	       (ip >= (uintptr_t)heap.start && ip < (uintptr_t)heap.end);
}
