/* SPDX-License-Identifier: MIT */
/*
 * perf_gen - records and files as the kernel and perf write them
 *
 * The counterpart of src/pmu/sample.h and analysis/import/perf_data.h. It is
 * written from perf_event_open(2) and perf.data-file-format.txt, field by
 * field, so that the two sides do not share their errors. Everything is
 * appended to one growing array.
 */
#ifndef COMDET_TESTS_FAKE_PERF_GEN_H
#define COMDET_TESTS_FAKE_PERF_GEN_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct gen {
	char *bytes;
	size_t used, room;
};

static inline void gen_bytes(struct gen *g, const void *from, size_t n)
{
	if (g->used + n > g->room) {
		g->room = 2 * (g->used + n) + 4096;
		g->bytes = realloc(g->bytes, g->room);
		if (!g->bytes)
			abort();
	}
	if (n)
		memcpy(g->bytes + g->used, from, n);
	g->used += n;
}

static inline void gen_u8(struct gen *g, uint8_t v)
{
	gen_bytes(g, &v, sizeof(v));
}

static inline void gen_u16(struct gen *g, uint16_t v)
{
	gen_bytes(g, &v, sizeof(v));
}

static inline void gen_u32(struct gen *g, uint32_t v)
{
	gen_bytes(g, &v, sizeof(v));
}

static inline void gen_u64(struct gen *g, uint64_t v)
{
	gen_bytes(g, &v, sizeof(v));
}

static inline void gen_put_u64(struct gen *g, size_t at, uint64_t v)
{
	memcpy(g->bytes + at, &v, sizeof(v));
}

static inline void gen_pad(struct gen *g, size_t align)
{
	while (g->used % align)
		gen_u8(g, 0);
}

/* With a terminating 0, padded to whole words, as in records. */
static inline void gen_string(struct gen *g, const char *s)
{
	size_t n = strlen(s) + 1;

	gen_bytes(g, s, n);
	for (; n % 8; n++)
		gen_u8(g, 0);
}

/* Preceded by its length, padded to 64 bytes, as in features. */
static inline void gen_counted_string(struct gen *g, const char *s)
{
	static const char zeros[64];
	uint32_t n = strlen(s) + 1, all = (n + 63) / 64 * 64;

	gen_u32(g, all);
	gen_bytes(g, s, n);
	gen_bytes(g, zeros, all - n);
}

/*
 * Begin a record, whose size gen_end() fills in. Pass the result to gen_end().
 */
static inline size_t gen_begin(struct gen *g, uint32_t type, uint16_t misc)
{
	size_t at = g->used;

	gen_u32(g, type);
	gen_u16(g, misc);
	gen_u16(g, 0);
	return at;
}

static inline void gen_end(struct gen *g, size_t at)
{
	uint16_t size = g->used - at;

	memcpy(g->bytes + at + 6, &size, sizeof(size));
}

/* The content of a sample; parts that are not decoded are filled with noise. */
struct gen_sample {
	uint16_t misc;
	uint32_t pid, tid, cpu;
	uint64_t id, stream_id, ip, time, addr, phys_addr, period, data_src;
	uint64_t weight;
	uint16_t weight2, weight3;
	uint64_t read_value, read_enabled, read_running;
	const void *raw;
	uint32_t raw_bytes;
	/* Sizes of the parts in between. */
	uint64_t callchain, branches, stack, aux, group;
	uint64_t user_abi, intr_abi;
};

static inline void gen_noise(struct gen *g, uint64_t words)
{
	for (uint64_t i = 0; i < words; i++)
		gen_u64(g, 0xdeadbeef00000000ull + i);
}

