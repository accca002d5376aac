/* SPDX-License-Identifier: MIT */
/*
 * vdso - the kernel's own code in our address space
 */
#ifndef COMDET_PRELOAD_CORE_VDSO_H
#define COMDET_PRELOAD_CORE_VDSO_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Find it. Context: set-up. */
void vdso_init(void);

/* Any context; false of every address if there is none. */
bool vdso_has(uint64_t ip);

/* As clock_gettime, by a system call if need be, without errno. Any context. */
int vdso_clock_gettime(clockid_t clock, struct timespec *ts);

#endif
