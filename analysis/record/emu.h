/* SPDX-License-Identifier: MIT */
/*
 * emu - run a program under QEMU
 */
#ifndef COMDET_ANALYSIS_RECORD_EMU_H
#define COMDET_ANALYSIS_RECORD_EMU_H

#include "analysis/symbols/elf_inspect.h"

/*
 * The command line that runs @p, called as @argv, under QEMU with the plugin
 * @library; malloc'ed, its first word the path of QEMU. Sets the topology's
 * twin to the host's where counting is exact and no other is asked for. Dies if
 * QEMU is missing, the topology is bad, or the program would behave otherwise
 * than without QEMU.
 */
char **record_emu_command(const struct program *p, char *const *argv,
			  const char *library);

/*
 * Set the topology's twin to the host's if none is asked for and it matters.
 * Dies if the one that is asked for is bad.
 */
void record_settle_topology(void);

/* The path of QEMU, malloc'ed; NULL if it is not installed. */
char *record_find_qemu(void);

#endif
