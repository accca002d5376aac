/* SPDX-License-Identifier: MIT */
/*
 * fake_records - records as Linux writes them
 *
 * Samples as perf_output_sample() does, other records with the end that
 * __perf_event__output_id_sample() gives them, into a ring as
 * __perf_output_begin() does: what finds no room is counted, and a
 * PERF_RECORD_LOST comes before the next record that finds some.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_kernel.h"

enum {
	RECORD_MAX = 512,
	IBS_WORDS_MAX = 10,
	DATA3_PHYSICAL_VALID = 1 << 18,
};

struct record {
	struct perf_event_header header;
	char body[RECORD_MAX];
	uint32_t bytes; /* of the body */
};

uint64_t fake_random(struct fake_kernel *k)
{
	k->seed = k->seed * 6364136223846793005ull + 1442695040888963407ull;
	return k->seed >> 33;
}

static void put(struct record *r, const void *what, uint32_t n)
{
	if (r->bytes + n > RECORD_MAX)
		abort();
	memcpy(r->body + r->bytes, what, n);
	r->bytes += n;
}

static void put64(struct record *r, uint64_t value)
{
	put(r, &value, 8);
}

static void put32(struct record *r, uint32_t value)
{
	put(r, &value, 4);
}

static uint64_t *head_of(struct fake_ring *ring)
{
	return (uint64_t *)&((struct perf_event_mmap_page *)ring->page)
		->data_head;
}

static bool write_out(struct fake_ring *ring, const struct record *r)
{
	struct perf_event_mmap_page *page = (void *)ring->page;
	uint64_t head = page->data_head, tail = page->data_tail;
	const char *parts[] = { (const char *)&r->header, r->body };
	uint32_t sizes[] = { sizeof(r->header), r->bytes };

	if (head - tail + r->header.size > ring->bytes)
		return false;
	for (int p = 0; p < 2; p++)
		for (uint32_t i = 0; i < sizes[p]; i++)
			ring->page[FAKE_PAGE + head++ % ring->bytes] =
				parts[p][i];
	__atomic_store_n(head_of(ring), head, __ATOMIC_RELEASE);
	return true;
}

/* The fields at the end of a record that is no sample. */
static void put_id(struct fake_kernel *k, const struct fake_event *e,
		   struct record *r)
{
	uint64_t type = e->attr.sample_type;