static inline void gen_read(struct gen *g, uint64_t format,
			    const struct gen_sample *s)
{
	uint64_t n = format & PERF_FORMAT_GROUP ? s->group : 1;

	if (format & PERF_FORMAT_GROUP)
		gen_u64(g, n);
	else
		gen_u64(g, s->read_value);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		gen_u64(g, s->read_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		gen_u64(g, s->read_running);
	for (uint64_t i = 0; i < n; i++) {
		if (format & PERF_FORMAT_GROUP)
			gen_u64(g, i ? 99 : s->read_value);
		if (format & PERF_FORMAT_ID)
			gen_u64(g, 1000 + i);
		if (format & 16) /* PERF_FORMAT_LOST */
			gen_u64(g, 0);
	}
}

static inline void gen_sample(struct gen *g, const struct perf_event_attr *attr,
			      const struct gen_sample *s)
{
	uint64_t type = attr->sample_type;
	size_t at = gen_begin(g, PERF_RECORD_SAMPLE, s->misc);

	if (type & PERF_SAMPLE_IDENTIFIER)
		gen_u64(g, s->id);
	if (type & PERF_SAMPLE_IP)
		gen_u64(g, s->ip);
	if (type & PERF_SAMPLE_TID) {
		gen_u32(g, s->pid);
		gen_u32(g, s->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		gen_u64(g, s->time);
	if (type & PERF_SAMPLE_ADDR)
		gen_u64(g, s->addr);
	if (type & PERF_SAMPLE_ID)
		gen_u64(g, s->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		gen_u64(g, s->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		gen_u32(g, s->cpu);
		gen_u32(g, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		gen_u64(g, s->period);
	if (type & PERF_SAMPLE_READ)
		gen_read(g, attr->read_format, s);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		gen_u64(g, s->callchain);
		gen_noise(g, s->callchain);
	}
	if (type & PERF_SAMPLE_RAW) {
		/*
		 * The kernel pads the data and includes the padding in the
		 * size.
		 */
		uint32_t all = (4 + s->raw_bytes + 7) / 8 * 8 - 4;

		gen_u32(g, all);
		gen_bytes(g, s->raw, s->raw_bytes);
		for (uint32_t i = s->raw_bytes; i < all; i++)
			gen_u8(g, 0);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		gen_u64(g, s->branches);
		if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			gen_u64(g, 7);
		gen_noise(g, 3 * s->branches);
		if (attr->branch_sample_type & 1 << 19) /* _COUNTERS */
			gen_noise(g, s->branches);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		gen_u64(g, s->user_abi);
		if (s->user_abi)
			gen_noise(g,
				  __builtin_popcountll(attr->sample_regs_user));
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		gen_u64(g, 8 * s->stack);
		gen_noise(g, s->stack);
		if (s->stack)
			gen_u64(g, 8);
	}
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		gen_u32(g, (uint32_t)s->weight);
		gen_u16(g, s->weight2);
		gen_u16(g, s->weight3);
	} else if (type & PERF_SAMPLE_WEIGHT) {
		gen_u64(g, s->weight);
	}
	if (type & PERF_SAMPLE_DATA_SRC)
		gen_u64(g, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		gen_noise(g, 1);
	if (type & PERF_SAMPLE_REGS_INTR) {
		gen_u64(g, s->intr_abi);
		if (s->intr_abi)
			gen_noise(g,
				  __builtin_popcountll(attr->sample_regs_intr));
	}
	if (type & PERF_SAMPLE_PHYS_ADDR)
		gen_u64(g, s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		gen_noise(g, 1);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		gen_noise(g, 1);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		gen_noise(g, 1);
	if (type & PERF_SAMPLE_AUX) {
		gen_u64(g, 8 * s->aux);
		gen_noise(g, s->aux);
	}
	gen_end(g, at);
}

/* What sample_id_all appends to other records. */
static inline void gen_id(struct gen *g, const struct perf_event_attr *attr,
			  const struct gen_sample *s)
{
	uint64_t type = attr->sample_id_all ? attr->sample_type : 0;

	if (type & PERF_SAMPLE_TID) {
		gen_u32(g, s->pid);
		gen_u32(g, s->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		gen_u64(g, s->time);
	if (type & PERF_SAMPLE_ID)
		gen_u64(g, s->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		gen_u64(g, s->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		gen_u32(g, s->cpu);
		gen_u32(g, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		gen_u64(g, s->id);
}

/*
 * A copy of the first @n bytes that ends where memory ends, so that reading
 * beyond it is noticed.
 */
static inline char *gen_copy(const struct gen *g, size_t n)
{
	char *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, g->bytes, n);
	return copy;
}

static inline void gen_release(struct gen *g)
{
	free(g->bytes);
	memset(g, 0, sizeof(*g));
}

#endif
