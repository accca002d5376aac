/* SPDX-License-Identifier: MIT */
#ifndef COMDET_MEMREAD_H
#define COMDET_MEMREAD_H

#include <stddef.h>
#include <stdint.h>

/* As struct memory wants it (decode.h). Any context; one system call. */
int memread(void *ctx, uint64_t addr, void *buf, size_t n);

#endif
