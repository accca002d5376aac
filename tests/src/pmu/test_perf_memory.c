/* SPDX-License-Identifier: MIT */
/*
 * test_perf_memory - DATA_SRC and IBS against what the kernel and AMD document
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/perf_gen.h"
#include "src/pmu/sample.h"
#include "src/pmu/ibs.h"
#include "src/pmu/memory.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

#define OP(x)     PERF_MEM_S(OP, x)
#define LVL(x)    PERF_MEM_S(LVL, x)
#define NUM(x)    PERF_MEM_S(LVLNUM, x)
#define SNOOP(x)  PERF_MEM_S(SNOOP, x)
#define TLB(x)    PERF_MEM_S(TLB, x)
#define LOCK(x)   PERF_MEM_S(LOCK, x)
#define HOPS(x)   ((uint64_t)PERF_MEM_HOPS_##x << PERF_MEM_HOPS_SHIFT)
#define REMOTE    PERF_MEM_S(REMOTE, REMOTE)
#define LOAD_HIT  (OP(LOAD) | LVL(HIT))
#define LOAD_MISS (OP(LOAD) | LVL(MISS))
#define NOTHING   (LVL(NA) | SNOOP(NA) | LOCK(NA) | TLB(NA))

/*
 * As arch/x86/events/intel/ds.c of Linux 4.4 and 6.1 and
 * arch/x86/events/amd/ibs.c fill it in.
 */
static const struct {
	uint64_t data_src;
	uint32_t access, flags;
	enum data_source source;
} data_sources[] = {
	/* Intel load latency, all kernels */
	{ LOAD_HIT | LVL(L1) | SNOOP(NONE), ACCESS_LOAD, 0, DATA_SOURCE_L1 },
	{ LOAD_HIT | LVL(LFB) | SNOOP(NONE), ACCESS_LOAD, 0, DATA_SOURCE_LFB },
	{ LOAD_HIT | LVL(L2) | SNOOP(NONE), ACCESS_LOAD, 0, DATA_SOURCE_L2 },
	{ LOAD_HIT | LVL(L3) | SNOOP(HIT), ACCESS_LOAD, MEMORY_SNOOP_HIT,
	  DATA_SOURCE_L3 },
	{ LOAD_HIT | LVL(L3) | SNOOP(HITM), ACCESS_LOAD, MEMORY_HITM,
	  DATA_SOURCE_L3 },
	{ LOAD_HIT | LVL(REM_CCE1) | SNOOP(HITM), ACCESS_LOAD,
	  MEMORY_HITM | MEMORY_REMOTE, DATA_SOURCE_REMOTE_CACHE },
	{ LOAD_HIT | LVL(LOC_RAM) | SNOOP(HIT), ACCESS_LOAD, MEMORY_SNOOP_HIT,
	  DATA_SOURCE_DRAM },
	{ LOAD_HIT | LVL(REM_RAM1) | SNOOP(NONE), ACCESS_LOAD, MEMORY_REMOTE,
	  DATA_SOURCE_REMOTE_DRAM },
	{ LOAD_HIT | LVL(IO), ACCESS_LOAD, 0, DATA_SOURCE_IO },
	{ LOAD_HIT | LVL(UNC), ACCESS_LOAD, 0, DATA_SOURCE_UNCACHED },
	/* "unknown L3 miss" */
	{ LOAD_MISS | LVL(L3) | NUM(L3), ACCESS_LOAD, 0, DATA_SOURCE_UNKNOWN },
	/* the same with the newer fields beside the older */
	{ LOAD_HIT | LVL(L3) | NUM(L3) | SNOOP(HITM), ACCESS_LOAD, MEMORY_HITM,
	  DATA_SOURCE_L3 },
	{ LOAD_HIT | LVL(REM_RAM1) | NUM(RAM) | REMOTE, ACCESS_LOAD,
	  MEMORY_REMOTE, DATA_SOURCE_REMOTE_DRAM },
	{ OP(LOAD) | LVL(NA) | NUM(PMEM), ACCESS_LOAD, 0, DATA_SOURCE_PMEM },
	{ LOAD_HIT | LVL(L1) | NUM(L1) | LOCK(LOCKED), ACCESS_LOAD,
	  MEMORY_LOCKED, DATA_SOURCE_L1 },
	/* Intel precise stores */
	{ OP(STORE) | LVL(L1) | LVL(HIT), ACCESS_STORE, 0, DATA_SOURCE_L1 },
	{ OP(STORE) | LVL(L1) | LVL(MISS), ACCESS_STORE, 0,
	  DATA_SOURCE_BEYOND_L1 },
	{ OP(STORE) | LVL(L1) | LVL(HIT) | TLB(MISS) | TLB(L2), ACCESS_STORE,
	  MEMORY_TLB_MISS, DATA_SOURCE_L1 },
	{ OP(STORE) | NOTHING, ACCESS_STORE, 0, DATA_SOURCE_UNKNOWN },
	/* TLBs */
	{ LOAD_HIT | LVL(L1) | TLB(HIT) | TLB(L1) | TLB(L2), ACCESS_LOAD, 0,
	  DATA_SOURCE_L1 },
	{ LOAD_HIT | LVL(L1) | TLB(HIT) | TLB(WK), ACCESS_LOAD, MEMORY_TLB_MISS,
	  DATA_SOURCE_L1 },
	/* AMD, coarse and fine, older and newer kernels */
	{ LOAD_HIT | LVL(L3) | LVL(REM_CCE1), ACCESS_LOAD, 0,
	  DATA_SOURCE_PEER_CACHE },
	{ LOAD_HIT | LVL(REM_CCE1) | NUM(ANY_CACHE) | REMOTE | HOPS(0),
	  ACCESS_LOAD, MEMORY_REMOTE, DATA_SOURCE_PEER_CACHE },
	{ LOAD_HIT | LVL(REM_CCE2) | NUM(ANY_CACHE) | REMOTE | HOPS(1) |
		  SNOOP(HITM),
	  ACCESS_LOAD, MEMORY_REMOTE | MEMORY_HITM, DATA_SOURCE_REMOTE_CACHE },
	{ OP(LOAD) | NUM(CXL), ACCESS_LOAD, 0, DATA_SOURCE_CXL },
	{ OP(LOAD) | NUM(RAM) | REMOTE | HOPS(1), ACCESS_LOAD, MEMORY_REMOTE,
	  DATA_SOURCE_REMOTE_DRAM },
	/* nothing at all */
	{ OP(NA) | NOTHING | NUM(NA), 0, 0, DATA_SOURCE_UNKNOWN },
	{ 0, 0, 0, DATA_SOURCE_UNKNOWN },
	{ OP(LOAD) | OP(PFETCH) | LVL(HIT) | LVL(L2), ACCESS_LOAD,
	  MEMORY_PREFETCH, DATA_SOURCE_L2 },
};

