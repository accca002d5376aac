/* SPDX-License-Identifier: MIT */
/*
 * dwarf_code - the source lines and functions of instructions, from DWARF
 *
 * Neither .debug_aranges nor the order of the units is relied on: clang and
 * rustc write no such section, and a program may be linked from objects with
 * and without. The ranges of addresses are those of the units, and of the
 * functions in them, wherever they are nested.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_DWARF_CODE_H
#define COMDET_ANALYSIS_SYMBOLS_DWARF_CODE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

struct dwarf_code;

/*
 * Read which units there are. @lowest is the lowest address of code: a linker
 * moves functions that it discards below it. @dwarf outlives the result.
 */
struct dwarf_code *dwarf_code_new(Dwarf *dwarf, uint64_t lowest);
void dwarf_code_free(struct dwarf_code *d);

/*
 * Fill in the frames of the instruction at @addr, innermost first: the function
 * that it was written in, then the functions that this one was inlined into,
 * each with the line of the call. Returns how many are known, perhaps 0. The
 * first may have a file and a line even then. *@bare becomes true if the last
 * has only the last part of its name, without that of its class or namespace.
 */
int dwarf_code_frames(struct dwarf_code *d, uint64_t addr,
		      struct frame frame[FRAMES_MAX], bool *bare);

/* The report shows the instruction at @addr. */
void dwarf_code_shown(struct dwarf_code *d, uint64_t addr);

/*
 * How many units with such instructions lack the .dwo file that they name. The
 * first one's name, and the directory of its compilation, go to *@name and
 * *@dir.
 */
size_t dwarf_code_split(const struct dwarf_code *d, const char **name,
			const char **dir);

/*
 * The function whose code contains @addr, not one that was inlined there. False
 * if none is known.
 */
bool dwarf_code_function(struct dwarf_code *d, uint64_t addr,
			 Dwarf_Die *function);

#endif
