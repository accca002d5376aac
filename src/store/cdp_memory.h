/* SPDX-License-Identifier: MIT */
/*
 * cdp_memory - records of the section CDP_MEMORY (cdp.h, docs/format.md)
 */
#ifndef COMDET_STORE_CDP_MEMORY_H
#define COMDET_STORE_CDP_MEMORY_H

#include <stdint.h>

#include "src/engine/comm.h"

/*
 * Data about the memory system from sources with hardware events, written at
 * the end, and heap blocks, written when a detection is made. 128 bytes: 31 a
 * page.
 */
enum cdp_memory_kind {
	CDP_MEMORY_EVENT = 1, /* an event that was sampled */
	CDP_MEMORY_SITE,      /* accesses by an instruction */
	CDP_MEMORY_LINE,      /* accesses to a cache line */
	CDP_MEMORY_BLOCK,     /* a heap block that a detection is about */
	CDP_MEMORY_CALLS,     /* detections by the calls that led to them */
	CDP_MEMORY_REGION,    /* samples and detections in a named region */
	CDP_MEMORY_SLICES,    /* detections by slices of time */
	CDP_MEMORY_SAMPLED,   /* samples of all threads by slices of time */
	CDP_MEMORY_KINDS
};

enum {
	CDP_EVENT_NAME_BYTES = 48,
};

struct cdp_memory_event {
	char name[CDP_EVENT_NAME_BYTES];
	uint64_t samples;  /* samples that are accesses of this process */
	uint64_t left_out; /* other samples of this process */
	uint64_t periods;  /* sum over samples: events that they stand for */
	int64_t interval;  /* requested; below 0: -Hz, a frequency */
	uint64_t enabled;  /* ns that it was to count, 0: not known */
	uint64_t running;  /* ns that it had a counter */
	uint64_t lost, throttled;
	uint64_t config;
};

/*
 * Samples that agree in address, access and source. The record with address 0
 * counts samples that have no record of their own.
 */
struct cdp_memory_tally {
	uint64_t address; /* of the instruction, or of the line */
	uint64_t map_generation;
	uint32_t source; /* enum data_source */
	uint32_t spare0;
	uint64_t samples;
	uint64_t periods;                  /* sum over samples */
	double periods_squared;            /* sum of their squares */
	uint64_t hitm, locked, tlb_miss;   /* samples */
	uint64_t latencies;                /* samples with a latency */
	uint64_t latency_sum, latency_max; /* core cycles */
	uint64_t example; /* the data address of the first sample */
	uint64_t spare[2];
};

enum {
	CDP_BLOCK_FREED = 1, /* when the detection was made */
};

struct cdp_memory_block {
	uint64_t start;
	uint64_t bytes;  /* as asked for, rounded up */
	uint64_t caller; /* return address of the call that allocated it; 0:
			    not known */
	uint64_t map_generation;
	uint32_t flags; /* CDP_BLOCK_* */
	uint32_t path;  /* node of the call paths; 0: not known */
	uint64_t spare[10];
};

/*
 * Detections that agree in threads, call paths, line and sharing. The innermost
 * instruction of a path is that of the access. These detections are part of
 * those of CDP_PAIRS.
 */
struct cdp_memory_calls {
	uint32_t publisher_thread, detector_thread;
	uint32_t publisher_path, detector_path; /* nodes; 0: not known */
	uint64_t line;
	uint64_t sharing;     /* enum sharing */
	uint64_t count;       /* detections by weight, at least 1; atomic */
	uint64_t avoidable;   /* of count: padding avoids them; atomic */
	uint64_t unavoidable; /* of count: it does not; atomic */
	uint64_t spare[8];
};

enum {
	CDP_REGION_NAME_BYTES = 48,
};

/*
 * What happened while the sampled thread was in a region that the program names
 * (src/base/comdet.h), and in no region inside it. Detections count for the
 * region of the thread that detects; they are part of those of CDP_PAIRS. A
 * reader adds up records of the same name. Counters are atomic.
 */
struct cdp_memory_region {
	char name[CDP_REGION_NAME_BYTES]; /* not empty; cut */
	uint64_t samples[SAMPLE_KINDS];
	uint64_t samples_skipped;           /* as in a thread */
	uint64_t detections[SHARING_KINDS]; /* by weight */
	uint64_t avoidable;                 /* of them: padding avoids them */
	uint64_t unavoidable;               /* of them: it does not */
	uint64_t spare[2];
};

enum {
	CDP_SLICES = 12,          /* of one record */
	CDP_SLICE_SHIFT_MIN = 22, /* 4 ms */
	CDP_SLICE_SHIFT_MAX = 57,
};

/*
 * Counts by slices of time (time_slices.h). A slice is 2^shift ns long, and
 * slice n begins at n << shift ns of CLOCK_MONOTONIC. Detections count for the
 * pair of threads; they are part of those of CDP_PAIRS. A reader adds up counts
 * of the same slice and threads; those of a long slice hold for all the short
 * ones in it. In CDP_MEMORY_SAMPLED the threads are 0.
 */
struct cdp_memory_slices {
	uint32_t publisher_thread; /* CDP_SLICE_OTHERS: threads for which there
				      was no record left */
	uint32_t detector_thread;
	uint32_t publisher_process; /* as in a cdp_pair */
	uint32_t shift;
	uint64_t first; /* number of the first slice */
	/*
	 * Of each slice: samples, or detections by weight, those of false
	 * sharing in the lower half, of true sharing in the upper half, where
	 * they stop at UINT32_MAX. Atomic.
	 */
	uint64_t count[CDP_SLICES];
};

#define CDP_SLICE_OTHERS UINT32_MAX

struct cdp_memory {
	uint32_t kind;
	uint32_t access; /* ACCESS_LOAD, ACCESS_STORE; 0 in an event: both, and
			    in blocks, calls, regions and slices */
	union {
		struct cdp_memory_event event;
		struct cdp_memory_tally tally;
		struct cdp_memory_block block;
		struct cdp_memory_calls calls;
		struct cdp_memory_region region;
		struct cdp_memory_slices slices;
	};
};
_Static_assert(sizeof(struct cdp_memory) == 128, "cdp_memory");

#endif
