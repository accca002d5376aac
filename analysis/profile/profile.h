/* SPDX-License-Identifier: MIT */
/*
 * profile - the .cdp files of one output directory as one model in memory
 *
 * Files are untrusted: names may be anything, ids may be out of range, counts
 * may be absurd. Counts saturate when added and are never dropped: a detection
 * that names an unknown thread gets a row for that thread.
 */
#ifndef COMDET_ANALYSIS_PROFILE_PROFILE_H
#define COMDET_ANALYSIS_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/store/cdp.h"

/* Beyond this many rows, ended threads are merged. */
enum {
	PROFILE_ROWS_MAX = 512
};

enum process_state {
	PROCESS_ENDED,
	PROCESS_EXECED,
	PROCESS_STOPPED, /* profiling ended first; header.note says why */
	PROCESS_RUNNING,
	PROCESS_CUT, /* killed or crashed; what it committed is here */
};

struct process {
	struct cdp_header header;
	char *file;
	enum process_state state;
	bool unwatched;      /* it was watched from outside, and its watcher
				was killed: PROCESS_CUT */
	bool live;           /* it runs here now, whether profiled or not */
	struct cdp_map *map; /* ordered by start */
	size_t maps, maps_room;
	uint64_t *map_end_max; /* the largest end up to this map */
	uint64_t bad_records;
	struct cdp_transfer *transfer; /* as in the file */
	size_t transfers, transfers_room;
	struct cdp_memory *memory; /* the same */
	size_t memories, memories_room;
	struct cdp_path *path; /* of calls, by node, each once */
	size_t paths, paths_room;
	struct cdp_memory_block *block; /* by start */
	size_t blocks, blocks_room;
	struct cdp_memory_calls *call; /* as in the file */
	size_t calls, calls_room;
	struct cdp_memory_region *region; /* the same */
	size_t regions, regions_room;
};

struct thread_row {
	uint32_t process; /* index */
	uint32_t id;      /* within the process; the file's pairs refer to it */
	uint32_t tid;
	uint64_t count; /* threads in this row */
	bool ended;
	bool unknown; /* only a pair names it */
	char name[16];
	uint64_t start_routine, start_mono, end_mono, cpu_ns, interrupts;
	uint64_t handler_ns; /* in our handler */
	uint64_t samples[SAMPLE_KINDS];
	uint64_t loads, stores, traps, exec_traps, arms, detections;
	uint64_t counted_loads, counted_stores; /* 0: not counted */
	uint64_t counted_load_bytes, counted_store_bytes;
	bool counted_scaled;       /* estimates */
	uint64_t reuse_resolution; /* ns; 0: reuse times are accesses */
	/* Of the weights of its detections; 0: each weighs 1. */
	uint64_t squares[SHARING_KINDS];
	uint64_t samples_skipped;  /* by the slow rate */
	uint64_t clock_interrupts; /* from outside; all, with or without sample
				    */
	uint64_t looks, look_accesses; /* src/engine/looks.h */
	uint64_t loss[CDP_LOSS_MAX];
};

/*
 * A cdp_pair whose threads are row numbers. The line may be shared by several
 * processes: its addresses are those of one of them.
 */
struct pair_row {
	uint32_t process; /* of the addresses and the line */
	uint32_t publisher_process, detector_process; /* of the instructions */
	uint32_t publisher, detector;
	uint64_t publisher_addr, detector_addr;
	uint64_t publisher_ip, detector_ip;
	uint32_t publisher_len, detector_len;
	uint16_t publisher_flags, detector_flags;
	enum sharing sharing;
	enum detected_by by;
	uint64_t line; /* 0: summed over several lines */
	uint64_t count, periods_q8;
	uint64_t avoidable, judged; /* detections: padding, of count */
	uint64_t map_generation;    /* of the detector's process */
	uint64_t line_generation;   /* of the maps that have the line */
	uint64_t foreign; /* number of the publisher's process, 0: the same */
};

struct core_row {
	uint32_t publisher, detector;
	uint64_t count[SHARING_KINDS], traps;
};

