/* SPDX-License-Identifier: MIT */
/*
 * record - what the kernel tells about watched threads, decoded
 */
#include <errno.h>
#include <string.h>

#include "record.h"

enum {
	SAMPLE_WORDS = 7, /* identifier ip pid/tid time addr cpu abi */
	REGS = 18,
	TRAILER_WORDS = 4, /* pid/tid time cpu identifier */
};

static uint64_t word(const void *from, size_t i)
{
	uint64_t w;

	memcpy(&w, (const char *)from + 8 * i, sizeof(w));
	return w;
}

static uint32_t half(const void *from, size_t i)
{
	uint32_t w;

	memcpy(&w, (const char *)from + 4 * i, sizeof(w));
	return w;
}

static void take_regs(const void *reg, struct cpu_state *cpu)
{
	static const uint8_t order[] = { GPR_RAX, GPR_RBX, GPR_RCX, GPR_RDX,
					 GPR_RSI, GPR_RDI, GPR_RBP, GPR_RSP };

	memset(cpu, 0, sizeof(*cpu));
	for (size_t i = 0; i < 8; i++)
		cpu->gpr[order[i]] = word(reg, i);
	cpu->rip = word(reg, 8);
	cpu->rflags = word(reg, 9);
	for (size_t i = 0; i < 8; i++)
		cpu->gpr[8 + i] = word(reg, 10 + i);
}

/* STACK_USER: size, so many bytes, and how many of them were copied. */
static int take_stack(const char *at, size_t bytes, struct outside_record *r)
{
	uint64_t size, copied;

	if (bytes < 8)
		return 0; /* not asked for */
	size = word(at, 0);
	if (!size)
		return 0;
	if (size % 8 || bytes < 16 || size > bytes - 16)
		return -EMSGSIZE;
	copied = word(at, 1 + size / 8);
	if (copied > size)
		return -EMSGSIZE;
	r->stack = (const uint8_t *)at + 8;
	r->stack_bytes = (uint32_t)copied;
	return 0;
}

static int decode_sample(const void *body, size_t bytes,
			 struct outside_record *r)
{
	if (bytes < 8 * SAMPLE_WORDS)
		return -EMSGSIZE;
	r->id = word(body, 0);
	r->pid = half(body, 4);
	r->tid = half(body, 5);
	r->time = word(body, 3);
	r->addr = word(body, 4);
	r->cpu = half(body, 10);
	if (word(body, 6) != PERF_SAMPLE_REGS_ABI_64)
		return 0;
	if (bytes < 8 * (SAMPLE_WORDS + REGS))
		return -EMSGSIZE;
	r->has_regs = true;
	take_regs((const char *)body + 8 * SAMPLE_WORDS, &r->regs);
	bytes -= 8 * (SAMPLE_WORDS + REGS);
	return take_stack((const char *)body + 8 * (SAMPLE_WORDS + REGS), bytes,
			  r);
}

/* Copy the string that ends within @bytes; cut it to @size. */
static void take_text(char *to, size_t size, const char *from, size_t bytes)
{
	size_t n = strnlen(from, bytes);

	if (n > size - 1)
		n = size - 1;
	memcpy(to, from, n);
	to[n] = 0;
}

static int decode_map(const void *body, size_t bytes, uint16_t misc,
		      struct outside_record *r)
{
	enum {
		FIXED = 64
	};
	uint64_t len;

	if (bytes < FIXED)
		return -EMSGSIZE;
	len = word(body, 2);
	r->map.start = word(body, 1);
	r->map.end = r->map.start + len;
	if (r->map.end < r->map.start)
		return -EMSGSIZE;
	r->map.offset = word(body, 3);
	/* Instead of a build-id there are device and inode. */
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return -ENOTSUP;
	r->map.dev_major = half(body, 8);
	r->map.dev_minor = half(body, 9);
	r->map.inode = word(body, 5);
	r->map.prot = half(body, 14);
	r->map.shared = half(body, 15) & 1; /* MAP_SHARED */
	take_text(r->map.path, sizeof(r->map.path), (const char *)body + FIXED,
		  bytes - FIXED);
	return 0;
}

static int decode_other(const struct perf_event_header *h, const void *body,
			size_t bytes, struct outside_record *r)
{
	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: /* pid ppid tid ptid time */
		if (bytes < 24)
			return -EMSGSIZE;
		r->pid = half(body, 0);
		r->parent_pid = half(body, 1);
		r->tid = half(body, 2);
		r->parent_tid = half(body, 3);
		return 0;
	case PERF_RECORD_COMM: /* pid tid comm */
		if (bytes < 16)
			return -EMSGSIZE;
		r->pid = half(body, 0);
		r->tid = half(body, 1);
		r->exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;
		take_text(r->name, sizeof(r->name), (const char *)body + 8,
			  bytes - 8);
		return 0;
	case PERF_RECORD_MMAP2:
		if (bytes < 8)
			return -EMSGSIZE;
		r->pid = half(body, 0);
		r->tid = half(body, 1);
		return decode_map(body, bytes, h->misc, r);
	case PERF_RECORD_LOST: /* id lost */
		if (bytes < 16)
			return -EMSGSIZE;
		r->lost = word(body, 1);
		return 0;
	case PERF_RECORD_LOST_SAMPLES: /* lost */
		if (bytes < 8)
			return -EMSGSIZE;
		r->lost = word(body, 0);
		return 0;
	case PERF_RECORD_THROTTLE:
		return 0;
	default:
		return -ENOTSUP;
	}
}

int outside_record_decode(const struct perf_event_header *h,
			  struct outside_record *r)
{
	const char *body = (const char *)(h + 1);
	const char *trailer;
	size_t bytes;

	memset(r, 0, sizeof(*r));
	r->type = h->type;
	if (h->size < sizeof(*h))
		return -EMSGSIZE;
	bytes = h->size - sizeof(*h);
	if (h->type == PERF_RECORD_SAMPLE)
		return decode_sample(body, bytes, r);
	if (bytes < 8 * TRAILER_WORDS)
		return -EMSGSIZE;
	bytes -= 8 * TRAILER_WORDS;
	trailer = body + bytes;
	r->pid = half(trailer, 0);
	r->tid = half(trailer, 1);
	r->time = word(trailer, 1);
	r->cpu = half(trailer, 4);
	r->id = word(trailer, 3);
	return decode_other(h, body, bytes, r);
}
