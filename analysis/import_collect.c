/* SPDX-License-Identifier: MIT */
/*
 * import_collect - memory samples and task records of a recording, in order
 *
 * Records of one processor are in order, those of several are not. perf sorts
 * them by time within rounds, so as not to keep them all; here all are kept
 * anyway, and sorted at once. What has no time (processes that were there
 * before recording began) comes first, as it does with perf.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analysis/import.h"
#include "analysis/util.h"

#define TASK_BIT (UINT32_C(1) << 31)

enum {
	ITEMS_MAX = 64 * 1024 * 1024,
	MISC_MMAP_BUILD_ID = 1 << 14,
	PATH_BYTES = CDP_PATH_BYTES,
};

/* A record's fixed part; its text, if it has one, is what follows. */
struct body {
	const char *at;
	size_t left;
};

static bool body_take(struct body *b, void *to, size_t bytes)
{
	if (bytes > b->left)
		return false;
	memcpy(to, b->at, bytes);
	b->at += bytes;
	b->left -= bytes;
	return true;
}

static int too_many(struct import *im)
{
	return perf_data_fail(&im->data,
			      "has more than %d million samples: "
			      "record for a shorter time",
			      ITEMS_MAX >> 20);
}

static int add_item(struct import *im, uint64_t time, uint32_t at)
{
	if (im->items == ITEMS_MAX)
		return too_many(im);
	im->item =
		grow(im->item, im->items, &im->items_room, sizeof(*im->item));
	im->item[im->items] = (struct import_item){
		.time = time,
		.order = (uint32_t)im->items,
		.at = at,
	};
	im->items++;
	return 0;
}

/* @record without the header and what sample_id_all put at its end. */
static struct body body_of(const void *record, size_t bytes, size_t id_bytes)
{
	size_t header = sizeof(struct perf_event_header);

	if (bytes < header + id_bytes)
		return (struct body){ .at = record };
	return (struct body){
		.at = (const char *)record + header,
		.left = bytes - header - id_bytes,
	};
}

static int add_task(struct import *im, const struct import_task *task,
		    uint64_t time, const struct body *text)
{
	struct import_task *t;

	im->task =
		grow(im->task, im->tasks, &im->tasks_room, sizeof(*im->task));
	t = &im->task[im->tasks];
	*t = *task;
	if (text) {
		t->text = strndup(text->at, text->left);
		if (!t->text)
			die("out of memory");
	}
	return add_item(im, time, TASK_BIT | (uint32_t)im->tasks++);
}

struct map_head {
	uint32_t pid, tid;
	uint64_t start, bytes, file_offset;
};

/* What MMAP2 has more: where the file is, or its build-id. */
struct map_file {
	union {
		struct {
			uint32_t dev_major, dev_minor;
			uint64_t inode, inode_generation;
		};
		struct {
			uint8_t build_id_bytes, reserved[3];
			uint8_t build_id[PERF_DATA_ID_BYTES];
		};
	};
	uint32_t prot, flags;
};
_Static_assert(sizeof(struct map_file) == 32, "of PERF_RECORD_MMAP2");

static int take_map(struct import *im, const struct perf_event_header *h,
		    struct body b, uint64_t time)
{
	struct import_task t = { .kind = IMPORT_MAP };
	struct map_head head;
	struct map_file file;

