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
	uint32_t pid, tid; /* until import_tasks() finds the thread */
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

/* Something that happened to a task. */
struct import_task {
	enum import_task_kind kind;
	uint32_t pid, tid, parent_pid, parent_tid;
	uint64_t start, end, file_offset, inode;
	uint32_t dev_major, dev_minor, prot;
	uint8_t build_id[PERF_DATA_ID_BYTES], build_id_bytes;
	char *text; /* path or name */
};

/* The place in time of a sample or a task event. */
struct import_item {
	uint64_t time;
	uint32_t order; /* in the file */
	uint32_t at; /* number of the sample, or of the task event with this bit
		      */
#define IMPORT_TASK_BIT (UINT32_C(1) << 31)
};

struct import_event {
	uint64_t records;          /* samples in the file */
	uint64_t samples, periods; /* kept */
	uint64_t lost, throttled, enabled, running;
};

/* A process until it ends or execs another program. */
struct import_process {
	uint32_t pid, parent_pid;
	uint32_t parent;      /* it began with the maps of this process;
				 IMPORT_NONE: with none */
	uint32_t parent_maps; /* how many of them */
	uint32_t base;        /* generation of its first own map */
	uint32_t *map;        /* numbers of task events */
	size_t maps, maps_room;
	const char *name;     /* the program's, from COMM; NULL: unknown */
	uint64_t first, last; /* time of samples */
	size_t samples;
	size_t from; /* first of its samples in by_process */
	bool execed;
	bool forked; /* a child began with its maps */
};

struct import_thread {
	uint32_t process;
	uint32_t tid;
	char name[16];
	uint64_t first, last, end; /* end 0: not seen */
	uint64_t samples;
	uint32_t id; /* number among its process's sampled threads */
};

struct import {
	struct perf_data data;
	struct import_sample *sample;
	size_t samples, samples_room;
	struct import_task *task;
	size_t tasks, tasks_room;
	struct import_item *item;
	size_t items, items_room;
	struct import_event *event; /* by the number in data.event */
	size_t events_known;
	struct import_process *process;
	size_t processes, processes_room;
	struct import_thread *thread;
	size_t threads, threads_room;
	uint32_t *by_process; /* samples ordered by process and time */
	uint64_t loss[LOSS_COUNT];
	uint64_t records;  /* samples in the file */
	uint64_t time;     /* of the latest record that has one */
	uint64_t untimed;  /* samples without a time */
	uint64_t no_width; /* samples without an access width */
	bool build_ids_ordered;
	const char *error;
	FILE *print; /* NULL: keep the samples; else only print them here */
};

/* Release everything that import_collect() and the steps after it allocated. */
void import_release(struct import *im);

/*
 * Append the place in time of sample @at or, with IMPORT_TASK_BIT, of a task
 * event. Returns 0, or -errno with @im->error set.
 */
int import_add_item(struct import *im, uint64_t time, uint32_t at);

/* Make room for the events that @im->data has found since the last call. */
void import_know_events(struct import *im);

/* The sums of @e; NULL if @e is NULL. */
struct import_event *import_event(struct import *im,
				  const struct perf_data_event *e);

#endif
