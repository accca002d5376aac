/* SPDX-License-Identifier: MIT */
/*
 * pmu_hand - a thread with hardware events on the fake kernel
 *
 * It executes a known mix of ops, so the truth of every number is known.
 */
#ifndef COMDET_TESTS_SRC_PMU_PMU_HAND_H
#define COMDET_TESTS_SRC_PMU_PMU_HAND_H

#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/fake/fake_kernel.h"
#include "src/pmu/thread.h"

enum {
	PERIOD = 1000,
	OPS = 2000000,
	LINES = 16,
};

/* Results of the code under test. */
struct seen {
	uint64_t samples, loads, stores, both, locked;
	uint64_t by_line[LINES];
	uint64_t loss[LOSS_COUNT];
	uint64_t wrong; /* samples that say anything but what was done */
};

/* What was done. */
struct truth {
	uint64_t loads, stores, ops, user_ops, memory;
	uint64_t by_line[LINES];
};

static struct fake_kernel *k;
static struct pmu_plan plan;
static struct pmu_thread thread;
static struct rng rng;
static struct seen seen;
static struct truth truth;

#define BASE 0x7f0000000000ull

/* Ip, address and width of an access follow from each other: see take(). */
static inline struct fake_op make_op(struct rng *r, bool kernel_too)
{
	struct fake_op op = { .latency = 4 };
	uint64_t what = rng_below(r, 10), line = rng_below(r, LINES);

	op.access.ip = 0x400000 + line * 16;
	op.access.addr = BASE + line * 64 + 8 * rng_below(r, 8);
	op.access.len = 8;
	if (what < 4)
		op.access.flags = ACCESS_LOAD;
	else if (what < 6)
		op.access.flags = ACCESS_STORE;
	else if (what < 7)
		op.access.flags = ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED;
	else
		op.access.len = 0;
	op.in_kernel = kernel_too && !rng_below(r, 5);
	if (op.in_kernel)
		op.access.ip = 0xffffffff81000000ull;
	return op;
}

static inline void count(const struct fake_op *op)
{
	uint32_t flags = op->access.flags;

	truth.ops++;
	if (op->in_kernel)
		return;
	truth.user_ops++;
	truth.loads += !!(flags & ACCESS_LOAD);
	truth.stores += !!(flags & ACCESS_STORE);
	truth.memory += !!flags;
	if (flags)
		truth.by_line[(op->access.addr - BASE) / 64]++;
}

static inline void take(void *ctx, const struct pmu_sample *s)
{
	uint64_t line = (s->memory.addr - BASE) / 64;
	uint32_t access = s->memory.access;

	seen.samples++;
	if (line >= LINES || s->fields.ip != 0x400000 + line * 16 ||
	    (s->role == PMU_OPS && s->memory.len != 8) ||
	    s->fields.time > k->now || s->fields.cpu != 0) {
		seen.wrong++;
		return;
	}
	seen.by_line[line]++;
	seen.loads += !!(access & ACCESS_LOAD);
	seen.stores += !!(access & ACCESS_STORE);
	seen.both += (access & ACCESS_LOAD) && (access & ACCESS_STORE);
	seen.locked += !!(access & ACCESS_LOCKED);
}

static inline void lose(void *ctx, enum loss_cause cause, uint64_t n)
{
	seen.loss[cause] += n;
}

static const struct pmu_sink sink = { take, lose };

/* The handler: as the preload's, less what it does with a sample. */
static inline void handle(void)
{
	pmu_thread_pause(&thread);
	pmu_thread_drain(&thread, &sink, NULL);
	pmu_thread_resume(&thread);
}

static inline void on_signal(void *ctx, const struct fake_event *e, int fd,
			     uint64_t addr)
{
	handle();
}

static inline bool is_ibs(enum fake_model model)
{
	return model == FAKE_ZEN2 || model == FAKE_ZEN4;
}

static inline void boot(enum fake_model model)
{
	const struct pmu_wish wish = { .period = PERIOD, .sigtrap = true };
	const struct pmu_delivery how = { .sigtrap = true };
	struct pmu_refusal no;

	memset(&seen, 0, sizeof(seen));
	memset(&truth, 0, sizeof(truth));
	k = fake_kernel_new(model);
	if (model == FAKE_ZEN2) /* without the filter */
		fake_kernel_boot(k, "6.12.24");
	k->paranoid = 1;
	k->raise = on_signal;
	ck_assert_int_eq(pmu_plan_make(&plan, &k->calls,
				       is_ibs(model) ? PMU_IBS : PMU_PEBS,
				       &wish, &no),
			 0);
	k->samples = k->signals = 0;
	rng_seed(&rng, 7, model);
	ck_assert_int_eq(
		pmu_thread_open(&thread, &k->calls, &plan, &how, &rng, NULL),
		0);
}

static inline void run(uint64_t ops, bool kernel_too)
{
	struct rng r;

	rng_seed(&r, 11, 1);
	pmu_thread_resume(&thread);
	for (uint64_t i = 0; i < ops; i++) {
		struct fake_op op = make_op(&r, kernel_too);

		count(&op);
		fake_run(k, &op);
	}
	pmu_thread_pause(&thread);
	pmu_thread_drain(&thread, &sink, NULL);
}

static inline void shut_down(void)
{
	if (!k)
		return;
	pmu_thread_close(&thread);
	ck_assert_int_eq(k->open_fds, 0);
	ck_assert_int_eq(k->locked_pages, 0);
	fake_kernel_free(k);
	k = NULL;
}

/* The share of @n in @all, against @true_share: a binomial's 3.3 sigma. */
static inline void check_share(uint64_t n, uint64_t all, double true_share)
{
	double sigma = sqrt(true_share * (1 - true_share) / all);

	ck_assert_msg(fabs((double)n / all - true_share) <= 3.3 * sigma,
		      "%g sampled, %g in truth, sigma %g", (double)n / all,
		      true_share, sigma);
}

#endif
