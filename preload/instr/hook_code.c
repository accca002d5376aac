/* SPDX-License-Identifier: MIT */
/*
 * hook_code - which instructions belong to the hooks
 */
#include "hook_code.h"
#include "libraries.h"
#include "src/base/signal_safe.h"

static bool is_within(uint64_t ip, const char *low, const char *high)
{
	return ip >= (uint64_t)(uintptr_t)low && ip < (uint64_t)(uintptr_t)high;
}

bool instr_hook_code_reports(uint64_t ip)
{
	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_library *l = instr_library(i);

		if (l && (is_within(ip, l->hooks_low, l->hooks_high) ||
			  is_within(ip, l->code_low, l->code_high)))
			return true;
	}
	return false;
}

void instr_hook_code_attribute(struct access *a)
{
	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_library *l = instr_library(i);

		if (l && is_within(a->ip, l->code_low, l->code_high))
			a->ip = l->thread()->atomic_ip - 1;
	}
}
