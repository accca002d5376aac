/* SPDX-License-Identifier: MIT */
/*
 * test_simulate_slow - random traces on random machines, against a second
 * implementation
 *
 * Traces are short and machines small, so that every queue is full at times and
 * every set conflicts. Cycles, misses, mispredictions and lines of memory must
 * be equal.
 *
 * plain only: 10,000 traces; test_simulate runs the same code with sanitizers
 */
#include <malloc.h>

#include "analysis/model/simulate.h"
#include "src/base/rng.h"
#include "tests/fake/fake_trace.h"
#include "tests/oracle/slow_core.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	TRACES = 10000,
	PARTS = 20, /* each in a process of its own */
	THREADS_MAX = 3,
	STEPS_MAX = 40,
	CODE = 0x401000,
	DATA = 0x10000,
	LINES = 24,
};

static const struct {
	const char *code;
	uint8_t bytes;
	bool load, store, branch;
} insns[] = {
	{ "\x48\x01\xc0", 3, false, false, false },     /* add */
	{ "\x48\x83\xc1\x01", 4, false, false, false }, /* add $1,%rcx */
	{ "\x48\x0f\xaf\xc1", 4, false, false, false }, /* imul */
	{ "\x48\xf7\xf1", 3, false, false, false },     /* div %rcx */
	{ "\x48\x8d\x50\x01", 4, false, false, false }, /* lea */
	{ "\xf2\x0f\x58\xc1", 4, false, false, false }, /* addsd */
	{ "\xf2\x0f\x5e\xc1", 4, false, false, false }, /* divsd */
	{ "\x48\x8b\x00", 3, true, false, false },      /* load, chased */
	{ "\x48\x8b\x11", 3, true, false, false },      /* load */
	{ "\xf2\x0f\x10\x01", 4, true, false, false },  /* movsd */
	{ "\x48\x03\x01", 3, true, false, false },      /* add (%rcx) */
	{ "\x48\x89\x11", 3, false, true, false },      /* store */
	{ "\x48\x01\x11", 3, true, true, false },       /* add to memory */
	{ "\xf0\x48\x01\x11", 4, true, true, false },   /* lock add */
	{ "\x0f\xae\xf0", 3, false, false, false },     /* mfence */
	{ "\x75\x10", 2, false, false, true },          /* jne */
	{ "\x75\x10", 2, false, false, true },
};
enum {
	INSNS = sizeof(insns) / sizeof(insns[0])
};

static struct rng rng;
static struct fake_trace fake;
static struct machine machine;
static struct slow_caches slow;
static struct slow_core slow_core[THREADS_MAX];
static char error[MACHINE_ERROR_BYTES], path[128];

static uint32_t below(uint32_t n)
{
	return (uint32_t)rng_below(&rng, n);
}

static void random_cache(struct machine_cache *c, uint32_t sets, uint32_t ways)
{
	c->ways = 1 + below(ways);
	c->size = (uint64_t)sets * c->ways * 64;
	c->latency = 1 + below(9);
	c->tag = below(4);
}

static void random_machine(void)
{
	ck_assert(!machine_read(&machine, "golden-c3", error));
	machine.width = 1 + below(4);
	machine.rob = 2 + below(14);
	machine.iq = 1 + below(machine.rob);
	machine.load_queue = 1 + below(3);
	machine.store_queue = 1 + below(3);
	machine.mshrs = 1 + below(3);
	machine.refill = 2 + below(9);
	machine.predictor = below(4) ? PREDICTOR_ONE_BIT : PREDICTOR_PERFECT;
	machine.vector_load_extra = below(3);
	machine.zero_idioms = below(2);
	machine.forwarding = below(3);
	machine.forwarding_vector = below(3) * below(4);
	machine.in_turn = below(2);
	machine.after_load = below(3) * below(9);
	machine.after_store = below(3) * below(20);
	machine.memory_ns = below(40);
	machine.memory_gbs = 2 + below(40);
	machine.transfer = below(40);
	random_cache(&machine.l1i, 1, 2);
	random_cache(&machine.l1d, 1u << below(2), 2);
	random_cache(&machine.l2, 2, 4);
	random_cache(&machine.llc, 4, 6);
	for (int i = 0; i < UOP_CLASSES; i++)
		if (!below(4))
			machine.uop[i].ports = 1 + below(63);
}

/* A block of one instruction at each of some addresses. */
static void random_program(uint32_t *kind, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++) {
		kind[i] = below(INSNS);
		fake_trace_block(&fake, CODE + 20 * i);
		fake_trace_insn(&fake, insns[kind[i]].code,
				insns[kind[i]].bytes);
	}
}

