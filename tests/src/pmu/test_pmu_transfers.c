/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_transfers - transfers estimated from the samples of hardware events
 *
 * Threads of a generated interleaving run on the fake kernel. Its PEBS and IBS
 * samples go to the estimator of transfers (engine/transfer.h), which watches
 * whole lines without delay. The exact directory (exact/directory.h) sees every
 * access and gives the truth. In twelve runs of each machine the 95 % intervals
 * must cover the truth often enough, and the sum of all runs must have no bias.
 */
#include <check.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fake/fake_kernel.h"
#include "src/exact/directory.h"
#include "src/pmu/thread.h"
#include "src/engine/transfer.h"
#include "src/engine/transfer_tally.h"
#include "tests/run_suite.h"

enum {
	THREADS = 4,
	PERIOD = 1000,
	ACCESSES = 1200000, /* of one run */
	RUNS = 12,
	COVERED_MIN = 9, /* of 12 at 95 %: fewer has a chance of 0.2 % */
	LINE = 64,
	SHARED = 8, /* lines that all use */
	OWN = 256,
};

#define BASE 0x7f0000000000ull

static struct fake_kernel *k;
static struct pmu_plan plan;
static struct pmu_thread pmu[THREADS];
static struct rng rng[THREADS], pattern;
static struct exact *exact;
static struct exact_thread exact_thread[THREADS];
static struct transfer *transfer;
static struct transfer_thread transfer_thread[THREADS];
static struct transfer_tally *tally;
static struct transfer_watched watched;
static bool watching;
static int running;
static uint64_t samples, lost;
static size_t exact_bytes, transfer_bytes;

static void *memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static int arm(void *ctx, const struct transfer_watched *w, uint64_t now,
	       uint64_t *ready)
{
	watched = *w;
	watching = true;
	*ready = now;
	return 0;
}

static void disarm(void *ctx, uint32_t slot)
{
	watching = false;
}

static void take_chain(void *ctx, const struct transfer_chain *c)
{
	transfer_tally_add(tally, c);
}

static void take(void *ctx, const struct pmu_sample *s)
{
	struct access a = { s->memory.addr, s->fields.ip, 8, s->memory.access };

	samples++;
	transfer_sample(transfer, &transfer_thread[running], &a, k->now,
			running);
}

static void lose(void *ctx, enum loss_cause cause, uint64_t n)
{
	if (cause != LOSS_NOT_MEMORY)
		lost += n;
}

static void on_signal(void *ctx, const struct fake_event *e, int fd,
		      uint64_t addr)
{
	static const struct pmu_sink sink = { take, lose };

	pmu_thread_pause(&pmu[running]);
	pmu_thread_drain(&pmu[running], &sink, NULL);
	pmu_thread_resume(&pmu[running]);
}

/*
 * A quarter on shared lines: of every second one each thread has a word of its
 * own, which is false sharing; and every third op is no access.
 */
static struct fake_op invent(int thread)
{
	uint64_t line = rng_below(&pattern, SHARED);
	struct fake_op op = { .latency = 4 };

	op.access.ip = 0x400000;
	if (!rng_below(&pattern, 3))
		return op;
	op.access.len = 8;
	op.access.flags = rng_below(&pattern, 3) ? ACCESS_LOAD : ACCESS_STORE;
	if (rng_below(&pattern, 4))
		op.access.addr = BASE + LINE * (SHARED + thread * OWN +
						rng_below(&pattern, OWN));
	else
		op.access.addr =
			BASE + LINE * line + (line % 2 ? 8 * thread : 0);
	return op;
}

