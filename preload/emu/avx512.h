/* SPDX-License-Identifier: MIT */
/*
 * avx512 - programs that need AVX-512, which QEMU does not have
 */
#ifndef COMDET_PRELOAD_EMU_AVX512_H
#define COMDET_PRELOAD_EMU_AVX512_H

#include <stdint.h>

#include "qemu_plugin_abi.h"

/*
 * The instruction @insn is translated. If it is one of AVX-512, stop before it
 * runs.
 */
void emu_avx512_instruction(struct qemu_plugin_insn *insn);

/* The program sets the action of @sig to its struct at @action. */
void emu_avx512_sigaction(int sig, uint64_t action);

#endif
