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

struct cursor {
	const char *at;
	size_t left;
	bool spent;
};

static struct cursor cursor_of(const void *record, size_t bytes)
{
	return (struct cursor){ .at = record, .left = bytes };
}

static const char *take(struct cursor *c, uint64_t bytes)
{
	const char *at = c->at;

	if (c->spent || bytes > c->left) {
		c->spent = true;
		return NULL;
	}
	c->at += bytes;
	c->left -= bytes;
	return at;
}

static uint64_t word(struct cursor *c)
{
	const char *at = take(c, WORD);
	uint64_t w = 0;

	if (at)
		memcpy(&w, at, sizeof(w));
	return w;
}

static void two(struct cursor *c, uint32_t *first, uint32_t *second)
{
	uint64_t w = word(c);

	*first = (uint32_t)w;
	*second = (uint32_t)(w >> 32);
}

static void skip_words(struct cursor *c, uint64_t n)
{
	if (n > c->left / WORD)
		c->spent = true;
	else
		take(c, n * WORD);
}

static void take_read(struct cursor *c, uint64_t format, struct perf_sample *s)
{
	bool enabled = format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	bool running = format & PERF_FORMAT_TOTAL_TIME_RUNNING;
	uint64_t each =
		1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP)
		n = word(c);
	else
		s->read_value = word(c);
	if (enabled)
		s->read_enabled = word(c);
	if (running)
		s->read_running = word(c);
	if (!(format & PERF_FORMAT_GROUP)) {
		skip_words(c, each - 1);
	} else if (n) {
		if (n > c->left / WORD) { /* before it is multiplied */
			c->spent = true;
			return;
		}
		s->read_value = word(c);
		skip_words(c, n * each - 1);
	}
}

static void take_raw(struct cursor *c, struct perf_sample *s)
{
	const char *at = take(c, sizeof(uint32_t));
	uint32_t bytes = 0;

	if (at)
		memcpy(&bytes, at, sizeof(bytes));
	s->raw = take(c, bytes);
	s->raw_bytes = s->raw ? bytes : 0;
	/* The size and what follows it fill whole words. */
	take(c, -(sizeof(uint32_t) + bytes) % WORD);
}

static void skip_branches(struct cursor *c, uint64_t branch_type)
{
	uint64_t n = word(c);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		word(c);
	if (n > c->left / BRANCH_ENTRY_BYTES) {
		c->spent = true;
		return;
	}
	take(c, n * BRANCH_ENTRY_BYTES);
	if (branch_type & BRANCH_COUNTERS)
		skip_words(c, n);
}

static void skip_registers(struct cursor *c, uint64_t mask)
{
	if (word(c) != PERF_SAMPLE_REGS_ABI_NONE)
		skip_words(c, __builtin_popcountll(mask));
}

static void skip_stack(struct cursor *c)
{
	uint64_t bytes = word(c);

	take(c, bytes);
	if (bytes)
		word(c); /* how much of it was filled */
}

static void take_weight(struct cursor *c, uint64_t type, struct perf_sample *s)
{
	uint64_t w = word(c);

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
		s->id = word(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = word(c);
	if (type & PERF_SAMPLE_TID)
		two(c, &s->pid, &s->tid);
	if (type & PERF_SAMPLE_TIME)
		s->time = word(c);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = word(c);
	if (type & PERF_SAMPLE_ID)
		s->id = word(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = word(c);
	if (type & PERF_SAMPLE_CPU)
		two(c, &s->cpu, &reserved);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = word(c);
}

static int take_header(struct cursor *c, const void *record, size_t bytes,
		       struct perf_event_header *h)
{
	const char *at;

	*c = cursor_of(record, bytes);
	at = take(c, sizeof(*h));
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
		skip_words(&c, word(&c));
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
		s->data_src = word(&c);
	if (type & PERF_SAMPLE_TRANSACTION)
		word(&c);
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_registers(&c, attr->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = word(&c);
	if (type & PERF_SAMPLE_CGROUP)
		word(&c);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		word(&c);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		word(&c);
	if (type & PERF_SAMPLE_AUX)
		take(&c, word(&c));
	if (c.spent) {
		memset(s, 0, sizeof(*s));
		return -EMSGSIZE;
	}
	s->has = type;
	return 0;
}

/* What of sample_type other records carry at their end. */
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
	take(&c, c.left - need);
	if (type & PERF_SAMPLE_TID)
		two(&c, &s->pid, &s->tid);
	if (type & PERF_SAMPLE_TIME)
		s->time = word(&c);
	if (type & PERF_SAMPLE_ID)
		s->id = word(&c);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = word(&c);
	if (type & PERF_SAMPLE_CPU)
		two(&c, &s->cpu, &reserved);
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = word(&c);
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
