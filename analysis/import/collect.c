/* SPDX-License-Identifier: MIT */
/*
 * collect - read a whole recording, and keep its memory samples
 *
 * Records of one processor are in order of time, those of several are not. perf
 * sorts them within rounds, so that it need not keep them all; here all are
 * kept anyway and sorted at once. Records without a time (processes that
 * existed before the recording began) come first, as with perf.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "records.h"
#include "analysis/base/util.h"

/*
 * The time of a sample; one without a time gets that of the sample before it.
 */
static uint64_t time_of(struct import *im, const struct perf_sample *s)
{
	if (s->has & PERF_SAMPLE_TIME)
		im->time = s->time;
	else
		im->untimed++;
	return im->time;
}

static bool in_kernel_half(uint64_t addr)
{
	return addr >> 63;
}

/* Why a sample is left out; LOSS_COUNT if it is kept. */
static enum loss_cause reason(const struct perf_sample *s, int err,
			      const struct perf_memory *m)
{
	uint32_t mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	switch (mode) {
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return LOSS_IN_GUEST;
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_HYPERVISOR:
		return LOSS_IN_KERNEL;
	}
	if (in_kernel_half(s->ip) || in_kernel_half(m->addr))
		return LOSS_IN_KERNEL;
	if (err == -ENODATA)
		return LOSS_NOT_MEMORY;
	if (err)
		return LOSS_MALFORMED;
	if (!m->addr)
		return LOSS_NO_ADDRESS;
	if (!(s->has & PERF_SAMPLE_TID))
		return LOSS_NO_THREAD;
	return LOSS_COUNT;
}

static uint64_t period_of(const struct perf_data_event *e,
			  const struct perf_sample *s)
{
	uint64_t period = s->has & PERF_SAMPLE_PERIOD ? s->period
			  : e->attr.freq              ? 1
						      : e->attr.sample_period;

	return period ? period : 1;
}

/* Print a sample as one line, for people and to compare with perf script. */
static void print_sample(struct import *im, const struct perf_data_event *e,
			 const struct perf_sample *s,
			 const struct perf_memory *m, enum loss_cause why)
{
	static const char *const sources[] = {
#define X(id, name, text) name,
		DATA_SOURCES(X)
#undef X
	};
	static const char *const causes[] = {
#define X(id, name, text) name,
		LOSS_CAUSES(X)
#undef X
	};

	fprintf(im->print,
		"%u/%u [%03u] %" PRIu64 ".%09" PRIu64 " %s addr=%" PRIx64
		" data_src=%" PRIx64 " weight=%" PRIu64 " ip=%" PRIx64
		" period=%" PRIu64 " access=%s%s%s len=%u source=%s%s "
		"latency=%u%s%s\n",
		s->pid, s->tid, s->cpu, s->time / 1000000000,
		s->time % 1000000000, e->name[0] ? safe_text(e->name) : "event",
		m->addr, s->data_src, s->weight, s->ip, period_of(e, s),
		m->access & ACCESS_LOAD ? "load" : "",
		m->access & ACCESS_STORE ? "store" : "",
		m->access & ACCESS_LOCKED ? ",locked" : "", m->len,
		sources[m->source], m->flags & MEMORY_HITM ? ",hitm" : "",
		m->latency, why == LOSS_COUNT ? "" : " left_out=",
		why == LOSS_COUNT ? "" : causes[why]);
}

static int keep_sample(struct import *im, const struct perf_data_event *e,
		       const struct perf_sample *s, const struct perf_memory *m)
{
	struct import_sample *to;
	uint64_t time = time_of(im, s);

	im->sample = grow(im->sample, im->samples, &im->samples_room,
			  sizeof(*im->sample));
	to = &im->sample[im->samples];
	*to = (struct import_sample){
		.time = time,
		.ip = s->ip,
		.addr = m->addr,
		.period = period_of(e, s),
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->has & PERF_SAMPLE_CPU ? s->cpu : IMPORT_NONE,
		.latency = m->latency,
		.event = (uint16_t)(e - im->data.event),
		.source = (uint8_t)m->source,
		.access = (uint8_t)m->access,
		.flags = (uint8_t)m->flags,
		.len = (uint8_t)m->len,
	};
	im->no_width += !m->len;
	import_event(im, e)->samples++;
	import_event(im, e)->periods =
		sat_add(import_event(im, e)->periods, to->period);
	return import_add_item(im, time, (uint32_t)im->samples++);
}