START_TEST(data_src_means_what_the_kernel_put_into_it)
{
	struct perf_memory m = { 0 };

	perf_data_src_decode(data_sources[_i].data_src, &m);
	ck_assert_uint_eq(m.access, data_sources[_i].access);
	ck_assert_uint_eq(m.flags, data_sources[_i].flags);
	ck_assert_int_eq(m.source, data_sources[_i].source);
}
END_TEST

START_TEST(any_data_src_gives_a_source_in_range)
{
	struct rng rng;

	rng_seed(&rng, 7, 0);
	for (int n = 0; n < 100000; n++) {
		struct perf_memory m = { 0 };

		perf_data_src_decode(rng_next(&rng), &m);
		ck_assert_uint_lt(m.source, DATA_SOURCE_COUNT);
		ck_assert_uint_eq(m.flags & ~(uint32_t)MEMORY_FLAGS, 0);
		ck_assert_uint_eq(
			m.access & ~(uint32_t)(ACCESS_LOAD | ACCESS_STORE), 0);
	}
}
END_TEST

START_TEST(a_sample_says_what_its_event_leaves_open)
{
	struct perf_sample s = { .has = PERF_SAMPLE_ADDR, .addr = 0x1000 };
	struct perf_memory m;

	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_UNKNOWN, NULL, &m),
			 -ENODATA);
	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_LOADS, NULL, &m), 0);
	ck_assert_uint_eq(m.access, ACCESS_LOAD);
	ck_assert_uint_eq(m.addr, 0x1000);
	ck_assert_uint_eq(m.latency, 0);
	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_STORES, NULL, &m), 0);
	ck_assert_uint_eq(m.access, ACCESS_STORE);
	/* A sample knows better than its event's name. */
	s.has |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
	s.data_src = LOAD_HIT | LVL(L3) | LOCK(LOCKED);
	s.weight = 1ull << 40;
	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_STORES, NULL, &m), 0);
	ck_assert_uint_eq(m.access, ACCESS_LOAD | ACCESS_LOCKED);
	ck_assert_uint_eq(m.latency, UINT32_MAX);
	s.data_src = OP(LOAD) | OP(PFETCH);
	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_LOADS, NULL, &m),
			 -ENODATA);
}
END_TEST

