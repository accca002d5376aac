/* SPDX-License-Identifier: MIT */
/*
 * transfer - estimate transfers from the samples of the source instr
 *
 * Used unless config.algorithm is the map.
 */
#ifndef COMDET_PRELOAD_INSTR_TRANSFER_H
#define COMDET_PRELOAD_INSTR_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"

struct thread;

/*
 * Watch with @registers debug registers if @hardware, else in software. With
 * @lines each register covers a line. Returns 0 or -errno. Context: set-up.
 */
int instr_transfer_init(bool hardware, bool lines, uint32_t registers);

/* The calling thread takes part from here on. Context: handler. */
void instr_transfer_start(struct thread *t);

/*
 * True if the estimator ignores what happens until instr_transfer_made: then a
 * sample is to be handled before the access takes its place among others.
 */
bool instr_transfer_awaits(void);

/* Access @a of the calling thread is a sample. Context: handler. */
void instr_transfer_sample(struct thread *t, const struct access *a);

/*
 * The sampled access takes its place: the estimator counts from here on.
 * Takes no lock. Any context.
 */
void instr_transfer_made(struct thread *t);

/*
 * In place of instr_transfer_sample: a later store will be a sample (handler);
 * store @a is that one, and instr_transfer_made follows (any context).
 */
void instr_transfer_expect(struct thread *t);
void instr_transfer_met(struct thread *t, const struct access *a);

/* The calling thread ends: what it has announced never comes. Any context. */
void instr_transfer_end(struct thread *t);

/*
 * After instr_transfer_made: later accesses of the thread may end what it
 * sampled. Until then its accesses do not count for it. Any context.
 */
void instr_transfer_follow(struct thread *t);

/* Access @a of the calling thread touches what @slot watches. Handler. */
void instr_transfer_trap(struct thread *t, uint32_t slot, uint32_t generation,
			 uint32_t range, const struct access *a);

/*
 * True if access @a to what @slot watches may matter to the
 * estimator. Any context.
 */
bool instr_transfer_needs(const struct thread *t, uint32_t slot,
			  const struct access *a);

/* The same if the slot's sample, if any is awaited, comes before @a. */
bool instr_transfer_may_need(const struct thread *t, uint32_t slot,
			     const struct access *a);

/*
 * Log access @a to the lines of @slots, bits as from instr_watch_slots, that
 * are watched for their logs. Returns the other slots. Context: a hook, or the
 * handler.
 */
uint64_t instr_transfer_log(struct thread *t, const struct access *a,
			    uint64_t slots);

/* Write the results; with @last nothing more will come. */
void instr_transfer_finish(bool last);

#endif
