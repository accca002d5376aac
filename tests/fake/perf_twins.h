/* SPDX-License-Identifier: MIT */
/*
 * perf_twins - generated recordings of the kinds that can be imported
 *
 * Two threads of one process on two processors of an imaginary machine. They
 * contain what no recording at hand has: stores, lines that another core had
 * modified, IBS registers, several events, losses. A seed determines
 * everything.
 */
#ifndef COMDET_TESTS_FAKE_PERF_TWINS_H
#define COMDET_TESTS_FAKE_PERF_TWINS_H

#include "perf_file.h"
#include "src/base/rng.h"

enum {
	TWIN_PID = 4000,
	TWIN_SAMPLES = 2000,
	TWIN_KERNEL_ONE_IN = 16,
	TWIN_IBS_PERIOD = 0x40000,
};

#define TWIN_CODE UINT64_C(0x401000)
#define TWIN_DATA UINT64_C(0x7f0000000000)

static const uint64_t twin_loads[] = {
	/* L1, LFB, L2, L3, L3 HITM, remote HITM, memory, remote memory */
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(SNOOP, NONE),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, LFB) | PERF_MEM_S(SNOOP, NONE),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L2) | PERF_MEM_S(SNOOP, NONE),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, NONE),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, HITM),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, REM_CCE1) |
		PERF_MEM_S(SNOOP, HITM),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, LOC_RAM) |
		PERF_MEM_S(SNOOP, MISS),
	PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, REM_RAM1) |
		PERF_MEM_S(SNOOP, NONE),
};

enum {
	TWIN_LOADS = sizeof(twin_loads) / sizeof(twin_loads[0])
};

static inline uint64_t twin_draw_source(struct rng *r, bool store)
{
	uint64_t d = PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1) |
		     PERF_MEM_S(TLB, L2);

	if (store)
		return d | PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, L1) |
		       (rng_below(r, 2) ? PERF_MEM_S(LVL, HIT)
					: PERF_MEM_S(LVL, MISS));
	if (!rng_below(r, 10))
		d = PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, WK);
	if (!rng_below(r, 10))
		d |= PERF_MEM_S(LOCK, LOCKED);
	return d | PERF_MEM_S(OP, LOAD) | twin_loads[rng_below(r, TWIN_LOADS)];
}

/* The registers of an IBS op sample: a load or a store of 8 bytes. */
static inline uint32_t twin_ibs(struct rng *r, uint64_t ip, uint64_t addr,
				bool store, char *raw)
{
	uint64_t reg[8] = { 0 };
	uint32_t caps = 0xbff;

	reg[0] = 1 << 19 | 1 << 18 | 1 << 17 | TWIN_IBS_PERIOD / 16;
	reg[1] = ip;
	reg[4] = (store ? 2 : 1) | 1 << 17 | 4 << 22;
	if (rng_below(r, 2)) {
		static const uint8_t source[] = { 1, 2, 3, 5 };

		reg[3] = source[rng_below(r, 4)] | rng_below(r, 4) << 4;
		reg[4] |= 1 << 7 | 1 << 20;
		reg[4] |= (uint64_t)(20 + rng_below(r, 400)) << 32;
	}
	reg[5] = addr;
	reg[6] = addr & 0xffffff;
	memcpy(raw, &caps, sizeof(caps));
	memcpy(raw + sizeof(caps), reg, sizeof(reg));
	return sizeof(caps) + sizeof(reg);
}

static inline void twin_describe(struct perf_file *f)
{
	f->host = "elsewhere";
	f->kernel = "6.1.0-test";
	f->version = "6.1.187";
	f->arch = "x86_64";
	f->cpus = 2;
}