/* Registers of IBS, by bit as AMD numbers them. */
#define BIT(n)      (1ull << (n))
#define WIDTH(code) ((uint64_t)(code) << 22)
#define LATENCY(n)  ((uint64_t)(n) << 32)
#define MISSED      (BIT(7) | BIT(20))

enum {
	ZEN4 = 1 << 11
};

static const struct ibs_cpu zen3 = { 0x19, 0x01 }, zen4 = { 0x19, 0x11 },
			    zen2 = { 0x17, 0x31 };

static const struct {
	uint32_t caps;
	const struct ibs_cpu *cpu;
	uint64_t data2, data3;
	int err;
	uint32_t access, len, flags, latency;
	enum data_source source;
} ops[] = {
	/* neither load nor store */
	{ ZEN4, &zen4, 0, BIT(17), -ENODATA, 0, 0, 0, 0, 0 },
	/* a load that hits has no latency */
	{ ZEN4, &zen4, 0, BIT(0) | BIT(17) | WIDTH(4) | LATENCY(9), 0,
	  ACCESS_LOAD, 8, 0, 0, DATA_SOURCE_L1 },
	/* widths */
	{ ZEN4, &zen4, 0, BIT(1) | BIT(17) | WIDTH(1), 0, ACCESS_STORE, 1, 0, 0,
	  DATA_SOURCE_L1 },
	{ ZEN4, &zen4, 0, BIT(1) | BIT(17) | WIDTH(7), 0, ACCESS_STORE, 64, 0,
	  0, DATA_SOURCE_L1 },
	{ ZEN4, &zen4, 0, BIT(1) | BIT(17) | WIDTH(9), 0, ACCESS_STORE, 0, 0, 0,
	  DATA_SOURCE_L1 },
	/* L2, and the latency of a miss */
	{ ZEN4, &zen4, 0, BIT(0) | BIT(7) | BIT(17) | WIDTH(3) | LATENCY(14), 0,
	  ACCESS_LOAD, 4, 0, 14, DATA_SOURCE_L2 },
	/* both of a locked read-modify-write */
	{ ZEN4, &zen4, 0, BIT(0) | BIT(1) | BIT(15) | BIT(17) | WIDTH(4), 0,
	  ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED, 8, MEMORY_LOCKED, 0,
	  DATA_SOURCE_L1 },
	/* Zen 4's sources; bit 5 clear: modified elsewhere */
	{ ZEN4, &zen4, 1 | BIT(5), BIT(0) | MISSED | BIT(17) | LATENCY(50), 0,
	  ACCESS_LOAD, 0, 0, 50, DATA_SOURCE_L3 },
	{ ZEN4, &zen4, 2, BIT(0) | MISSED | BIT(17) | LATENCY(150), 0,
	  ACCESS_LOAD, 0, MEMORY_HITM, 150, DATA_SOURCE_PEER_CACHE },
	{ ZEN4, &zen4, 3, BIT(0) | MISSED | BIT(17) | LATENCY(476), 0,
	  ACCESS_LOAD, 0, 0, 476, DATA_SOURCE_DRAM },
	{ ZEN4, &zen4, 3 | BIT(4), BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0,
	  MEMORY_REMOTE, 0, DATA_SOURCE_REMOTE_DRAM },
	{ ZEN4, &zen4, 5, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0,
	  MEMORY_REMOTE | MEMORY_HITM, 0, DATA_SOURCE_REMOTE_CACHE },
	{ ZEN4, &zen4, 6, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0, 0, 0,
	  DATA_SOURCE_PMEM },
	{ ZEN4, &zen4, 7, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0, 0, 0,
	  DATA_SOURCE_IO },
	/* bits 6 and 7 are the upper ones: 8 is extension memory */
	{ ZEN4, &zen4, BIT(6), BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0, 0,
	  0, DATA_SOURCE_CXL },
	{ ZEN4, &zen4, BIT(6) | 4, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0,
	  0, 0, DATA_SOURCE_UNKNOWN },
	/* before Zen 4, where bits 6 and 7 mean nothing */
	{ 0, &zen2, 2 | BIT(6), BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0,
	  MEMORY_HITM, 0, DATA_SOURCE_PEER_CACHE },
	{ 0, &zen2, 4, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0,
	  MEMORY_REMOTE, 0, DATA_SOURCE_REMOTE_CACHE },
	{ 0, &zen2, 1, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0, 0, 0,
	  DATA_SOURCE_UNKNOWN },
	/* a state that means nothing */
	{ 0, &zen3, 2, BIT(0) | MISSED | BIT(17), 0, ACCESS_LOAD, 0, 0, 0,
	  DATA_SOURCE_PEER_CACHE },
	/* erratum 1293: neither L2 nor OP_DATA2 */
	{ 0, &zen3, 3, BIT(0) | BIT(7) | BIT(16) | BIT(17), 0, ACCESS_LOAD, 0,
	  0, 0, DATA_SOURCE_LFB },
	{ 0, &zen2, 3, BIT(0) | BIT(7) | BIT(16) | BIT(17), 0, ACCESS_LOAD, 0,
	  0, 0, DATA_SOURCE_L2 },
	/* stores have no OP_DATA2, and no latency */
	{ ZEN4, &zen4, 3, BIT(1) | MISSED | BIT(17) | LATENCY(9), 0,
	  ACCESS_STORE, 0, 0, 0, DATA_SOURCE_UNKNOWN },
	{ ZEN4, &zen4, 3, BIT(1) | MISSED | BIT(16) | BIT(17), 0, ACCESS_STORE,
	  0, 0, 0, DATA_SOURCE_LFB },
	/* uncacheable: the rest is invalid */
	{ ZEN4, &zen4, 3, BIT(0) | MISSED | BIT(14) | BIT(17) | LATENCY(9), 0,
	  ACCESS_LOAD, 0, 0, 0, DATA_SOURCE_UNCACHED },
	{ ZEN4, &zen4, 7, BIT(0) | MISSED | BIT(14) | BIT(17), 0, ACCESS_LOAD,
	  0, 0, 0, DATA_SOURCE_IO },
	/* TLBs, misaligned, a prefetch */
	{ ZEN4, &zen4, 0, BIT(0) | BIT(2) | BIT(3) | BIT(17), 0, ACCESS_LOAD, 0,
	  MEMORY_TLB_MISS, 0, DATA_SOURCE_L1 },
	{ ZEN4, &zen4, 0, BIT(0) | BIT(2) | BIT(8) | BIT(17), 0, ACCESS_LOAD, 0,
	  MEMORY_MISALIGNED, 0, DATA_SOURCE_L1 },
	{ ZEN4, &zen4, 0, BIT(0) | BIT(17) | BIT(21), -ENODATA, ACCESS_LOAD, 0,
	  MEMORY_PREFETCH, 0, DATA_SOURCE_L1 },
};