static void boot(enum fake_model model, int run)
{
	static const struct transfer_watch watch = { arm, disarm };
	static const struct transfer_sink chains = { take_chain };
	const struct pmu_wish wish = { .period = PERIOD, .sigtrap = true };
	const struct pmu_delivery how = { .sigtrap = true };
	const struct exact_config every = { .threads = THREADS,
					    .line_bytes = LINE,
					    .regions = 1 << 10 };
	struct transfer_config config = {
		.kind = TRANSFER_EPOCH,
		.threads = THREADS,
		.slots = 1,
		.line_bytes = LINE,
		.chunk_bytes = LINE,
		.ranges = 1,
	};
	struct pmu_refusal no;

	k = fake_kernel_new(model);
	ck_assert_int_eq(pmu_plan_make(&plan, &k->calls,
				       model == FAKE_ZEN4 ? PMU_IBS : PMU_PEBS,
				       &wish, &no),
			 0);
	k->raise = on_signal;
	config.period = plan.period;
	exact_bytes = exact_size(&every);
	exact = exact_init(memory(exact_bytes), &every);
	transfer_bytes = transfer_size(&config);
	transfer =
		transfer_init(memory(transfer_bytes), &config, &watch, &chains);
	tally = transfer_tally_init(memory(transfer_tally_size(THREADS)),
				    THREADS);
	ck_assert_ptr_nonnull(exact);
	ck_assert_ptr_nonnull(transfer);
	watching = false;
	samples = 0;
	rng_seed(&pattern, run, model);
	for (int i = 0; i < THREADS; i++) {
		rng_seed(&rng[i], run, i);
		exact_thread_init(exact, &exact_thread[i], i);
		transfer_thread_init(&transfer_thread[i], i, NULL, run + 1);
		fake_kernel_run_thread(k, i, false);
		ck_assert_int_eq(pmu_thread_open(&pmu[i], &k->calls, &plan,
						 &how, &rng[i], NULL),
				 0);
		pmu_thread_resume(&pmu[i]);
	}
}

static bool is_watched(const struct access *a)
{
	return watching && (a->addr & -LINE) == watched.line;
}

static void run(void)
{
	for (int i = 0; i < ACCESSES; i++) {
		struct fake_op op;

		running = (int)rng_below(&pattern, THREADS);
		fake_kernel_run_thread(k, running, false);
		op = invent(running);
		if (op.access.flags) {
			exact_access(exact, &exact_thread[running], &op.access,
				     running);
			if (is_watched(&op.access))
				transfer_trap(transfer,
					      &transfer_thread[running],
					      watched.slot, watched.generation,
					      0, &op.access, k->now, running);
		}
		fake_run(k, &op);
	}
	transfer_finish(transfer, &transfer_thread[0]);
}

static void shut_down(void)
{
	for (int i = 0; i < THREADS; i++)
		pmu_thread_close(&pmu[i]);
	ck_assert_int_eq(k->open_fds, 0);
	munmap(exact, exact_bytes);
	munmap(transfer, transfer_bytes);
	munmap(tally, transfer_tally_size(THREADS));
	fake_kernel_free(k);
}

/* What one share of all runs came to. */
struct result {
	double truth, estimate, variance;
	int covered;
};

static void add(struct result *r, enum transfer_share share, double truth)
{
	const struct transfer_moment *m =
		&transfer_tally_total(tally)->share[share];
	/* Intervals are even in a half of the period: 1/48 of its square. */
	const struct transfer_sampling s = { samples, 1.0 / 48, 0, 0 };
	struct interval i = transfer_interval(m, &s);

	r->truth += truth;
	r->estimate += m->sum;
	r->variance += transfer_variance(m, &s);
	r->covered += i.low <= truth && truth <= i.high;
}

static void check(const struct result *r, const char *what)
{
	ck_assert_msg(fabs(r->estimate - r->truth) <= 3 * sqrt(r->variance),
		      "%s: %.0f estimated, %.0f in truth, sigma %.0f", what,
		      r->estimate, r->truth, sqrt(r->variance));
	/* Enough transfers were seen for the intervals to mean something. */
	ck_assert_msg(sqrt(r->variance) < 0.1 * r->truth, "%s: sigma %.3f",
		      what, sqrt(r->variance) / r->truth);
	ck_assert_msg(r->covered >= COVERED_MIN, "%s: %d of %d covered", what,
		      r->covered, RUNS);
}

static void check_machine(enum fake_model model)
{
	struct result all = { 0 }, falsely = { 0 };

	for (int i = 0; i < RUNS; i++) {
		struct exact_cell truth;

		boot(model, i);
		run();
		truth = exact_total(exact);
		add(&all, TRANSFER_ALL, truth.transfers);
		add(&falsely, TRANSFER_FALSE, truth.false_sharing);
		shut_down();
	}
	check(&all, "transfers");
	check(&falsely, "false sharing");
	ck_assert_uint_eq(lost, 0);
}

START_TEST(an_intel_machine_gives_the_transfers_that_were_made)
{
	check_machine(FAKE_SKYLAKE);
}
END_TEST

START_TEST(an_amd_machine_gives_the_transfers_that_were_made)
{
	check_machine(FAKE_ZEN4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pmu_transfers");
	TCase *tc = tcase_create("pmu_transfers");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, an_intel_machine_gives_the_transfers_that_were_made);
	tcase_add_test(tc, an_amd_machine_gives_the_transfers_that_were_made);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
