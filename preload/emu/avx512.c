/* SPDX-License-Identifier: MIT */
/*
 * avx512 - programs that need AVX-512, which QEMU does not have
 *
 * QEMU reports that through cpuid, and most programs respect it. A program
 * built for AVX-512 alone would die of SIGILL, which explains nothing. So we
 * end the program with a message before it executes such an instruction, unless
 * it handles SIGILL: then it may be trying out what the processor has.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "avx512.h"
#include "guest.h"
#include "say.h"
#include "setup.h"
#include "state.h"

enum {
	EVEX = 0x62, /* in 64-bit code only EVEX instructions begin with it */
	CANNOT_RUN = 126,
};

static atomic_bool handles_sigill;

void emu_avx512_sigaction(int sig, uint64_t action)
{
	uint64_t handler = 0;

	if (sig == SIGILL && action &&
	    emu_guest_read(action, &handler, sizeof(handler)))
		atomic_store(&handles_sigill, handler > 1);
}

/* Called before the instruction at @ip is executed. */
static void on_evex(unsigned int index, void *ip)
{
	if (atomic_load(&handles_sigill))
		return;
	emu_say("%.300s was built for AVX-512 (its code at %p), which QEMU "
		"does not have; use another source, such as clock",
		emu.exe, ip);
	if (emu.active) {
		snprintf(emu.store.header->note, sizeof(emu.store.header->note),
			 "ended: built for AVX-512, which QEMU does not have");
		emu_setup_finish(CDP_STOPPED);
	}
	_exit(CANNOT_RUN);
}

void emu_avx512_instruction(struct qemu_plugin_insn *insn)
{
	const uint8_t *code = qemu_plugin_insn_data(insn);
	uintptr_t ip = qemu_plugin_insn_vaddr(insn);

	if (qemu_plugin_insn_size(insn) && code[0] == EVEX)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, on_evex, QEMU_PLUGIN_CB_NO_REGS, (void *)ip);
}
