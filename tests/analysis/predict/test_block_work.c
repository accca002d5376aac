/* SPDX-License-Identifier: MIT */
/*
 * test_block_work - blocks outside of micro-traces count like those inside
 *
 * A profile is collected from the same trace twice: once with micro-traces
 * everywhere, which go through each instruction, once with gaps between them.
 */
#include "analysis/predict/workload.h"
#include "src/base/rng.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	EVERYWHERE = MICRO_INSNS,
	WITH_GAPS = 2 * MICRO_INSNS,
	/* Instructions of the threads. Each has a phase that ends in a gap. */
	LENGTH = 215 * 1000, /* has a window that ends without a phase, too */
	SHORT = 30 * 1000,
	PHASE = 7600,
	BLOCKS = 40,
	BLOCK_INSNS = 7,
	APART = 50, /* bytes between blocks, so some are on two lines */
	CODE = 0x401000,
	DATA = 0x10000,
	LINES = 900,
	LINES_APART = 500, /* from those of one thread to another's */
	THREADS = 2,
};

static const struct {
	const char *code;
	uint8_t bytes, loads, stores;
} insns[] = {
	{ "\x48\x01\xc0", 3, 0, 0 },     /* add %rax,%rax */
	{ "\x90", 1, 0, 0 },             /* nop */
	{ "\xf2\x0f\x58\xc1", 4, 0, 0 }, /* addsd */
	{ "\x48\x8b\x00", 3, 1, 0 },     /* mov (%rax),%rax */
	{ "\x48\x89\x11", 3, 0, 1 },     /* mov %rdx,(%rcx) */
	{ "\x48\x01\x11", 3, 1, 1 },     /* add %rdx,(%rcx) */
	{ "\xa6", 1, 2, 0 },             /* cmpsb */
	{ "\x75\x10", 2, 0, 0 },         /* jne */
};

static struct rng rng;
static char path[128], error[WORKLOAD_ERROR_BYTES];
static struct workload all, some;
static uint8_t kind[BLOCKS][BLOCK_INSNS];
static uint32_t size[BLOCKS];

static uint32_t below(size_t n)
{
	return (uint32_t)rng_below(&rng, (uint32_t)n);
}

static void add_blocks(struct fake_trace *fake)
{
	for (uint32_t b = 0; b < BLOCKS; b++) {
		fake_trace_block(fake, CODE + APART * b);
		size[b] = 1 + below(BLOCK_INSNS);
		for (uint32_t i = 0; i < size[b]; i++) {
			uint32_t k = below(sizeof(insns) / sizeof(*insns));

			kind[b][i] = (uint8_t)k;
			fake_trace_insn(fake, insns[k].code, insns[k].bytes);
		}
	}
}

static uint64_t any_address(int thread)
{
	return DATA + 8 * (uint64_t)below(8 * LINES) +
	       64 * LINES_APART * (uint64_t)thread;
}

static void run_block(struct fake_trace *fake, int thread, uint32_t b)
{
	fake_trace_run(fake, thread, b);
	for (uint32_t i = 0; i < size[b]; i++) {
		int k = kind[b][i];

		/* As after a signal: not all accesses are there. */
		for (int n = 0; n < insns[k].loads && below(50); n++)
			fake_trace_access(fake, thread, i, false,
					  any_address(thread));
		for (int n = 0; n < insns[k].stores; n++)
			fake_trace_access(fake, thread, i, true,
					  any_address(thread));
	}
}

static void run_thread(struct fake_trace *fake, int thread, uint32_t length)
{
	bool phase = true;

	for (uint32_t n = 0; n < length;) {
		uint32_t b = below(BLOCKS);

		run_block(fake, thread, b);
		n += size[b];
		if (phase && n > PHASE) {
			fake_trace_event(fake, thread, TRACE_BARRIER, 8, 1);
			phase = false;
		}
	}
}

static void make_trace(void)
{
	struct fake_trace fake;

	rng_seed(&rng, 7, 0);
	fake_trace_init(&fake);
	add_blocks(&fake);
	run_thread(&fake, 0, LENGTH);
	run_thread(&fake, 1, SHORT);
	fake_trace_write(&fake, path);
	fake_trace_release(&fake);
}

static void collect(struct workload *w, uint64_t interval)
{
	struct trace t;

	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!workload_collect(w, &t, interval, error), "%s", error);
	trace_close(&t);
}

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/blocks.trace", sandbox);
	make_trace();
	collect(&all, EVERYWHERE);
	collect(&some, WITH_GAPS);
}

static void end(void)
{
	workload_release(&all);
	workload_release(&some);
	sandbox_teardown();
}

START_TEST(windows_count_the_same_with_and_without_micro_traces)
{
	ck_assert_uint_eq(all.thread[0].windows, 3);
	ck_assert_uint_eq(all.thread[1].windows, 2);
	for (size_t i = 0; i < THREADS; i++) {
		const struct workload_thread *x = &all.thread[i];
		const struct workload_thread *y = &some.thread[i];

		ck_assert_uint_eq(x->instructions, y->instructions);
		ck_assert_uint_eq(x->lines, y->lines);
		ck_assert_uint_eq(x->stored_lines, y->stored_lines);
		ck_assert_uint_eq(x->windows, y->windows);
		ck_assert_mem_eq(x->window, y->window,
				 x->windows * sizeof(*x->window));
	}
}
END_TEST

static const struct micro_access *access_of(const struct workload_thread *t,
					    uint32_t number)
{
	return number ? &t->access[number - 1] : NULL;
}

static bool equal(const struct micro_access *x, const struct micro_access *y)
{
	return x && y ? !memcmp(x, y, sizeof(*x)) : x == y;
}

static bool same_uop(const struct workload_thread *x, const struct micro_uop *a,
		     const struct workload_thread *y, const struct micro_uop *b)
{
	return a->class == b->class && a->wrong == b->wrong &&
	       equal(access_of(x, a->access), access_of(y, b->access)) &&
	       equal(access_of(x, a->fetch), access_of(y, b->fetch));
}

START_TEST(accesses_behind_a_gap_know_what_was_used_in_it)
{
	for (size_t i = 0; i < THREADS; i++) {
		const struct workload_thread *x = &all.thread[i];
		const struct workload_thread *y = &some.thread[i];

		ck_assert_uint_gt(y->micros, 10);
		for (size_t k = 0; k < y->micros; k++) {
			const struct micro_trace *m = &x->micro[2 * k];
			const struct micro_trace *n = &y->micro[k];
			uint32_t same = 0;

			ck_assert_uint_eq(m->uops, n->uops);
			for (uint32_t u = 0; u < n->uops; u++)
				same += same_uop(x, &x->uop[m->first + u], y,
						 &y->uop[n->first + u]);
			ck_assert_uint_eq(same, n->uops);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("block_work");
	TCase *t = tcase_create("block_work");

	tcase_add_unchecked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, windows_count_the_same_with_and_without_micro_traces);
	tcase_add_test(t, accesses_behind_a_gap_know_what_was_used_in_it);
	suite_add_tcase(s, t);
	return run_suite(s);
}
