/* SPDX-License-Identifier: MIT */
/*
 * hook_code - which instructions belong to the hooks
 *
 * Context: handler.
 */
#ifndef COMDET_PRELOAD_INSTR_HOOK_CODE_H
#define COMDET_PRELOAD_INSTR_HOOK_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"

/*
 * True if @ip is in a hook that reports an access before the program makes it.
 */
bool instr_hook_code_reports(uint64_t ip);

/*
 * If @a was made by an atomic hook of the calling thread, attribute it to the
 * program's call of that hook.
 */
void instr_hook_code_attribute(struct access *a);

#endif
