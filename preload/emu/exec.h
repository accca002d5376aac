/* SPDX-License-Identifier: MIT */
/*
 * exec - follow a profiled process into the program that it executes
 */
#ifndef COMDET_PRELOAD_EMU_EXEC_H
#define COMDET_PRELOAD_EMU_EXEC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The program is about to execute @path: execute QEMU on it instead, if QEMU
 * can run it. Returns if it cannot; then the kernel does as the program asked.
 * Addresses are the program's. Context: a callback of that thread.
 */
void emu_exec(uint64_t path, uint64_t argv, uint64_t envp);

/* False if @path is no file that may be executed. */
bool emu_exec_possible(uint64_t path);

#endif
