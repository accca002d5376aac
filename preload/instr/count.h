/* SPDX-License-Identifier: MIT */
/*
 * count - accesses of other threads, as their hooks count them
 */
#ifndef COMDET_PRELOAD_INSTR_COUNT_H
#define COMDET_PRELOAD_INSTR_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Context: set-up. */
void instr_count_init(void);

/* From here to the end of the calling thread, others can read its counts. */
void instr_count_begin(struct thread *t);
void instr_count_end(struct thread *t);

/* Accesses of thread @id; false if there is none. Context: handler. */
bool instr_count_thread(uint32_t id, uint64_t *count);

/* Accesses of all threads under cache @domain, ended ones too. Handler. */
uint64_t instr_count_domain(uint32_t domain);

/*
 * Ask all threads but @t, the calling one, to set their registers (rearm.h).
 * Context: handler.
 */
void instr_count_rearm_others(const struct thread *t);

#endif