	if (!e->attr.sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID) {
		put32(r, k->process);
		put32(r, k->process + e->thread);
	}
	if (type & PERF_SAMPLE_TIME)
		put64(r, k->now);
	if (type & PERF_SAMPLE_ID)
		put64(r, e->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put64(r, e->id);
	if (type & PERF_SAMPLE_CPU) {
		put32(r, e->thread % FAKE_CPUS);
		put32(r, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		put64(r, e->id);
}

static void finish(struct record *r, uint32_t type, uint16_t misc)
{
	r->header.type = type;
	r->header.misc = misc;
	r->header.size = sizeof(r->header) + r->bytes;
}

static void output(struct fake_kernel *k, struct fake_event *e,
		   struct record *r)
{
	struct fake_ring *ring = e->ring < 0 ? NULL : &k->ring[e->ring];
	struct record lost = { .bytes = 0 };

	if (!ring || !ring->page)
		return;
	if (ring->lost) {
		put64(&lost, ring->lost_id);
		put64(&lost, ring->lost);
		put_id(k, e, &lost);
		finish(&lost, PERF_RECORD_LOST, 0);
		/* Room for both, or for none. */
		if (r->header.size + lost.header.size >
			    ring->bytes -
				    (*head_of(ring) -
				     ((struct perf_event_mmap_page *)ring->page)
					     ->data_tail) ||
		    !write_out(ring, &lost)) {
			ring->lost++;
			k->lost++;
			return;
		}
		ring->lost = 0;
	}
	if (!write_out(ring, r)) {
		ring->lost++;
		ring->lost_id = e->id;
		k->lost++;
	}
}

static uint32_t width_code(uint32_t len)
{
	uint32_t code = 1;

	while (len > 1) {
		code++;
		len >>= 1;
	}
	return code;
}

/* perf_ibs_phyaddr_clear */
static bool shows_physical(const struct fake_kernel *k)
{
	return !k->hides_physical || k->paranoid < 2;
}

/* The registers of IBS op, as the driver copies them behind capabilities. */
static void put_ibs(struct fake_kernel *k, const struct fake_event *e,
		    const struct fake_op *op, bool exact, struct record *r)
{
	uint64_t max = e->interval >> 4, w[IBS_WORDS_MAX];
	uint32_t n = 0, flags = op->access.flags;

	w[n++] = (max & 0xffff) | UINT64_C(1) << 17 | UINT64_C(1) << 18 |
		 (e->attr.config & 1 << 19) | (max >> 16 & 0x7f) << 20;
	w[n++] = op->access.ip;
	w[n++] = exact ? 0 : UINT64_C(1) << 38;
	w[n++] = 0;
	w[n] = 0;
	if (flags & ACCESS_LOAD)
		w[n] |= 1;
	if (flags & ACCESS_STORE)
		w[n] |= 2;
	if (flags & (ACCESS_LOAD | ACCESS_STORE))
		w[n] |= 1 << 17 | UINT64_C(1) * width_code(op->access.len)
					  << 22;
	if (flags & ACCESS_LOCKED)
		w[n] |= 1 << 15;
	if (flags && shows_physical(k))
		w[n] |= DATA3_PHYSICAL_VALID;
	n++;
	/* An op without an access leaves what was there. */
	w[n++] = flags ? op->access.addr : 0xdeadbeef000;
	w[n++] = flags && shows_physical(k) ? 0x12345000 : 0;
	if (k->ibs_caps & 1 << 5)
		w[n++] = 0;
	if (k->ibs_caps & 1 << 10)
		w[n++] = 0;
	/* u32 size, then the data, the two together a multiple of 8. */
	put32(r, 4 + 8 * n);
	put32(r, k->ibs_caps);
	for (uint32_t i = 0; i < n; i++)
		put64(r, w[i]);
}

static uint64_t data_src(const struct fake_op *op)
{
	union perf_mem_data_src s = { .val = 0 };

	s.mem_op = op->access.flags & ACCESS_LOAD    ? PERF_MEM_OP_LOAD
		   : op->access.flags & ACCESS_STORE ? PERF_MEM_OP_STORE
						     : PERF_MEM_OP_NA;
	s.mem_lvl = PERF_MEM_LVL_NA;
	s.mem_snoop = PERF_MEM_SNOOP_NA;
	s.mem_lock = PERF_MEM_LOCK_NA;
	s.mem_dtlb = PERF_MEM_TLB_NA;
	return s.val;
}

/* What PEBS says of an instruction that loads and stores: the event's half. */
static struct fake_op half(const struct fake_event *e, const struct fake_op *op)
{
	uint32_t code = e->attr.config & 0xffff;
	struct fake_op one = *op;

	if (!e->pmu->ibs)
		one.access.flags =
			code == 0x81d0 || code == 0x01cd || code == 0x05d0
				? ACCESS_LOAD
				: ACCESS_STORE;
	return one;
}

void fake_write_sample(struct fake_kernel *k, struct fake_event *e,
		       const struct fake_op *op, bool exact)
{
	const struct fake_op one = half(e, op);
	uint64_t type = e->attr.sample_type, left = type;
	struct record r = { .bytes = 0 };
	/* Without the exact instruction the kernel gives a later one. */
	uint64_t ip = exact ? op->access.ip : op->access.ip + 7;

#define FIELD(bit) (left &= ~(uint64_t)(bit), type & (bit))
	if (FIELD(PERF_SAMPLE_IDENTIFIER))
		put64(&r, e->id);
	if (FIELD(PERF_SAMPLE_IP))
		put64(&r, ip);
	if (FIELD(PERF_SAMPLE_TID)) {
		put32(&r, k->process);
		put32(&r, k->process + e->thread);
	}
	if (FIELD(PERF_SAMPLE_TIME))
		put64(&r, k->now);
	if (FIELD(PERF_SAMPLE_ADDR))
		put64(&r, one.access.flags ? op->access.addr : 0);
	if (FIELD(PERF_SAMPLE_ID))
		put64(&r, e->id);
	if (FIELD(PERF_SAMPLE_STREAM_ID))
		put64(&r, e->id);
	if (FIELD(PERF_SAMPLE_CPU)) {
		put32(&r, e->thread % FAKE_CPUS);
		put32(&r, 0);
	}
	if (FIELD(PERF_SAMPLE_PERIOD))
		put64(&r, e->interval);
	if (FIELD(PERF_SAMPLE_RAW))
		put_ibs(k, e, op, exact, &r);
	if (FIELD(PERF_SAMPLE_WEIGHT))
		put64(&r, op->latency);
	if (FIELD(PERF_SAMPLE_DATA_SRC))
		put64(&r, data_src(&one));
#undef FIELD
	/* A field that is asked for and not written here would be a lie. */
	if (left)
		abort();
	finish(&r, PERF_RECORD_SAMPLE,
	       (op->in_kernel ? PERF_RECORD_MISC_KERNEL
			      : PERF_RECORD_MISC_USER) |
		       (exact ? PERF_RECORD_MISC_EXACT_IP : 0));
	output(k, e, &r);
	k->samples++;
}

void fake_write_throttle(struct fake_kernel *k, struct fake_event *e,
			 uint32_t type)
{
	struct record r = { .bytes = 0 };

	put64(&r, k->now);
	put64(&r, e->id);
	put64(&r, e->id);
	put_id(k, e, &r);
	finish(&r, type, 0);
	output(k, e, &r);
}

static struct fake_event *sampling_event(struct fake_kernel *k, int thread)
{
	for (int i = 0; i < k->events; i++)
		if (k->event[i].users && k->event[i].thread == thread &&
		    fake_is_sampling(&k->event[i]))
			return &k->event[i];
	abort();
}

uint64_t fake_event_id(struct fake_kernel *k, int thread)
{
	return sampling_event(k, thread)->id;
}

void fake_record(struct fake_kernel *k, int thread, uint32_t type,
		 uint16_t misc, const void *body, uint16_t bytes)
{
	struct record r = { .bytes = 0 };

	put(&r, body, bytes);
	finish(&r, type, misc);
	output(k, sampling_event(k, thread), &r);
}

void fake_corrupt_head(struct fake_kernel *k, int thread, uint64_t bytes)
{
	struct fake_event *e = sampling_event(k, thread);

	*head_of(&k->ring[e->ring]) += bytes;
}
