/* SPDX-License-Identifier: MIT */
/*
 * records - the records that are no samples: task events and losses
 *
 * linux/perf_event.h has the layout of each. A record that is too short for its
 * type is counted and left out.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "records.h"
#include "analysis/base/util.h"

enum {
	MISC_MMAP_BUILD_ID = 1 << 14
};

/*
 * The part of a record that is still to be read: its fixed part, then its text,
 * if it has one.
 */
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

/* @record without its header and what sample_id_all appended. */
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
	return import_add_item(im, time,
			       IMPORT_TASK_BIT | (uint32_t)im->tasks++);
}

struct map_head {
	uint32_t pid, tid;
	uint64_t start, bytes, file_offset;
};

/* What MMAP2 adds: where the file is, or its build-id. */
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
		return 0; /* of the kernel or a guest */
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

/* Take FORK and EXIT, which carry a time of their own. */
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
		import_event(im, e)->lost =
			sat_add(import_event(im, e)->lost, lost);
}

int import_record(struct import *im, const struct perf_event_header *h,
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
		time = im->time; /* no record has a time: keep the file's order
				  */
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
			import_event(im, e)->throttled++;
		return 0;
	default:
		return 0;
	}
}