static int take_sample(struct import *im, const void *record, size_t bytes)
{
	struct perf_data_id *id;
	const struct perf_data_event *e =
		perf_data_event(&im->data, record, bytes, &id);
	struct perf_memory m;
	struct perf_sample s;
	enum loss_cause why;
	int err;

	im->records++;
	if (!e) {
		im->loss[LOSS_MALFORMED]++;
		return 0;
	}
	import_event(im, e)->records++;
	err = perf_sample_decode(&e->attr, record, bytes, &s);
	if (err == -EOPNOTSUPP)
		return perf_data_fail(&im->data,
				      "has samples with fields that this "
				      "version does not know (sample_type "
				      "0x%llx)",
				      (unsigned long long)e->attr.sample_type);
	if (err) {
		im->loss[LOSS_MALFORMED]++;
		return 0;
	}
	if (id && s.has & PERF_SAMPLE_READ) {
		id->enabled = s.read_enabled;
		id->running = s.read_running;
	}
	err = perf_sample_memory(&s, e->kind, &im->data.ibs_cpu, &m);
	if (e->attr.type == PERF_TYPE_BREAKPOINT && e->attr.bp_len <= 8)
		m.len = (uint32_t)e->attr.bp_len;
	why = reason(&s, err, &m);
	if (im->print)
		print_sample(im, e, &s, &m, why);
	if (why != LOSS_COUNT) {
		im->loss[why]++;
		return 0;
	}
	return im->print ? 0 : keep_sample(im, e, &s, &m);
}

static int compare_items(const void *a, const void *b)
{
	const struct import_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Sum how long each event was enabled, and how long a counter counted it. */
static void sum_times(struct import *im)
{
	for (size_t i = 0; i < im->data.ids; i++) {
		const struct perf_data_id *id = &im->data.id[i];
		struct import_event *e = &im->event[id->event];

		e->enabled = sat_add(e->enabled, id->enabled);
		e->running = sat_add(e->running, id->running);
	}
}

static int nothing_found(struct import *im)
{
	uint64_t elsewhere = im->loss[LOSS_IN_KERNEL] + im->loss[LOSS_IN_GUEST];

	if (!im->records)
		return perf_data_fail(&im->data, "has no samples");
	if (elsewhere == im->records)
		return perf_data_fail(
			&im->data,
			"has %s samples, all of the kernel or a "
			"guest: record user space, with 'perf mem "
			"record -U'",
			count_text(im->records));
	return perf_data_fail(&im->data,
			      "has %s samples but none of a memory access in "
			      "user space: record with 'perf mem record', "
			      "'perf c2c record' or 'perf record -d' and a "
			      "precise event",
			      count_text(im->records));
}

int import_collect(struct import *im, int fd)
{
	struct perf_event_header h;
	const void *record;
	size_t bytes;
	int err = perf_data_open(&im->data, fd);

	im->error = im->data.error;
	while (!err && (err = perf_data_next(&im->data, &record, &bytes)) > 0) {
		memcpy(&h, record, sizeof(h));
		import_know_events(im);
		if (h.type == PERF_RECORD_SAMPLE)
			err = take_sample(im, record, bytes);
		else
			err = import_record(im, &h, record, bytes);
	}
	if (err)
		return err;
	import_know_events(im);
	sum_times(im);
	if (!im->print && !im->samples)
		return nothing_found(im);
	if (im->items)
		qsort(im->item, im->items, sizeof(*im->item), compare_items);
	return 0;
}
