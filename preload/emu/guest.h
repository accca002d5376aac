/* SPDX-License-Identifier: MIT */
/*
 * guest - read the memory of the program, which may not be mapped
 */
#ifndef COMDET_PRELOAD_EMU_GUEST_H
#define COMDET_PRELOAD_EMU_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy @n bytes at the program's address @addr; false if it has none there. */
bool emu_guest_read(uint64_t addr, void *to, size_t n);

/* Copy a string with its end; false if it is longer than @size - 1. */
bool emu_guest_read_string(uint64_t addr, char *to, size_t size);

#endif
