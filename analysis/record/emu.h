/* SPDX-License-Identifier: MIT */
/*
 * emu - run a program under QEMU
 */
#ifndef COMDET_ANALYSIS_RECORD_EMU_H
#define COMDET_ANALYSIS_RECORD_EMU_H

#include "analysis/symbols/elf_inspect.h"

/*
 * The command line that runs @p, called as @argv, under QEMU with the plugin
 * @library; malloc'ed, its first word the path of QEMU. Sets COMDET_TOPOLOGY as
 * record_settle_topology() does. The program loads the library @guest unless
 * that is NULL. A trace goes to the file @pipe unless that is NULL. Dies if
 * QEMU is missing, the topology is bad, or the program would behave otherwise
 * than without QEMU.
 */
char **record_emu_command(const struct program *p, char *const *argv,
			  const char *library, const char *guest,
			  const char *pipe);

/*
 * Set COMDET_TOPOLOGY to the host's topology if the user names none and the
 * measurement needs one. Dies if the user's is bad.
 */
void record_settle_topology(void);

/* The path of QEMU, malloc'ed; NULL if it is not installed. */
char *record_find_qemu(void);

#endif