/* Some of it in an order without a rule; returns how many steps. */
static int random_thread(int thread, const uint32_t *kind, uint32_t blocks,
			 uint32_t ran[], uint64_t addr[])
{
	int steps = 1 + (int)below(STEPS_MAX);

	for (int i = 0; i < steps; i++) {
		uint32_t b = below(blocks), k = kind[b];

		ran[i] = b;
		addr[i] = DATA + 64 * (uint64_t)below(LINES) +
			  8 * (uint64_t)below(2);
		fake_trace_run(&fake, thread, b);
		if (insns[k].load)
			fake_trace_access(&fake, thread, 0, false, addr[i]);
		if (insns[k].store)
			fake_trace_access(&fake, thread, 0, true, addr[i]);
	}
	return steps;
}

static void run_slowly(const struct trace *t, const uint32_t *kind,
		       uint32_t ran[][STEPS_MAX], uint64_t addr[][STEPS_MAX],
		       const int *steps, int threads)
{
	int at[THREADS_MAX] = { 0 };

	memset(&slow, 0, sizeof(slow));
	memset(slow_core, 0, sizeof(slow_core));
	slow.m = &machine;
	for (int i = 0; i < threads; i++) {
		slow_core[i].caches = &slow;
		slow_core[i].id = i;
	}
	for (;;) {
		const struct trace_insn *insn;
		uint64_t next = 0;
		int first = -1, i;
		uint32_t b;

		for (i = 0; i < threads; i++)
			if (at[i] < steps[i] &&
			    (first < 0 || slow_now(&slow_core[i]) <
						  slow_now(&slow_core[first])))
				first = i;
		if (first < 0)
			return;
		i = at[first]++;
		b = ran[first][i];
		insn = &t->insn[t->block[b].first];
		if (i + 1 < steps[first])
			next = t->block[ran[first][i + 1]].ip;
		slow_execute(&slow_core[first], insn,
			     insns[kind[b]].load ? addr[first][i] : 0,
			     insns[kind[b]].store ? addr[first][i] : 0,
			     next && next != insn->ip + insn->bytes);
	}
}

static void compare(const struct simulated *s, int threads)
{
	for (int i = 0; i < threads; i++) {
		const struct simulated_thread *t = &s->thread[i];
		const struct slow_core *c = &slow_core[i];

		ck_assert_uint_eq(t->cycles, slow_end(c));
		ck_assert_uint_eq(t->counts.uops, (uint64_t)c->uops);
		ck_assert_uint_eq(t->counts.mispredicted,
				  (uint64_t)c->mispredicted);
		ck_assert_uint_eq(t->caches.l1i_misses,
				  slow.misses[i][SLOW_L1I]);
		ck_assert_uint_eq(t->caches.l1d_misses,
				  slow.misses[i][SLOW_L1D]);
		ck_assert_uint_eq(t->caches.l2_misses, slow.misses[i][SLOW_L2]);
		ck_assert_uint_eq(t->caches.llc_misses,
				  slow.misses[i][SLOW_LLC]);
	}
	ck_assert_uint_eq(s->memory_reads, slow.reads);
	ck_assert_uint_eq(s->memory_writes, slow.writes);
}

/* No event before its cause; commits in the order of the program. */
static void check_order(const struct slow_core *c)
{
	for (int i = 0; i < c->uops; i++) {
		const struct slow_uop *x = &c->uop[i];

		ck_assert_uint_gt(x->ready, x->dispatch);
		ck_assert_uint_ge(x->issue, x->ready);
		ck_assert_uint_ge(x->done, x->zero ? x->dispatch : x->issue);
		ck_assert_uint_gt(x->commit, x->done);
		ck_assert(!i || x->commit >= c->uop[i - 1].commit);
	}
}

static void try_one(void)
{
	static uint32_t ran[THREADS_MAX][STEPS_MAX];
	static uint64_t addr[THREADS_MAX][STEPS_MAX];
	uint32_t kind[16], blocks = 2 + below(14);
	int steps[THREADS_MAX], threads = 1 + (int)below(THREADS_MAX);
	struct simulated s;
	struct trace t;

	fake_trace_init(&fake);
	random_machine();
	random_program(kind, blocks);
	for (int i = 0; i < threads; i++)
		steps[i] = random_thread(i, kind, blocks, ran[i], addr[i]);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!simulate(&s, &t, &machine, error), "%s", error);
	run_slowly(&t, kind, ran, addr, steps, threads);
	compare(&s, threads);
	for (int i = 0; i < threads; i++)
		check_order(&slow_core[i]);
	simulated_release(&s);
	trace_close(&t);
	fake_trace_release(&fake);
}

START_TEST(both_implementations_agree_cycle_for_cycle)
{
	rng_seed(&rng, 1, (uint64_t)_i);
	for (int i = 0; i < TRACES / PARTS; i++)
		try_one();
}
END_TEST

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
}

int main(void)
{
	Suite *s = suite_create("simulate_slow");
	TCase *t = tcase_create("simulate_slow");

	/* Large tables, of which little is used, stay pages that are not
	 * touched. */
	mallopt(M_MMAP_THRESHOLD, 1 << 17);
	tcase_add_checked_fixture(t, begin, sandbox_teardown);
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, both_implementations_agree_cycle_for_cycle, 0,
			    PARTS);
	suite_add_tcase(s, t);
	return run_suite(s);
}
