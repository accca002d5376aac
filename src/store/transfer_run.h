/* SPDX-License-Identifier: MIT */
/*
 * transfer_run - an estimator of transfers over one process, with its results
 *
 * The part of a source that does not depend on how it watches: memory for the
 * estimator and its tally, which threads took part, and the file.
 */
#ifndef COMDET_STORE_TRANSFER_RUN_H
#define COMDET_STORE_TRANSFER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "line_logs.h"
#include "store.h"
#include "src/engine/transfer.h"
#include "src/engine/transfer_tally.h"

struct transfer_run {
	struct transfer *transfer; /* NULL: nothing is estimated */
	struct transfer_tally *tally;
	struct line_logs *logs;  /* NULL: no lines are logged */
	struct transfer *needed; /* TRANSFER_NEEDED; NULL: there is none */
	size_t transfer_bytes, tally_bytes, needed_bytes;
	_Atomic uint32_t ids; /* above the ids of all threads that took part */
	bool awaits;          /* the estimators' config.awaits */
	struct store_writer writer;
};

/*
 * The configuration for @registers watches at once. With @lines each covers a
 * line; otherwise all cover the same line, 8 bytes each. Members that depend on
 * the source are left 0.
 */
struct transfer_config transfer_run_config(enum transfer_kind kind,
					   uint64_t period, bool lines,
					   uint32_t registers);

/*
 * Make the estimator and its tally. In a forked child the parent's are let go.
 * Returns 0, -EINVAL if the configuration is invalid, or -ENOMEM. Context:
 * set-up.
 */
int transfer_run_init(struct transfer_run *r,
		      const struct transfer_config *config,
		      const struct transfer_watch *watch,
		      const struct transfer_sink *sink);

/*
 * Log lines, too: call line_logs_found for each chain. @longer as for
 * line_logs_init. Returns 0 or -ENOMEM. Context: set-up.
 */
int transfer_run_log(struct transfer_run *r, bool longer);

/*
 * Beside a log, estimate with @slots slots which transfers padding does not
 * avoid. Threads take part with a struct transfer_thread of their own, whose id
 * is that of transfer_run_join; its sink calls line_logs_needed. Returns 0, or
 * -ENOMEM. Context: set-up.
 */
int transfer_run_needed(struct transfer_run *r, uint32_t slots, uint32_t spins,
			double period, const struct transfer_watch *watch,
			const struct transfer_sink *sink);

/* Let go of all, if there is anything. Context: set-up. */
void transfer_run_release(struct transfer_run *r);

/*
 * Let thread @id take part, as transfer_thread_init. False if there are too
 * many threads. Any context.
 */
bool transfer_run_join(struct transfer_run *r, struct transfer_thread *t,
		       uint32_t id, void *ctx, uint64_t seed);

/*
 * c^2 of transfer_tally.h if each thread draws one sample of every period
 * (rng_skip), @samples in all: only the number that a thread's last period
 * yields is random. Over all parts f of a period, the mean of its variance f (1
 * - f) is 1/6.
 */
double transfer_run_jitter(const struct transfer_run *r, double samples);

/*
 * Write the results: the tally, @stats of the estimator, and how it was
 * sampled. The caller keeps others from adding to the tally.
 */
void transfer_run_store(struct transfer_run *r, struct store *s,
			const struct transfer_stats *stats,
			const struct transfer_sampling *sampling);

#endif