START_TEST(ibs_means_what_amd_documents)
{
	struct ibs_op op = {
		.caps = ops[_i].caps,
		.data2 = ops[_i].data2,
		.data3 = ops[_i].data3,
		.linear = 0x7000,
	};
	struct perf_memory m;

	ck_assert_int_eq(ibs_op_memory(&op, ops[_i].cpu, &m), ops[_i].err);
	ck_assert_uint_eq(m.access, ops[_i].access);
	if (!m.access)
		return;
	ck_assert_uint_eq(m.addr, 0x7000);
	ck_assert_uint_eq(m.len, ops[_i].len);
	ck_assert_uint_eq(m.flags, ops[_i].flags);
	ck_assert_uint_eq(m.latency, ops[_i].latency);
	ck_assert_int_eq(m.source, ops[_i].source);
}
END_TEST

START_TEST(an_address_that_is_not_valid_is_none)
{
	struct ibs_op op = { .data3 = BIT(0), .linear = 0x7000 };
	struct perf_memory m;

	ck_assert_int_eq(ibs_op_memory(&op, NULL, &m), 0);
	ck_assert_uint_eq(m.addr, 0);
}
END_TEST

/* 60, 68 or 76 bytes, by what the processor has. */
START_TEST(registers_of_ibs_lie_where_its_capabilities_say)
{
	static const uint32_t caps[] = { 0, 1 << 5, 1 << 10, 1 << 5 | 1 << 10 };
	size_t n = 7 + __builtin_popcount(caps[_i]);
	struct gen g = { 0 };
	struct perf_sample s = { .has = PERF_SAMPLE_RAW };
	struct perf_memory m;
	struct ibs_op op;

	gen_u32(&g, caps[_i]);
	for (uint64_t i = 0; i < n; i++)
		gen_u64(&g, i == 4 ? BIT(1) | BIT(17) | WIDTH(3) : 100 + i);
	ck_assert_uint_eq(g.used, 60 + 8 * __builtin_popcount(caps[_i]));
	for (size_t cut = 0; cut < g.used; cut++) {
		char *copy = gen_copy(&g, cut);

		ck_assert_int_eq(ibs_op_decode(copy, cut, &op), -EMSGSIZE);
		free(copy);
	}
	ck_assert_int_eq(ibs_op_decode(g.bytes, g.used, &op), 0);
	ck_assert_uint_eq(op.ctl, 100);
	ck_assert_uint_eq(op.rip, 101);
	ck_assert_uint_eq(op.data, 102);
	ck_assert_uint_eq(op.data2, 103);
	ck_assert_uint_eq(op.linear, 105);
	ck_assert_uint_eq(op.physical, 106);
	ck_assert_uint_eq(op.branch_target, caps[_i] & 1 << 5 ? 107 : 0);
	ck_assert_uint_eq(op.data4, caps[_i] & 1 << 10 ? 106 + n - 7 : 0);
	s.raw = g.bytes;
	s.raw_bytes = g.used;
	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_IBS_OP, NULL, &m), 0);
	ck_assert_uint_eq(m.addr, 105);
	ck_assert_uint_eq(m.len, 4);
	ck_assert_uint_eq(m.access, ACCESS_STORE);
	s.raw_bytes = 59;
	ck_assert_int_eq(perf_sample_memory(&s, PERF_KIND_IBS_OP, NULL, &m),
			 -EMSGSIZE);
	gen_release(&g);
}
END_TEST

