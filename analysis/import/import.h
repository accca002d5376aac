/* SPDX-License-Identifier: MIT */
/*
 * import - a recording of perf in memory, on its way to an output directory
 *
 *   perf_data  the records of the file
 *   collect    reads them all: memory samples, and what happened to tasks
 *   records    turns a record that is no sample into a task event
 *   tasks      finds the process, thread and maps of each sample
 *   write      writes a process: its samples go through the board of
 *              src/engine/comm.c into a .cdp file
 *   maps       writes the maps of that process
 *   tally      sums its samples by instruction and cache line
 *
 * Everything is in memory before the first file is made, so a recording that
 * turns out to be damaged leaves nothing behind.
 */
#ifndef COMDET_ANALYSIS_IMPORT_IMPORT_H
#define COMDET_ANALYSIS_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "perf_data.h"
#include "src/store/cdp.h"

/* One memory access in user space. */
struct import_sample {
	uint64_t time, ip, addr, period;
	uint32_t pid, tid; /* until import_tasks has found the thread */
	uint32_t thread;
	uint32_t generation; /* of the maps */
	uint32_t cpu;
	uint32_t latency;
	uint16_t event;
	uint8_t source, access, flags, len;
};

enum import_task_kind {
	IMPORT_MAP,
	IMPORT_COMM,
	IMPORT_EXEC, /* a COMM that came with exec */
	IMPORT_FORK,
	IMPORT_EXIT,
};

/* What a record tells of a task. */
struct import_task {
	enum import_task_kind kind;
	uint32_t pid, tid, parent_pid, parent_tid;
	uint64_t start, end, file_offset, inode;
	uint32_t dev_major, dev_minor, prot;
	uint8_t build_id[PERF_DATA_ID_BYTES], build_id_bytes;
	char *text; /* path or name */
};

/* The place of one of the two in time. */
struct import_item {
	uint64_t time;
	uint32_t order; /* in the file */
	uint32_t at;    /* number of the sample or, with this bit, task */
#define IMPORT_TASK_BIT (UINT32_C(1) << 31)
};

struct import_event {
	uint64_t records;          /* samples in the file */
	uint64_t samples, periods; /* taken */
	uint64_t lost, throttled, enabled, running;
};

/* A process until its end or its exec of another program. */
struct import_process {
	uint32_t pid, parent_pid;
	uint32_t parent;      /* whose maps it began with; IMPORT_NONE */
	uint32_t parent_maps; /* so many of them */
	uint32_t base;        /* generation that its own maps begin at */
	uint32_t *map;        /* numbers of tasks */
	size_t maps, maps_room;
	const char *name;     /* of the program, as COMM gave it; NULL */
	uint64_t first, last; /* time of samples */
	size_t samples;
	size_t from; /* of the samples ordered by process */
	bool execed;
	bool forked; /* its maps are also where a child began */
};

struct import_thread {
	uint32_t process;
	uint32_t tid;
	char name[16];
	uint64_t first, last, end; /* end 0: not seen */
	uint64_t samples;
	uint32_t id; /* among the threads of its process that have samples */
};

struct import {
	struct perf_data data;
	struct import_sample *sample;
	size_t samples, samples_room;
	struct import_task *task;
	size_t tasks, tasks_room;
	struct import_item *item;
	size_t items, items_room;
	struct import_event *event; /* as data.event */
	size_t events_known;
	struct import_process *process;
	size_t processes, processes_room;
	struct import_thread *thread;
	size_t threads, threads_room;
	uint32_t *by_process; /* samples in the order of process and time */
	uint64_t loss[LOSS_COUNT];
	uint64_t records;  /* samples in the file */
	uint64_t time;     /* of the latest record with one */
	uint64_t untimed;  /* samples without a time */
	uint64_t no_width; /* samples that do not say how wide */
	bool build_ids_ordered;
	const char *error;
	FILE *print; /* samples are printed and not kept; NULL */
};

/* Release everything that import_collect() and its successors allocated. */
void import_release(struct import *im);

/*
 * Append the place in time of sample or, with IMPORT_TASK_BIT, task @at.
 * Returns 0, or -errno with @im->error set.
 */
int import_add_item(struct import *im, uint64_t time, uint32_t at);

/* Make room for the events that @im->data has found since the last call. */
void import_know_events(struct import *im);

/* The sums of @e; NULL if @e is NULL. */
struct import_event *import_event(struct import *im,
				  const struct perf_data_event *e);

#endif