#define ALL_THREADS UINT32_MAX

/* A record of reuse (src/store/cdp.h) whose thread is a row, or ALL_THREADS. */
struct reuse_row {
	uint32_t process, thread;
	struct cdp_reuse record;
};

#define NO_THREAD UINT32_MAX

/*
 * Counts by slices of time (src/store/cdp_memory.h): detections between two
 * rows, either of which may be NO_THREAD, not known; or samples, of no row.
 */
struct slice_row {
	uint32_t process; /* whose clock the slices are on */
	uint32_t publisher, detector;
	bool samples;
	uint64_t foreign; /* number of the publisher's process, 0: the same */
	uint32_t shift;
	uint64_t first;
	uint64_t count[CDP_SLICES];
};

struct bad_file {
	char *name;
	const char *why;
};

struct profile {
	struct process *process; /* by time of start */
	size_t processes, processes_room;
	struct thread_row *thread;
	size_t threads, threads_room;
	struct pair_row *pair;
	size_t pairs, pairs_room;
	/*
	 * What is no detection: sightings (src/engine/looks.h). They count
	 * meetings.
	 */
	struct pair_row *sighting;
	size_t sightings;
	struct core_row *core;
	size_t cores, cores_room;
	struct reuse_row *reuse;
	size_t reuses, reuses_room;
	struct slice_row *slice; /* as in the files */
	size_t slices, slices_room;
	struct bad_file *bad;
	size_t bad_files, bad_room;
	bool merged; /* some rows stand for several threads */
};

/*
 * Load the directory @path, or the one file @path. Files that cannot be read
 * are listed in @p->bad; the others are loaded. Returns 0, or -errno if @path
 * is neither (-EBADMSG: no marker), with @p empty. The caller calls
 * profile_release() in either case.
 */
int profile_load(struct profile *p, const char *path);
void profile_release(struct profile *p);

/*
 * The same, of a directory only the files that were made from @from_ms to
 * before @until_ms, in ms of CLOCK_REALTIME: their names say when
 * (src/store/host.h). Here a process that was watched in several slices of time
 * has a row for each; with profile_load() it has one (slices.h).
 */
int profile_load_made(struct profile *p, const char *path, uint64_t from_ms,
		      uint64_t until_ms);

/*
 * The same for a verb: if there is nothing to read, die with a message that
 * says what to do; warn of the files that are left out.
 */
void profile_open(struct profile *p, const char *path);

/* True if process @i has a note that no process before it has. */
bool profile_note_is_new(const struct profile *p, size_t i);

/*
 * True if a signal ended the process and its profile is complete all the same,
 * because it was watched from outside.
 */
bool process_was_killed(const struct process *s);

/* The name of a state in plain words. */
const char *process_state_text(enum process_state s);

/*
 * The same, with the exit status or signal where record or attach saw it. Valid
 * until the next call.
 */
const char *process_end_text(const struct process *s);

/*
 * The process with most interrupts, which stands for the run where the report
 * says how it was measured. A wrapper that only execs another program has none.
 */
const struct process *profile_main_process(const struct profile *p);

/* Sums over all processes. */
bool profile_complete(const struct profile *p);
uint64_t profile_not_followed(const struct profile *p);
uint64_t profile_wall_ns(const struct profile *p);
uint64_t profile_cpu_ns(const struct profile *p);
/* What the kernel took of it, of the processes that tell; 0: unknown. */
uint64_t profile_kernel_ns(const struct profile *p);
/* Mean time in our handler for each sample of the clock or a PMU; 0: none. */
uint64_t profile_handler_ns(const struct profile *p);
uint64_t profile_loss(const struct profile *p, enum loss_cause cause);

/* Node @node of the call paths; NULL if there is none. */
const struct cdp_path *process_path(const struct process *process,
				    uint64_t node);

/* The heap block that contains @addr, a live one first; NULL: none is known. */
const struct cdp_memory_block *process_block(const struct process *process,
					     uint64_t addr);

#endif
