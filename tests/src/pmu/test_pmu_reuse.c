/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_reuse - reuse times from the samples of hardware events
 *
 * Threads run on the fake kernel. Its PEBS and IBS samples go to
 * engine/reuse_thread_regs.h with four registers; its counters give the times.
 * The truth is kept beside: for each access of a thread, how many of its
 * accesses ago it made the last one to the same word.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_kernel.h"
#include "src/pmu/thread.h"
#include "src/engine/reuse_histogram.h"
#include "src/engine/reuse_thread_regs.h"
#include "tests/run_suite.h"

enum {
	THREADS = 2,
	PERIOD = 1000,
	OPS = 12000000, /* of all threads */
	WORDS = 1024,   /* of each */
	REGISTERS = 4,
	DECIDED_MIN = 1000, /* reuses of a thread */
};

enum fault {
	NO_FAULT,
	INEXACT,      /* samples that do not name the instruction */
	THROTTLED,    /* and unthrottled */
	MULTIPLEXED,  /* loads and stores take turns */
	LOST,         /* the ring is full: no signal comes for a while */
	UNKNOWN,      /* records of no known type */
	TRUNCATED,    /* samples with an end that is missing */
	CORRUPT,      /* the kernel claims to have written more than fits */
	NO_REGISTERS, /* they cannot be armed for a while */
	FAULTS
};

#define BASE         0x7f0000000000ull
#define DANGLING_MAX 0.02

static struct fake_kernel *k;
static struct pmu_plan plan;
static struct rng pattern;
static int running;
static uint64_t loss[LOSS_COUNT], refused;
static bool deaf; /* signals do not come */

static struct worker {
	struct pmu_thread pmu;
	struct rng rng;
	struct reuse_thread_regs reuse;
	struct watch_range range[REGISTERS];
	int armed;
	bool denied; /* no registers */
	uint64_t sweep;
	/* The truth. */
	uint64_t made, last[WORDS];
	uint64_t true_bin[REUSE_BINS], true_uses;
	/* What came out. */
	double bin[REUSE_BINS], squares[REUSE_BINS], weight, lost, dangling;
	uint64_t decided, invalid;
	void *mem;
} worker[THREADS];

static int arm(void *ctx, const struct watch_range *ranges, int n)
{
	struct worker *w = ctx;

	if (w->denied) {
		refused++;
		w->armed = 0;
		return -1;
	}
	memcpy(w->range, ranges, n * sizeof(*ranges));
	w->armed = n;
	return n;
}

static void disarm(void *ctx)
{
	struct worker *w = ctx;

	w->armed = 0;
}

static const struct comm_watch watch = { arm, disarm };

static void decided(void *ctx, const struct reuse_event *v)
{
	struct worker *w = ctx;
	uint32_t bin;

	if (v->outcome == REUSE_INVALIDATED ||
	    v->use_place.thread != w - worker || v->time > 2 * w->made)
		w->invalid++;
	if (v->outcome == REUSE_DANGLING)
		w->dangling += v->weight;
	if (v->outcome != REUSE_REUSED)
		return;
	bin = reuse_bin_of(v->time);
	w->bin[bin] += v->weight;
	w->squares[bin] += (double)v->weight * v->weight;
	w->weight += v->weight;
	w->decided++;
}

static void lost(void *ctx, uint64_t weight)
{
	struct worker *w = ctx;

	w->lost += weight;
}

static void take(void *ctx, const struct pmu_sample *s)
{
	struct worker *w = ctx;
	struct access a = { s->memory.addr, s->fields.ip, 8, s->memory.access };
	uint64_t now;

	ck_assert(pmu_thread_accesses(&w->pmu, &now));
	reuse_thread_regs_sample(&w->reuse, &a, now);
}

static void lose(void *ctx, enum loss_cause cause, uint64_t n)
{
	loss[cause] += n;
}

static void on_signal(void *ctx, const struct fake_event *e, int fd,
		      uint64_t addr)
{
	static const struct pmu_sink sink = { take, lose };
	struct worker *w = &worker[running];

	if (deaf)
		return;
	pmu_thread_pause(&w->pmu);
	pmu_thread_drain(&w->pmu, &sink, w);
	pmu_thread_resume(&w->pmu);
}

/* A register of the running thread traps after the access. */
static void on_trap(struct worker *w, int reg, const struct access *a)
{
	uint64_t now;

	pmu_thread_pause(&w->pmu);
	ck_assert(pmu_thread_accesses(&w->pmu, &now));
	reuse_thread_regs_trap(&w->reuse, reg, a, now);
	pmu_thread_resume(&w->pmu);
}

