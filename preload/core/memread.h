/* SPDX-License-Identifier: MIT */
#ifndef COMDET_PRELOAD_CORE_MEMREAD_H
#define COMDET_PRELOAD_CORE_MEMREAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Read @n bytes of the program at @addr into @buf: the read function of struct
 * memory (src/x86/decode/memory.h). @ctx is the calling thread's struct thread,
 * or NULL. Returns 0 or -EFAULT. Any context; no lock, no allocation.
 */
int memread(void *ctx, uint64_t addr, void *buf, size_t n);

#endif