static inline void twin_tasks(struct perf_file *f)
{
	perf_file_comm(f, TWIN_PID, TWIN_PID, "twin", true, 1000);
	perf_file_map2(f, TWIN_PID, 0x400000, 0x2000, "/usr/bin/twin",
		       PROT_READ | PROT_EXEC, NULL, 1001);
	perf_file_map(f, TWIN_PID, TWIN_DATA, 0x100000, "//anon",
		      PROT_READ | PROT_WRITE, 1002);
	perf_file_task(f, PERF_RECORD_FORK, TWIN_PID, TWIN_PID, TWIN_PID + 1,
		       TWIN_PID, 1003);
	perf_file_comm(f, TWIN_PID, TWIN_PID + 1, "worker", false, 1004);
}

/*
 * Samples of two threads on two processors. Records come in blocks from one
 * processor, as perf reads them from its buffers.
 */
static inline void twin_samples(struct perf_file *f, uint64_t seed, bool ibs)
{
	uint64_t now[2] = { 5000000000, 5000000007 };
	char raw[128];
	struct rng r;

	rng_seed(&r, seed, 0);
	for (int n = 0; n < TWIN_SAMPLES; n++) {
		int cpu = n / 50 % 2;
		bool store = rng_below(&r, 2);
		struct gen_sample s = {
			.misc = PERF_RECORD_MISC_USER |
				PERF_RECORD_MISC_EXACT_IP,
			.pid = TWIN_PID,
			.tid = TWIN_PID + cpu,
			.cpu = cpu,
			.ip = TWIN_CODE + rng_below(&r, 64),
			.addr = TWIN_DATA + 8 * rng_below(&r, 64),
			.period = 500 + rng_below(&r, 1000),
			.phys_addr = 0x1000,
		};

		now[cpu] += 1 + rng_below(&r, 2000);
		s.time = now[cpu];
		if (!rng_below(&r, TWIN_KERNEL_ONE_IN)) {
			s.misc = PERF_RECORD_MISC_KERNEL;
			s.ip |= 0xffffffff80000000;
			s.addr |= 0xffff888000000000;
		}
		s.data_src = twin_draw_source(&r, store);
		s.weight = store ? 0 : 4 + rng_below(&r, 500);
		s.weight2 = 3;
		if (ibs) {
			s.raw = raw;
			s.raw_bytes = twin_ibs(&r, s.ip, s.addr, store, raw);
		}
		perf_file_sample(f, f->events > 1 && store, &s);
		if (n % 100 == 99)
			perf_file_round(f);
	}
}

#define TWIN_TYPE                                                              \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |                 \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |                 \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC)

/* Intel's loads and stores, with an event for each. */
static inline void twin_intel(struct perf_file *f, uint64_t seed, bool packed)
{
	uint64_t weight =
		packed ? PERF_SAMPLE_WEIGHT_STRUCT : PERF_SAMPLE_WEIGHT;

	twin_describe(f);
	f->cpu = "Intel(R) Xeon(R) imaginary";
	f->cpuid = "GenuineIntel,6,85,4";
	f->pmu = "cpu";
	perf_file_event(f, "cpu/mem-loads,ldlat=30/P", TWIN_TYPE | weight);
	perf_file_event(f, "cpu/mem-stores/P", TWIN_TYPE | weight)
		->attr.config = 0x82d0;
	twin_tasks(f);
	twin_samples(f, seed, false);
}

/* ibs_op with its registers, without the kernel's decoding. */
static inline void twin_amd(struct perf_file *f, uint64_t seed)
{
	struct perf_file_event *e;

	twin_describe(f);
	f->cpu = "AMD EPYC imaginary";
	f->cpuid = "AuthenticAMD,25,17,1";
	f->pmu = "ibs_op";
	f->zen4 = true;
	e = perf_file_event(f, "ibs_op//",
			    PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				    PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW |
				    PERF_SAMPLE_IDENTIFIER);
	e->attr.type = 11;
	e->attr.config = 1 << 19;
	e->attr.sample_period = TWIN_IBS_PERIOD;
	twin_tasks(f);
	twin_samples(f, seed, true);
}

#endif