/*
 * One in three ops is no access. Of the words a quarter is swept over again
 * and again; the others are met at random, some of them much more often.
 */
static struct fake_op invent(struct worker *w)
{
	struct fake_op op = { .latency = 4 };
	uint64_t word;

	op.access.ip = 0x400000;
	if (!rng_below(&pattern, 3))
		return op;
	if (rng_below(&pattern, 2))
		word = w->sweep++ % (WORDS / 4);
	else if (rng_below(&pattern, 2))
		word = WORDS / 4 + rng_below(&pattern, 16);
	else
		word = WORDS / 4 + rng_below(&pattern, WORDS / 4 * 3);
	op.access.addr = BASE + 8 * ((w - worker) * WORDS + word);
	op.access.len = 8;
	op.access.flags = rng_below(&pattern, 3) ? ACCESS_LOAD : ACCESS_STORE;
	return op;
}

static void note(struct worker *w, const struct access *a)
{
	uint64_t word = (a->addr - BASE) / 8 % WORDS;

	w->made++;
	if (w->last[word]) {
		w->true_bin[reuse_bin_of(w->made - w->last[word])]++;
		w->true_uses++;
	}
	w->last[word] = w->made;
}

static void boot(enum fake_model model, enum fault fault)
{
	static const struct reuse_thread_regs_sink sink = { decided, lost };
	const struct pmu_wish wish = { .period = PERIOD, .sigtrap = true };
	const struct pmu_delivery how = { .sigtrap = true };
	struct pmu_refusal no;

	memset(loss, 0, sizeof(loss));
	refused = 0;
	deaf = false;
	k = fake_kernel_new(model);
	ck_assert_int_eq(pmu_plan_make(&plan, &k->calls,
				       model == FAKE_ZEN4 ? PMU_IBS : PMU_PEBS,
				       &wish, &no),
			 0);
	k->raise = on_signal;
	if (fault == INEXACT)
		k->inexact = 6;
	if (fault == THROTTLED) {
		k->throttle = 50;
		k->throttled_for = 2000;
	}
	if (fault == MULTIPLEXED && plan.source == PMU_PEBS) {
		k->rotate = 5000;
		plan.event[1].leader = 1;
	}
	rng_seed(&pattern, 5, model);
	for (int i = 0; i < THREADS; i++) {
		struct worker *w = &worker[i];
		size_t bytes = reuse_thread_regs_size(REGISTERS);

		memset(w, 0, sizeof(*w));
		ck_assert_int_eq(posix_memalign(&w->mem, 64, bytes), 0);
		memset(w->mem, 0, bytes);
		reuse_thread_regs_init(&w->reuse, w->mem, REGISTERS, i, &watch,
				       &sink, w, 3);
		rng_seed(&w->rng, 7, i);
		fake_kernel_run_thread(k, i, false);
		ck_assert_int_eq(pmu_thread_open(&w->pmu, &k->calls, &plan,
						 &how, &w->rng, NULL),
				 0);
		pmu_thread_resume(&w->pmu);
	}
}

static void step(struct worker *w)
{
	struct fake_op op = invent(w);
	const struct access *a = &op.access;
	int hit = -1;

	for (int i = 0; a->flags && i < w->armed; i++)
		if (a->addr < w->range[i].addr + w->range[i].len &&
		    w->range[i].addr < a->addr + a->len)
			hit = i;
	if (a->flags)
		note(w, a);
	fake_run(k, &op);
	/* What the sample of this very access armed does not trap yet. */
	if (hit >= 0)
		on_trap(w, hit, a);
}

/* Now and then, and over by itself. */
static void trouble(enum fault fault, int i)
{
	static const uint64_t nothing[2];
	bool now = i % 200000 == 0;

	if (fault == LOST)
		deaf = i % 4000000 < 1000000;
	else if (fault == UNKNOWN && now)
		fake_record(k, running, 200, 0, nothing, sizeof(nothing));
	else if (fault == TRUNCATED && now)
		fake_record(k, running, PERF_RECORD_SAMPLE, 0, nothing,
			    sizeof(nothing));
	else if (fault == CORRUPT && now)
		fake_corrupt_head(k, running, 1 << 20);
	else if (fault == NO_REGISTERS)
		worker[0].denied = worker[1].denied = i % 4000000 < 20000;
}

static void run(enum fault fault)
{
	for (int i = 0; i < OPS; i++) {
		running = i / 50 % THREADS;
		fake_kernel_run_thread(k, running, false);
		trouble(fault, i);
		step(&worker[running]);
	}
}

