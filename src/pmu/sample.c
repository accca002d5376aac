/* SPDX-License-Identifier: MIT */
/*
 * sample - the fields of one perf_events record
 *
 * A cursor walks over the record; once it would leave it, it is spent for
 * good and yields zeros, so that a decoder checks it once, at the end.
 */
#include <errno.h>
#include <string.h>

#include "sample.h"
#include "src/base/cursor.h"
#include "src/base/signal_safe.h"

/* Fields that perf_sample_decode knows the place of. */
#define KNOWN_FIELDS ((uint64_t)PERF_SAMPLE_MAX - 1)
#define KNOWN_READ                                                             \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |     \
	 PERF_FORMAT_ID | PERF_FORMAT_GROUP | FORMAT_LOST)

/* Newer than some headers. */
enum {
	FORMAT_LOST = 1 << 4,
	BRANCH_COUNTERS = 1 << 19, /* of branch_sample_type */
};

enum {
	WORD = sizeof(uint64_t),
	BRANCH_ENTRY_BYTES = 24,
};

static void two(struct cursor *c, uint32_t *first, uint32_t *second)
{
	uint64_t w = cursor_u64(c);

	*first = (uint32_t)w;
	*second = (uint32_t)(w >> 32);
}

static void skip_words(struct cursor *c, uint64_t n)
{
	if (n > c->left / WORD)
		c->spent = true;
	else
		cursor_take(c, n * WORD);
}

static void take_read(struct cursor *c, uint64_t format, struct perf_sample *s)
{
	bool enabled = format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	bool running = format & PERF_FORMAT_TOTAL_TIME_RUNNING;
	uint64_t each =
		1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP)
		n = cursor_u64(c);
	else
		s->read_value = cursor_u64(c);
	if (enabled)
		s->read_enabled = cursor_u64(c);
	if (running)
		s->read_running = cursor_u64(c);
	if (!(format & PERF_FORMAT_GROUP)) {
		skip_words(c, each - 1);
	} else if (n) {
		if (n > c->left / WORD) { /* before it is multiplied */
			c->spent = true;
			return;
		}
		s->read_value = cursor_u64(c);
		skip_words(c, n * each - 1);
	}
}

static void take_raw(struct cursor *c, struct perf_sample *s)
{
	const char *at = cursor_take(c, sizeof(uint32_t));
	uint32_t bytes = 0;

	if (at)
		memcpy(&bytes, at, sizeof(bytes));
	s->raw = cursor_take(c, bytes);
	s->raw_bytes = s->raw ? bytes : 0;
	/* The size and what follows it fill whole words. */
	cursor_take(c, -(sizeof(uint32_t) + bytes) % WORD);
}

static void skip_branches(struct cursor *c, uint64_t branch_type)
{
	uint64_t n = cursor_u64(c);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		cursor_u64(c);
	if (n > c->left / BRANCH_ENTRY_BYTES) {
		c->spent = true;
		return;
	}
	cursor_take(c, n * BRANCH_ENTRY_BYTES);
	if (branch_type & BRANCH_COUNTERS)
		skip_words(c, n);
}

static void skip_registers(struct cursor *c, uint64_t mask)
{
	if (cursor_u64(c) != PERF_SAMPLE_REGS_ABI_NONE)
		skip_words(c, __builtin_popcountll(mask));
}

static void skip_stack(struct cursor *c)
{
	uint64_t bytes = cursor_u64(c);

	cursor_take(c, bytes);
	if (bytes)
		cursor_u64(c); /* how much of the stack copy was filled */
}

static void take_weight(struct cursor *c, uint64_t type, struct perf_sample *s)
{
	uint64_t w = cursor_u64(c);

	s->weight = w;
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		s->weight = (uint32_t)w;
		s->weight2 = (uint16_t)(w >> 32);
		s->weight3 = (uint16_t)(w >> 48);
	}
}