START_TEST(periods_of_ibs_are_multiples_of_16_with_an_extension)
{
	struct ibs_op op = { .ctl = BIT(19) | BIT(18) | 0x61a8 | BIT(20) };

	ck_assert_uint_eq(ibs_op_period(&op), 400000);
	op.caps = IBS_CAPS_COUNT_EXT;
	ck_assert_uint_eq(ibs_op_period(&op), 400000 + (1 << 20));
	op.ctl = ~0ull;
	ck_assert_uint_eq(ibs_op_period(&op), 0x7fffff0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_memory");
	TCase *tc = tcase_create("perf_memory");

	tcase_add_loop_test(tc, data_src_means_what_the_kernel_put_into_it, 0,
			    sizeof(data_sources) / sizeof(data_sources[0]));
	tcase_add_test(tc, any_data_src_gives_a_source_in_range);
	tcase_add_test(tc, a_sample_says_what_its_event_leaves_open);
	tcase_add_loop_test(tc, ibs_means_what_amd_documents, 0,
			    sizeof(ops) / sizeof(ops[0]));
	tcase_add_test(tc, an_address_that_is_not_valid_is_none);
	tcase_add_loop_test(tc, registers_of_ibs_lie_where_its_capabilities_say,
			    0, 4);
	tcase_add_test(tc,
		       periods_of_ibs_are_multiples_of_16_with_an_extension);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
