/* SPDX-License-Identifier: MIT */
/*
 * watch - lines that are watched in all threads
 *
 * In software the hooks look up every access in a table of lines: whole lines,
 * armed at once, seen by instrumented code alone. In hardware there is one
 * inherited event for each debug register: 8 bytes, or a line where the
 * processor can watch one, seen by all code.
 */
#ifndef COMDET_PRELOAD_INSTR_WATCH_H
#define COMDET_PRELOAD_INSTR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/engine/comm.h"
#include "src/engine/transfer.h"

struct watch_signal;

enum {
	INSTR_WIDEST = 16, /* bytes of an access that is no range */
};

/* How the estimators arm, and how comm arms in software. */
extern const struct transfer_watch instr_software, instr_hardware;
extern const struct comm_watch instr_software_comm;

/*
 * Open @n debug registers for all threads and try each. Returns how many work;
 * *@line says whether each covers a line. Context: set-up, with the handler
 * installed.
 */
int instr_watch_open(int n, bool *line);

/* Stop watching and close the registers. Any context. */
void instr_watch_close(void);

/*
 * Add @change, 1 or -1, to the marks that make the hooks report accesses to the
 * @bytes at @addr. Any context.
 */
void instr_watch_mark(uint64_t addr, uint64_t bytes, int change);

/*
 * Watch @line in software with @slot, one that no estimator uses; 0: nothing.
 * Calls for one slot never overlap. Any context.
 */
void instr_watch_line(uint32_t slot, uint64_t line);

/* The slots whose line overlaps the @bytes at @addr, as bits. Any context. */
uint64_t instr_watch_slots(uint64_t addr, uint64_t bytes);

/* The generation with which @slot was last armed. Any context. */
uint32_t instr_watch_generation(uint32_t slot);

/*
 * True if @a touches the line of @slot; *@generation is that of the line. If
 * the slot was armed anew meanwhile, the estimator tells by the generation. Any
 * context.
 */
bool instr_watch_touches(uint32_t slot, const struct access *a,
			 uint32_t *generation);

/*
 * Find out what the register behind the trap @what watches; false if it has
 * been set anew or switched off since. Any context.
 */
bool instr_watch_register(const struct watch_signal *what,
			  struct watch_range *range, uint32_t *slot,
			  uint32_t *index, uint32_t *generation);

/* Disarm the register of a trap that came too late. Context: handler. */
void instr_watch_disarm_late_trap(const struct watch_signal *what);

#endif