/* The fields up to PERIOD, which are single words. */
static void take_first(struct cursor *c, uint64_t type, struct perf_sample *s)
{
	uint32_t reserved;

	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = cursor_u64(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = cursor_u64(c);
	if (type & PERF_SAMPLE_TID)
		two(c, &s->pid, &s->tid);
	if (type & PERF_SAMPLE_TIME)
		s->time = cursor_u64(c);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = cursor_u64(c);
	if (type & PERF_SAMPLE_ID)
		s->id = cursor_u64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = cursor_u64(c);
	if (type & PERF_SAMPLE_CPU)
		two(c, &s->cpu, &reserved);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = cursor_u64(c);
}

static int take_header(struct cursor *c, const void *record, size_t bytes,
		       struct perf_event_header *h)
{
	const char *at;

	*c = cursor_of(record, bytes);
	at = cursor_take(c, sizeof(*h));
	if (!at)
		return -EMSGSIZE;
	memcpy(h, at, sizeof(*h));
	if (h->size < sizeof(*h) || h->size > bytes)
		return -EMSGSIZE;
	c->left = h->size - sizeof(*h);
	return 0;
}

int perf_sample_decode(const struct perf_event_attr *attr, const void *record,
		       size_t bytes, struct perf_sample *s)
{
	uint64_t type = attr->sample_type;
	struct perf_event_header h;
	struct cursor c;
	int err = take_header(&c, record, bytes, &h);

	memset(s, 0, sizeof(*s));
	if (err)
		return err;
	if (h.type != PERF_RECORD_SAMPLE)
		return -EINVAL;
	if (type & ~KNOWN_FIELDS)
		return -EOPNOTSUPP;
	if (type & PERF_SAMPLE_READ &&
	    attr->read_format & ~(uint64_t)KNOWN_READ)
		return -EOPNOTSUPP;
	s->misc = h.misc;
	take_first(&c, type, s);
	if (type & PERF_SAMPLE_READ)
		take_read(&c, attr->read_format, s);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip_words(&c, cursor_u64(&c));
	if (type & PERF_SAMPLE_RAW)
		take_raw(&c, s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&c, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		skip_registers(&c, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		skip_stack(&c);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		take_weight(&c, type, s);
	if (type & PERF_SAMPLE_DATA_SRC)
		s->data_src = cursor_u64(&c);
	if (type & PERF_SAMPLE_TRANSACTION)
		cursor_u64(&c);
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_registers(&c, attr->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = cursor_u64(&c);
	if (type & PERF_SAMPLE_CGROUP)
		cursor_u64(&c);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		cursor_u64(&c);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		cursor_u64(&c);
	if (type & PERF_SAMPLE_AUX)
		cursor_take(&c, cursor_u64(&c));
	if (c.spent) {
		memset(s, 0, sizeof(*s));
		return -EMSGSIZE;
	}
	s->has = type;
	return 0;
}

/* The fields of sample_type that other records have at their end. */
static const uint64_t id_fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

int perf_sample_decode_id(const struct perf_event_attr *attr,
			  const void *record, size_t bytes,
			  struct perf_sample *s, size_t *id_bytes)
{
	uint64_t type = attr->sample_id_all ? attr->sample_type & id_fields : 0;
	size_t need = WORD * __builtin_popcountll(type);
	struct perf_event_header h;
	uint32_t reserved;
	struct cursor c;
	int err = take_header(&c, record, bytes, &h);

	memset(s, 0, sizeof(*s));
	if (id_bytes)
		*id_bytes = 0;
	if (err)
		return err;
	s->misc = h.misc;
	if (c.left < need)
		return -EMSGSIZE;
	cursor_take(&c, c.left - need);
	if (type & PERF_SAMPLE_TID)
		two(&c, &s->pid, &s->tid);
	if (type & PERF_SAMPLE_TIME)
		s->time = cursor_u64(&c);
	if (type & PERF_SAMPLE_ID)
		s->id = cursor_u64(&c);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = cursor_u64(&c);
	if (type & PERF_SAMPLE_CPU)
		two(&c, &s->cpu, &reserved);
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = cursor_u64(&c);
	s->has = type;
	if (id_bytes)
		*id_bytes = need;
	return 0;
}

int perf_sample_event(const struct perf_event_attr *attr, const void *record,
		      size_t bytes, uint64_t *id)
{
	uint64_t type = attr->sample_type;
	struct perf_event_header h;
	struct perf_sample s;
	struct cursor c;
	int err = take_header(&c, record, bytes, &h);

	if (err)
		return err;
	if (!(type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)))
		return -ENODATA;
	if (h.type == PERF_RECORD_SAMPLE) {
		memset(&s, 0, sizeof(s));
		if (type & PERF_SAMPLE_IDENTIFIER)
			type = PERF_SAMPLE_IDENTIFIER;
		take_first(&c, type, &s);
		err = c.spent ? -EMSGSIZE : 0;
	} else {
		if (!attr->sample_id_all)
			return -ENODATA;
		err = perf_sample_decode_id(attr, record, bytes, &s, NULL);
	}
	*id = s.id;
	return err;
}
