/* SPDX-License-Identifier: MIT */
/*
 * import - a recording of perf becomes an output directory
 *
 *   perf_data      records, as they are in the file
 *   import_collect memory samples and what tells of tasks, ordered by time
 *   import_records the latter, out of records
 *   import_tasks   which process and thread each sample is of, and its maps
 *   import_write   one process: samples through the board of src/engine/comm.c,
 * and into a .cdp file import_maps    the maps of that process import_tally the
 * samples of a process by instruction and cache line
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
#include "src/store/store.h"

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

/*
 * Read all of @fd. Returns 0, or -errno with @im->error set to one line that
 * continues "FILE ". import_release undoes it in any case.
 */
int import_collect(struct import *im, int fd);
void import_release(struct import *im);

/* Append to @im->item. Returns 0 or -errno. */
int import_add_item(struct import *im, uint64_t time, uint32_t at);
/* NULL if @e is. */
struct import_event *import_event(struct import *im,
				  const struct perf_data_event *e);
/* records.c: a record that is no sample. Returns 0 or -errno. */
int import_record(struct import *im, const struct perf_event_header *h,
		  const void *record, size_t bytes);

/* Find process, thread and generation of all samples. */
void import_tasks(struct import *im);

/* What is the same for all processes of a recording. */
struct import_run {
	const char *file; /* as the user named it */
	const char *run_id;
	uint32_t main_process; /* which carries the losses */
	uint64_t gap, expiry;  /* ns: a thread's median, and the board's */
	uint64_t mean_period;
	uint64_t start, end; /* time of the first and the last sample */
};

void import_plan(const struct import *im, struct import_run *run);

/*
 * Write process @p into @dirfd. *@detections is raised. Returns 0 or -errno,
 * with @im->error as above; then there may be a file.
 */
int import_write(struct import *im, const struct import_run *run, uint32_t p,
		 int dirfd, uint64_t *detections);

/*
 * maps.c: the maps of process @s that its samples need, into @store.
 * Returns 0 or -ENOSPC.
 */
int import_maps_write(struct import *im, const struct import_process *s,
		      struct store *store);
/* The file of its program, else its name; what is mapped tells. */
const char *import_program(const struct import *im,
			   const struct import_process *s);

/* Tallies of one process; see struct cdp_memory_tally. */
struct import_tally {
	struct import_tally_entry *entry;
	size_t entries, entries_room;
	uint32_t *slot; /* hash table: number of the entry, plus one */
	size_t slots;   /* a power of two */
};

struct import_tally_entry {
	struct cdp_memory record;
};

void import_tally_add(struct import_tally *t, enum cdp_memory_kind kind,
		      uint64_t address, const struct import_sample *s);
/*
 * Order by address group, most periods first, keep @max entries at the most
 * and add up the others in entries with address 0.
 */
void import_tally_finish(struct import_tally *t, size_t max);
void import_tally_release(struct import_tally *t);

#endif
