/* SPDX-License-Identifier: MIT */
/*
 * place - the core that a thread is put on, and the cache above it
 */
#ifndef COMDET_PRELOAD_INSTR_PLACE_H
#define COMDET_PRELOAD_INSTR_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "src/engine/reuse.h"

/*
 * Read the topology that @env names. Returns 0, or -EINVAL with @error set.
 * Context: set-up.
 */
int instr_place_read(char *const *env, char *error, size_t size);

/* The place of a thread by the number of its row. Any context. */
struct cpu_place instr_place(uint32_t thread);

#endif