	if ((h->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return 0; /* the kernel's, or a guest's */
	if (!body_take(&b, &head, sizeof(head)))
		goto malformed;
	t.prot = PROT_READ | (h->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_WRITE
								   : PROT_EXEC);
	if (h->type == PERF_RECORD_MMAP2) {
		if (!body_take(&b, &file, sizeof(file)))
			goto malformed;
		t.prot = file.prot & (PROT_READ | PROT_WRITE | PROT_EXEC);
		if (h->misc & MISC_MMAP_BUILD_ID) {
			if (file.build_id_bytes > sizeof(t.build_id))
				goto malformed;
			t.build_id_bytes = file.build_id_bytes;
			memcpy(t.build_id, file.build_id, t.build_id_bytes);
		} else {
			t.dev_major = file.dev_major;
			t.dev_minor = file.dev_minor;
			t.inode = file.inode;
		}
	}
	if (!head.bytes || head.start + head.bytes < head.start)
		goto malformed;
	t.pid = head.pid;
	t.tid = head.tid;
	t.start = head.start;
	t.end = head.start + head.bytes;
	t.file_offset = head.file_offset;
	return add_task(im, &t, time, &b);
malformed:
	im->loss[LOSS_MALFORMED]++;
	return 0;
}

static int take_comm(struct import *im, const struct perf_event_header *h,
		     struct body b, uint64_t time)
{
	struct import_task t = {
		.kind = h->misc & PERF_RECORD_MISC_COMM_EXEC ? IMPORT_EXEC
							     : IMPORT_COMM,
	};
	uint32_t id[2];

	if (!body_take(&b, id, sizeof(id))) {
		im->loss[LOSS_MALFORMED]++;
		return 0;
	}
	t.pid = id[0];
	t.tid = id[1];
	return add_task(im, &t, time, &b);
}

/* FORK and EXIT, which carry a time of their own. */
static int take_fork(struct import *im, const struct perf_event_header *h,
		     struct body b, uint64_t time)
{
	struct import_task t = {
		.kind = h->type == PERF_RECORD_FORK ? IMPORT_FORK : IMPORT_EXIT,
	};
	struct {
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time;
	} own;

	if (!body_take(&b, &own, sizeof(own))) {
		im->loss[LOSS_MALFORMED]++;
		return 0;
	}
	t.pid = own.pid;
	t.tid = own.tid;
	t.parent_pid = own.parent_pid;
	t.parent_tid = own.parent_tid;
	return add_task(im, &t, time ? time : own.time, NULL);
}

/* Events come up one by one in a stream. */
static void know_events(struct import *im)
{
	struct perf_data *d = &im->data;

	if (im->events_known == d->events)
		return;
	im->event = realloc(im->event, d->events * sizeof(*im->event));
	if (!im->event)
		die("out of memory");
	memset(im->event + im->events_known, 0,
	       (d->events - im->events_known) * sizeof(*im->event));
	im->events_known = d->events;
}

static struct import_event *event_number(struct import *im,
					 const struct perf_data_event *e)
{
	return e ? &im->event[e - im->data.event] : NULL;
}

static void take_lost(struct import *im, const struct perf_data_event *e,
		      const struct perf_event_header *h, struct body b)
{
	uint64_t word[2] = { 0 }, lost;

	if (!body_take(&b, word,
		       h->type == PERF_RECORD_LOST ? sizeof(word)
						   : sizeof(word[0]))) {
		im->loss[LOSS_MALFORMED]++;
		return;
	}
	lost = h->type == PERF_RECORD_LOST ? word[1] : word[0];
	im->loss[LOSS_RING_FULL] = sat_add(im->loss[LOSS_RING_FULL], lost);
	if (e)
		event_number(im, e)->lost =
			sat_add(event_number(im, e)->lost, lost);
}

/* The time of a record that says none is that of the one before it. */
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

/* Why a sample is none of ours; LOSS_COUNT if it is. */
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

/* One line a sample, for people and for comparisons with perf script. */
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
	event_number(im, e)->samples++;
	event_number(im, e)->periods =
		sat_add(event_number(im, e)->periods, to->period);
	return add_item(im, time, (uint32_t)im->samples++);
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
	event_number(im, e)->records++;
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

static int take_other(struct import *im, const struct perf_event_header *h,
		      const void *record, size_t bytes)
{
	const struct perf_data_event *e =
		perf_data_event(&im->data, record, bytes, NULL);
	const struct perf_data_event *layout = e ? e : im->data.event;
	struct perf_sample id = { 0 };
	uint64_t time = 0;
	size_t id_bytes = 0;
	struct body b;

	if (layout && perf_sample_decode_id(&layout->attr, record, bytes, &id,
					    &id_bytes)) {
		im->loss[LOSS_MALFORMED]++;
		return 0;
	}
	if (id.has & PERF_SAMPLE_TIME && id.time != UINT64_MAX)
		time = id.time;
	else if (layout && !(layout->attr.sample_type & PERF_SAMPLE_TIME))
		time = im->time; /* nothing has one: as in the file */
	b = body_of(record, bytes, id_bytes);
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return take_map(im, h, b, time);
	case PERF_RECORD_COMM:
		return take_comm(im, h, b, time);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_fork(im, h, b, time);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_lost(im, e, h, b);
		return 0;
	case PERF_RECORD_THROTTLE:
		im->loss[LOSS_THROTTLED]++;
		if (e)
			event_number(im, e)->throttled++;
		return 0;
	default:
		return 0;
	}
}

static int compare_items(const void *a, const void *b)
{
	const struct import_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Which of them had a counter all the time they were to count? */
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
		know_events(im);
		if (h.type == PERF_RECORD_SAMPLE)
			err = take_sample(im, record, bytes);
		else
			err = take_other(im, &h, record, bytes);
	}
	if (err)
		return err;
	know_events(im);
	sum_times(im);
	if (!im->print && !im->samples)
		return nothing_found(im);
	if (im->items)
		qsort(im->item, im->items, sizeof(*im->item), compare_items);
	return 0;
}

void import_release(struct import *im)
{
	for (size_t i = 0; i < im->tasks; i++)
		free(im->task[i].text);
	for (size_t i = 0; i < im->processes; i++)
		free(im->process[i].map);
	free(im->task);
	free(im->sample);
	free(im->item);
	free(im->event);
	free(im->process);
	free(im->thread);
	free(im->by_process);
	perf_data_close(&im->data);
	memset(im, 0, sizeof(*im));
}
