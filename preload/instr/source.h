/* SPDX-License-Identifier: MIT */
/*
 * source - the source instr: hooks in the program report its accesses
 *
 * libcomdet-instr (runtime/) counts the accesses of code compiled with
 * -fsanitize=thread. It reports an access when a counter runs out or when its
 * line is watched; no clock runs. Such an event comes in ordinary context, in
 * the middle of the program's code or of one of its signal handlers. We handle
 * it with all signals blocked, on the thread's handler stack, so that the rules
 * for handlers hold for it.
 *
 * Samples go to an estimator of transfers (src/engine/transfer.h), to the map
 * (src/engine/comm.h) with the algorithm comdetective, or with config.reuse to
 * the engines of src/engine/reuse.h. With config.exact every access also goes
 * through the directory of src/exact/directory.h.
 */
#ifndef COMDET_PRELOAD_INSTR_SOURCE_H
#define COMDET_PRELOAD_INSTR_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cdp_header;
struct instr_library;
struct thread;

/*
 * Returns 1 if this is to be the source of this process, 0 if not, -1 with one
 * line for the user in @why if it is asked for and cannot be used, or if no
 * source can do what is asked. Context: set-up.
 */
int instr_choose(char *why, size_t size);

/*
 * Start, after instr_choose returned 1. @sigtrap says whether the kernel can
 * send synchronous signals for debug registers. @why may get a remark for the
 * user. Returns 0 or -errno. Context: set-up.
 */
int instr_start(bool sigtrap, char *why, size_t size);

/* Describe the source in the file's header. Context: set-up. */
void instr_describe(struct cdp_header *h, const char *why);

/* True if this is the source of this process. Any context. */
bool instr_is_source(void);

/* @t, the calling thread, begins, before it runs any of the program's code. */
void instr_thread_begin(struct thread *t);
/* The calling thread ends. */
void instr_thread_end(struct thread *t);

/*
 * Write the results. With @last nothing more will come; else the process is
 * about to execute another program, and goes on if that fails.
 */
void instr_finish(bool last);

/* Tell the hooks to stop reporting. Any context. */
void instr_stop(void);

/* In a forked child: let go of what was inherited. Context: set-up. */
void instr_after_fork(void);

/* Make the hooks of @l report to us, or stop that and flush their counts. */
void instr_listen_to(struct instr_library *l);
void instr_part_from(struct instr_library *l);

#endif