static void shut_down(void)
{
	for (int i = 0; i < THREADS; i++) {
		pmu_thread_close(&worker[i].pmu);
		free(worker[i].mem);
	}
	ck_assert_int_eq(k->open_fds, 0);
	fake_kernel_free(k);
}

/*
 * Of the share up to a bin: by the weights that were found on either side, and
 * not less than by all weights and the true share, where few were found.
 */
static double sigma(double estimate, double truth, double below, double above)
{
	double other = 1 - estimate;
	double found = below * other * other + above * estimate * estimate;

	return sqrt(fmax(found, (below + above) * truth * fdim(1, truth)));
}

/*
 * The distribution of the estimate within 3.5 sigma of the true one, whose
 * times may be off by @bins bins of an eighth of an octave. What dangles would
 * have ended on either side.
 */
static void check_times(const struct worker *w, int bins)
{
	double truth[REUSE_BINS], estimate = 0, sum = 0, below = 0, above = 0;

	for (int i = 0; i < REUSE_BINS; i++) {
		above += w->squares[i];
		sum += (double)w->true_bin[i] / w->true_uses;
		truth[i] = sum;
	}
	for (int i = 0; i < REUSE_BINS; i++) {
		double low = i < bins ? 0 : truth[i - bins];
		double high = i + bins < REUSE_BINS ? truth[i + bins] : 1;
		double all = w->weight + w->dangling, slack;

		estimate += w->bin[i] / all;
		below += w->squares[i];
		above -= w->squares[i];
		slack = 1e-3 +
			3.5 / w->weight *
				sigma(estimate, (low + high) / 2, below, above);
		ck_assert_msg(low - w->dangling / all - slack <= estimate &&
				      estimate <= high + slack,
			      "up to %lu: %.4f, in truth %.4f to %.4f +- %.4f",
			      (unsigned long)reuse_bin_high(i), estimate, low,
			      high, slack);
	}
}

/* What each fault is counted as. */
static void check_fault(enum fault fault)
{
	uint64_t lost_uses = worker[0].lost + worker[1].lost;

	switch (fault) {
	case INEXACT:
		ck_assert_uint_gt(loss[LOSS_INEXACT_IP], 100);
		break;
	case THROTTLED:
		ck_assert_uint_gt(k->throttles, 10);
		ck_assert_uint_eq(loss[LOSS_THROTTLED], k->throttles);
		break;
	case LOST:
		ck_assert_uint_gt(k->lost, 10);
		ck_assert_uint_eq(loss[LOSS_RING_FULL], k->lost);
		break;
	case UNKNOWN:
	case TRUNCATED:
	case CORRUPT:
		ck_assert_uint_gt(loss[LOSS_MALFORMED], 10);
		break;
	case NO_REGISTERS:
		ck_assert_uint_gt(refused, 5);
		ck_assert_uint_gt(lost_uses, 0);
		break;
	default:
		break;
	}
	ck_assert(fault == NO_REGISTERS || !lost_uses);
}

static void check_machine(enum fake_model model, enum fault fault)
{
	boot(model, fault);
	run(fault);
	check_fault(fault);
	for (int i = 0; i < THREADS; i++) {
		uint64_t now;

		pmu_thread_pause(&worker[i].pmu);
		ck_assert(pmu_thread_accesses(&worker[i].pmu, &now));
		reuse_thread_regs_end(&worker[i].reuse, now);
	}
	for (int i = 0; i < THREADS; i++) {
		ck_assert_double_lt(worker[i].dangling,
				    DANGLING_MAX * worker[i].weight);
		ck_assert_uint_eq(worker[i].invalid, 0);
		ck_assert_uint_ge(worker[i].decided, DECIDED_MIN);
		/* Of ops, of events that take turns or were off. */
		check_times(&worker[i], model == FAKE_ZEN4 ||
						fault == MULTIPLEXED ||
						fault == THROTTLED);
	}
	shut_down();
}

START_TEST(an_intel_machine_gives_the_reuse_times_that_were)
{
	check_machine(FAKE_SKYLAKE, _i);
}
END_TEST

START_TEST(an_amd_machine_gives_the_reuse_times_that_were)
{
	check_machine(FAKE_ZEN4, _i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu_reuse");
	TCase *tc = tcase_create("pmu_reuse");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc,
			    an_intel_machine_gives_the_reuse_times_that_were, 0,
			    FAULTS);
	tcase_add_loop_test(tc, an_amd_machine_gives_the_reuse_times_that_were,
			    0, FAULTS);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
