/* SPDX-License-Identifier: MIT */
/*
 * transfer_run - an estimator of transfers over one process, with its results
 */
#include <errno.h>
#include <stdatomic.h>

#include "transfer_run.h"
#include "transfer_store.h"
#include "src/base/zero_pages.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	CHUNK_BYTES = 8,
	THREADS = TRANSFER_THREADS_MAX, /* threads with ids below this */
};

struct transfer_config transfer_run_config(enum transfer_kind kind,
					   uint64_t period, bool lines,
					   uint32_t registers)
{
	return (struct transfer_config){
		.kind = kind,
		.threads = THREADS,
		.slots = lines ? registers : 1,
		.line_bytes = LINE_BYTES,
		.chunk_bytes = lines ? LINE_BYTES : CHUNK_BYTES,
		.ranges = lines ? 1 : registers,
		.period = (double)period,
	};
}

void transfer_run_release(struct transfer_run *r)
{
	if (r->transfer)
		munmap(r->transfer, r->transfer_bytes);
	if (r->tally)
		munmap(r->tally, r->tally_bytes);
	if (r->logs)
		munmap(r->logs, line_logs_size());
	if (r->needed)
		munmap(r->needed, r->needed_bytes);
	r->transfer = NULL;
	r->tally = NULL;
	r->logs = NULL;
	r->needed = NULL;
}

int transfer_run_log(struct transfer_run *r, bool longer)
{
	void *mem = zero_pages(line_logs_size());

	if (!mem)
		return -ENOMEM;
	r->logs = line_logs_init(mem, longer);
	return 0;
}

int transfer_run_needed(struct transfer_run *r, uint32_t slots, uint32_t spins,
			double period, const struct transfer_watch *watch,
			const struct transfer_sink *sink)
{
	const struct transfer_config config = {
		.kind = TRANSFER_NEEDED,
		.threads = THREADS,
		.slots = slots,
		.line_bytes = LINE_BYTES,
		.chunk_bytes = LINE_BYTES,
		.ranges = 1,
		.spins = spins,
		.awaits = r->awaits,
		.period = period,
	};
	size_t bytes = transfer_size(&config);
	void *mem = zero_pages(bytes);

	if (!mem)
		return -ENOMEM;
	r->needed_bytes = bytes;
	r->needed = transfer_init(mem, &config, watch, sink);
	line_logs_with_needed(r->logs);
	return 0;
}

int transfer_run_init(struct transfer_run *r,
		      const struct transfer_config *config,
		      const struct transfer_watch *watch,
		      const struct transfer_sink *sink)
{
	void *transfer, *tally;

	transfer_run_release(r);
	r->awaits = config->awaits;
	r->transfer_bytes = transfer_size(config);
	r->tally_bytes = transfer_tally_size(THREADS);
	if (!r->transfer_bytes)
		return -EINVAL;
	transfer = zero_pages(r->transfer_bytes);
	tally = zero_pages(r->tally_bytes);
	if (!transfer || !tally)
		return -ENOMEM;
	atomic_store(&r->ids, 0);
	r->writer = (struct store_writer){ .section = CDP_TRANSFERS };
	r->transfer = transfer_init(transfer, config, watch, sink);
	r->tally = transfer_tally_init(tally, THREADS);
	return r->transfer && r->tally ? 0 : -EINVAL;
}

bool transfer_run_join(struct transfer_run *r, struct transfer_thread *t,
		       uint32_t id, void *ctx, uint64_t seed)
{
	uint32_t ids = atomic_load(&r->ids);

	if (id >= THREADS)
		return false;
	while (ids <= id &&
	       !atomic_compare_exchange_weak(&r->ids, &ids, id + 1))
		;
	transfer_thread_init(t, id, ctx, seed);
	return true;
}

double transfer_run_jitter(const struct transfer_run *r, double samples)
{
	double ends = atomic_load(&r->ids) / 6.0;

	return ends < samples ? ends / samples : 1;
}

void transfer_run_store(struct transfer_run *r, struct store *s,
			const struct transfer_stats *stats,
			const struct transfer_sampling *sampling)
{
	struct transfer_left left;

	transfer_store(s, &r->writer, r->tally, stats, atomic_load(&r->ids),
		       sampling);
	left = transfer_left(r->transfer);
	store_transfer(s, &r->writer, CDP_ESTIMATE_LEFT, 0, 0, &left,
		       sizeof(left));
	if (r->logs)
		line_logs_store(r->logs, s, &r->writer);
}
