/* SPDX-License-Identifier: MIT */
/*
 * line_logs - what padding would avoid, from samples
 *
 * Where an estimator finds transfers of a line, the line is watched for a while
 * and its turns are logged (src/exact/line_log.h), some lines at a time. From
 * the logs follows what share of each line's transfers padding avoids; the
 * estimator's weights say what each line counts for.
 *
 * The caller watches lines in all threads. It does what these functions tell:
 *
 *   line_logs_found     transfers were found: maybe watch a line from now on
 *   line_logs_watching  the caller has begun to
 *   line_logs_access    an access to a watched line: maybe end the watch
 *   line_logs_idle      the caller has ended it
 *
 * Lines that are used a few times have no log. For them an estimator
 * TRANSFER_NEEDED tells which transfers padding does not avoid:
 * line_logs_needed.
 *
 * Any number of threads may call at once. A lock is held for some hundred
 * instructions. Signals are blocked where handlers make accesses.
 */
#ifndef COMDET_STORE_LINE_LOGS_H
#define COMDET_STORE_LINE_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"
#include "src/engine/transfer.h"

enum {
	LINE_LOGS_SLOTS = 4, /* lines watched at once */
	LINE_LOGS_MAX = 512, /* lines that have a log */
};

struct line_logs;

/* What the caller has to do. */
struct line_logs_order {
	uint32_t slot;
	uint64_t watch;   /* line to be watched by the slot, 0: none */
	uint64_t unwatch; /* line that it watched before, 0: none */
};

/* Bytes of memory needed. */
size_t line_logs_size(void);

/*
 * Start in @mem, line_logs_size() bytes, all zero. @longer: the first logs have
 * more windows than others (line_log.h). Context: set-up.
 */
struct line_logs *line_logs_init(void *mem, bool longer);

/*
 * An estimator TRANSFER_NEEDED runs beside the other one. Context: set-up.
 */
void line_logs_with_needed(struct line_logs *l);

/* That estimator has finished @c. Context: handler. */
void line_logs_needed(struct line_logs *l, const struct transfer_chain *c);

/*
 * The estimator has finished @c. If it tells to watch a line, call
 * line_logs_watching once that is done. Context: handler.
 */
struct line_logs_order line_logs_found(struct line_logs *l,
				       const struct transfer_chain *c);
void line_logs_watching(struct line_logs *l, uint32_t slot);

/*
 * False if access @a by @thread would tell line_logs_access nothing new: the
 * thread has touched these bytes since another one came. A thread that uses a
 * line alone need not call for each access. Two threads that come at once may
 * lose one access. Takes no lock. Context: handler.
 */
bool line_logs_tells(const struct line_logs *l, uint32_t slot, uint32_t thread,
		     const struct access *a);

/*
 * Thread @thread made access @a, which touches the line that @slot watches.
 * Returns true if the line need not be watched any more: end the watch, then
 * call line_logs_idle. Context: handler.
 */
bool line_logs_access(struct line_logs *l, uint32_t slot, uint32_t thread,
		      const struct access *a);
void line_logs_idle(struct line_logs *l, uint32_t slot);

/*
 * Write what was found. A later call replaces it. Context: the end, while no
 * other thread is in a call.
 */
void line_logs_store(struct line_logs *l, struct store *s,
		     struct store_writer *w);

#endif
