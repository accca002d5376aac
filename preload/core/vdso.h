/* SPDX-License-Identifier: MIT */
/*
 * vdso - where the kernel's own code lies in our address space
 */
#ifndef COMDET_PRELOAD_CORE_VDSO_H
#define COMDET_PRELOAD_CORE_VDSO_H

#include <stdbool.h>
#include <stdint.h>

/* Find it. Context: set-up. */
void vdso_init(void);

/* Any context; false of every address if there is none. */
bool vdso_has(uint64_t ip);

#endif
