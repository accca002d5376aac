/* SPDX-License-Identifier: MIT */
/*
 * cdp - the on-disk format of one profiled process (docs/format.md)
 *
 * A file is a sequence of 4 KiB pages. Page 0 is the header, with a table of
 * the sections: the record types and the size of a record of each. Every other
 * page belongs to one section and holds records of one writer thread. The
 * commit counter of a page says how many of its records are complete; a reader
 * takes no more than those. Counters inside a committed record go on changing.
 * Each is one aligned 8-byte word, so a reader always finds a valid value.
 *
 * Little endian, x86-64. The reader trusts no length or offset (cdp_read.h).
 */
#ifndef COMDET_STORE_CDP_H
#define COMDET_STORE_CDP_H

#include <stddef.h>
#include <stdint.h>

#include "cdp_memory.h"
#include "src/engine/comm.h"
#include "src/base/loss.h"

#define CDP_MAGIC "COMDETcd"

enum {
	CDP_VERSION = 1,
	CDP_PAGE_BYTES = 4096,
	CDP_HEADER_BYTES = 2720, /* what version 1 had at first */
	CDP_PAGE_HEADER_BYTES = 64,
	CDP_PATH_BYTES = 256,
	CDP_LOSS_MAX = 32,
	CDP_CORES_MAX = 8192,    /* core numbers are below; Linux has no more */
	CDP_PATHS_MAX = 1 << 20, /* nodes of call paths */
};
#define CDP_BYTES_MAX (UINT64_C(1) << 32) /* limit of a file */
_Static_assert((int)LOSS_COUNT <= CDP_LOSS_MAX, "loss counters fit the format");

enum cdp_section {
	CDP_FREE, /* a page that is reserved but not yet written: skipped */
	CDP_THREADS,
	CDP_PAIRS,
	CDP_MAPS,
	CDP_CORES,
	CDP_TRANSFERS,
	CDP_MEMORY,
	CDP_REUSE,
	CDP_PATHS,
	CDP_SECTIONS
};

enum cdp_state {
	CDP_RUNNING = 1, /* a killed process stays in this state too */
	CDP_ENDED,       /* through exit, _exit or the last thread */
	CDP_EXECED,      /* the process executed another program */
	CDP_STOPPED,     /* profiling stopped early: note says why */
};

enum cdp_end {
	CDP_END_UNKNOWN,
	CDP_END_EXIT, /* by a system call past the C library */
	CDP_END_SIGNAL,
};

enum {
	CDP_MODE_COMM = 1,
	CDP_MODE_REUSE = 2,
	CDP_MODE_SHARED = 4,
	CDP_MODE_GLOBAL = 8,
	CDP_MODE_PROFILE = 16,
};

struct cdp_section_entry {
	char name[16];
	uint32_t type;
	uint32_t record_bytes;
	uint64_t reserved;
};

/* Page 0. Strings end in NUL. Times ns. */
struct cdp_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t page_bytes;
	uint32_t sections; /* entries used in the table */
	struct cdp_section_entry section[8];

	uint64_t pages; /* pages handed out, this one included; atomic */
	uint64_t bytes; /* least length of the file; atomic */
	uint32_t state; /* enum cdp_state; atomic */
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t line_bytes;
	uint64_t process_start; /* field 22 of /proc/PID/stat, to tell whether
				   the process is alive */
	uint64_t start_real;    /* CLOCK_REALTIME */
	uint64_t start_mono;    /* CLOCK_MONOTONIC */
	uint64_t last_mono;     /* of the last commit or the end; atomic */
	uint64_t cpu_ns;        /* of the process at the end; atomic */

	char run_id[40];
	char boot_id[40];
	char host[64];
	char kernel[128];
	char cpu[64];

	char source[16]; /* clock, pebs, ... */
	char source_reason[256];
	char delivery[16]; /* sigtrap, rtsig */
	char algorithm[16];
	char period_unit[16]; /* ns, accesses, events, ops */
	uint64_t period;
	uint32_t modes;             /* CDP_MODE_* */
	uint32_t registers;         /* debug registers in use */
	char registers_reason[192]; /* why there are fewer than four, or "" */
	uint32_t board_slots;
	uint32_t cores;                /* of the machine */
	uint64_t expiry, watch_expiry; /* ticks of period_unit */

	uint64_t loss[CDP_LOSS_MAX]; /* of threads merged or unknown; atomic */
	uint64_t not_followed; /* programs started but not profiled; atomic */
	char exe[CDP_PATH_BYTES];
	char command[768]; /* arguments, joined by blanks, cut with "..." */
	char note[192];

	/* Of emu's turns; 0 in files of older writers, and without turns. */
	uint64_t slice;         /* mean length of a turn in accesses */
	uint64_t turns_shared;  /* used up while another thread could run */
	uint64_t turns_by_time; /* given to another thread by time */
	uint64_t unordered;     /* threads that came back from the kernel, while
				   others ran, when the host said so */
	/* What record saw of a process whose end the library did not see. */
	uint32_t end_how;   /* enum cdp_end; 0 in files of older writers */
	uint32_t end_value; /* exit status or signal */

	/* If the process was watched from outside; 0 in older files. */
	uint64_t number; /* among those watched together, from 1 on; 0: alone */
	/*
	 * Samples by the memory that they depend on, and interrupts of which
	 * an access was not published (docs/attach.md). Atomic.
	 */
	uint64_t samples_exact, samples_verified, samples_racy;
	/* Of a parallel job, 0 in older files: rank + 1 (0: none), how many. */
	uint32_t rank, ranks;
	uint64_t slow_period; /* where nothing is found; 0: always period */
	/* Of cpu_ns, what the kernel took for the process; atomic; 0: unknown.
	 */
	uint64_t kernel_ns;
};
_Static_assert(offsetof(struct cdp_header, slice) == CDP_HEADER_BYTES,
	       "new fields follow the header of version 1");
_Static_assert(sizeof(struct cdp_header) <= CDP_PAGE_BYTES, "one page");

/* At the start of every other page. */
struct cdp_page {
	uint32_t section;   /* enum cdp_section; atomic, written last */
	uint32_t committed; /* records complete; atomic */
	uint64_t reserved[7];
};
_Static_assert(sizeof(struct cdp_page) == CDP_PAGE_HEADER_BYTES, "header");

enum {
	CDP_THREAD_LIVE = 1,
	CDP_THREAD_ENDED = 2,
	CDP_THREAD_MERGED = 3, /* count threads that left no detection */
	CDP_THREAD_FREE = 4,   /* unused row: skipped */
};

/* 512 bytes: 7 a page. Counters are atomic words with one writer. */
struct cdp_thread {
	uint32_t id; /* pairs refer to it */
	uint32_t tid;
	uint32_t state; /* CDP_THREAD_*; atomic */
	uint32_t count; /* threads in this row, 1 unless merged */
	char name[16];
	uint64_t start_routine; /* address, 0 for the main thread */
	uint64_t start_mono, end_mono;
	uint64_t cpu_ns; /* at the end, or shortly before the last sample */
	uint64_t interrupts;
	uint64_t samples[SAMPLE_KINDS];
	uint64_t loads, stores; /* uniform samples by kind; rmw in both */
	uint64_t traps;         /* data watchpoints */
	uint64_t exec_traps;    /* execution breakpoints */
	uint64_t arms;
	uint64_t detections;
	uint64_t loss[CDP_LOSS_MAX];
	/* In our handler: wall time, where it was long CPU time. */
	uint64_t handler_ns;
	/* All accesses, if the source sees them all; else 0. */
	uint64_t counted_loads, counted_stores;
	uint64_t counted_load_bytes, counted_store_bytes;
	/* Not 0: the counts above are scaled up from a part. */
	uint64_t counted_scaled;
	uint64_t reuse_resolution; /* of times in ns; 0: they are accesses */
	uint64_t squares[SHARING_KINDS]; /* sums of weights^2; 0: all are 1 */
	uint64_t samples_skipped;  /* that the full rate would take besides */
	uint64_t clock_interrupts; /* also those by which no sample was due */
	uint64_t looks;        /* windows that were looked through */
	uint64_t look_accesses; /* in them */
	uint64_t spare[2];
};
_Static_assert(sizeof(struct cdp_thread) == 512, "cdp_thread");

/*
 * Detections that agree in everything but their time. 128 bytes: 31 a page.
 * The detector's thread writes it. A record with both lengths 0 is a rest: it
 * counts detections that found no record of their own. Only its threads,
 * sharing and by are valid; its addresses, line and flags are 0.
 *
 * With DETECTED_BY_LOOK it counts no detections, but meetings (engine/looks.h).
 */
struct cdp_pair {
	uint32_t publisher_thread, detector_thread;
	uint64_t publisher_addr, detector_addr;
	uint64_t publisher_ip, detector_ip;
	uint32_t publisher_len, detector_len;
	uint16_t publisher_flags, detector_flags; /* ACCESS_* */
	uint16_t sharing;                         /* enum sharing */
	uint16_t by;                              /* enum detected_by */
	uint64_t line;
	uint64_t count;      /* detections by weight, at least 1; atomic */
	uint64_t periods_q8; /* volume, 1/256 periods; atomic */
	uint64_t first_mono, last_mono;
	uint64_t map_generation; /* of CDP_MAPS when first seen */
	uint64_t avoidable;      /* of count: padding avoids them; atomic */
	uint64_t unavoidable;    /* of count: it does not; atomic */
	/*
	 * The header's number of the process that has publisher_thread and
	 * publisher_ip; 0: this one. publisher_addr is where the detector's
	 * process has the place.
	 */
	uint64_t publisher_process;
};
_Static_assert(sizeof(struct cdp_pair) == 128, "cdp_pair");

/* Detections by the cores the two threads were on. 64 bytes. */
struct cdp_core {
	uint32_t publisher_core, detector_core;
	uint64_t count[SHARING_KINDS]; /* atomic */
	uint64_t traps;                /* of them; atomic */
	uint64_t periods_q8;           /* atomic */
	uint64_t spare[3];
};
_Static_assert(sizeof(struct cdp_core) == 64, "cdp_core");

enum {
	CDP_MAP_SHARED = 1, /* with other processes: MAP_SHARED */
};

/*
 * A mapping of the address space, as in /proc/PID/maps. 384 bytes. A mapping of
 * a later generation replaces earlier ones where they overlap.
 */
struct cdp_map {
	uint64_t start, end, file_offset;
	uint64_t generation; /* rises by 1 each time the maps are read */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t prot;             /* PROT_READ | PROT_WRITE | PROT_EXEC */
	uint32_t flags;            /* CDP_MAP_*; 0 in files of older writers */
	char path[CDP_PATH_BYTES]; /* "" or "[heap]", "[stack]" as the kernel */
	uint8_t build_id[20];
	uint8_t build_id_bytes;
	uint8_t spare0[3];
	uint64_t ipc_namespace; /* its inode, of System V segments; else 0 */
	uint8_t spare[40];
};
_Static_assert(sizeof(struct cdp_map) == 384, "cdp_map");

/*
 * Counts of exact/directory.h and estimates of engine/transfer.h (as doubles),
 * written at the end of the process. Threads are row ids. A later record of the
 * same kind, a and b replaces an earlier one.
 */
enum cdp_transfer_kind {
	CDP_EXACT_CELL =
		1,      /* a to b: transfers, false and useless ones among them
			   (useless: if there is a CDP_AVOIDABLE_LINE) */
	CDP_EXACT_LINE, /* address, transfers, false, stores, ownership,
			   bytes stored before or touched by a transfer, a
			   bit each; address 0: all lines without a record */
	CDP_EXACT_THREAD,  /* a: loads, stores, cold loads, cold stores,
			      invalidated, lost */
	CDP_EXACT_MISS,    /* a; b is enum exact_miss * 8 + distance: count */
	CDP_ESTIMATE_CELL, /* a < b, or both UINT32_MAX for all together:
			      struct transfer_moment of all, true, false */
	CDP_ESTIMATE_MORE, /* the same: a to b, transfers seen, samples */
	CDP_ESTIMATE_SAMPLING, /* samples, jitter (engine/transfer_tally.h);
				  stores among them, of these followed to the
				  end, traps, lost */
	CDP_AVOIDABLE_LINE,    /* a: enum cdp_avoidable; address, useless
				  transfers, avoidable ones, contended bytes, turns
				  in its log, groups of bytes; address 0: all lines
				  without a record. Sampled: its transfers and the
				  avoidable ones, estimated, as doubles, in the
				  second and third place; without turns, those
				  that are false sharing: no log tells more */
	CDP_AVOIDABLE_GROUP,   /* a: the same; b: number of the group; address,
				  bytes, transfers if they had a line of their
				  own (sampled: a double) */
	CDP_ESTIMATE_LEFT,     /* struct transfer_left */
	CDP_ESTIMATE_NEEDED,   /* of lines without turns in a sampled
				  CDP_AVOIDABLE_LINE, sums and sums of squares
				  of samples, as doubles: transfers that are
				  false sharing; of these, transfers that bring
				  an earlier store that is needed */
	CDP_TRANSFER_KINDS
};

/* How the avoidable transfers were found. */
enum cdp_avoidable {
	CDP_AVOIDABLE_COUNTED, /* of those of CDP_EXACT_LINE */
	CDP_AVOIDABLE_SAMPLED, /* of those of CDP_ESTIMATE_CELL */
	CDP_AVOIDABLE_KINDS
};

struct cdp_transfer {
	uint32_t kind;
	uint32_t a, b;
	uint32_t spare;
	uint64_t value[6];
};
_Static_assert(sizeof(struct cdp_transfer) == 64, "cdp_transfer");

enum cdp_reuse_kind {
	CDP_REUSE_BIN = 1, /* a bin of reuse times, from samples */
	CDP_REUSE_PAIR,    /* a pair of instructions, from samples */
	CDP_REUSE_EXACT,   /* a bin of reuse times, of every access */
	CDP_REUSE_STACK,   /* a bin of stack distances, of every access */
	CDP_REUSE_PATHS,   /* a pair of call paths, from samples */
	CDP_REUSE_CACHE,   /* misses of a simulated cache, of every access */
	CDP_REUSE_KINDS
};

/*
 * How uses ended (engine/reuse.h). Each thread that decides uses has records of
 * its own; a reader adds up records that agree in all fields before weight. 96
 * bytes: 42 a page.
 *
 * For a simulated cache (exact/cache_sets.h) scope is private, or global if the
 * cache is shared; granularity is line, outcome 0, pairing REUSE_RAR for loads
 * and REUSE_RAW for stores; bin is the cache's depth; use_ip is an instruction,
 * or 0 for all those without a record; end_ip is cdp_cache_shape(). weight
 * holds the misses. In the record without an instruction count holds the
 * thread's accesses to lines.
 */
struct cdp_reuse {
	uint8_t kind;
	uint8_t scope, granularity, outcome; /* enums of engine/reuse.h */
	uint8_t pairing;                     /* enum reuse_pairing */
	uint8_t spatial;                     /* use and end share no byte */
	uint16_t domain;                     /* shared cache of the use */
	uint32_t thread; /* of the use; UINT32_MAX: all of the domain */
	/* reuse_bin_of the time or distance; for pairs log2 of the time. */
	uint32_t bin;
	/*
	 * Instructions of a pair; both 0 for all other pairs. In a bin use_ip
	 * is the phase (reuse_tally.h), 0: not known. By call paths they are
	 * nodes of struct cdp_path.
	 */
	uint64_t use_ip, end_ip;
	/* A struct reuse_mass; for pairs the offsets are whole times. Atomic.
	 */
	double weight, squares, offset, offset_squares;
	uint64_t count;          /* uses, unweighted; atomic */
	uint64_t map_generation; /* of CDP_MAPS when first seen */
	uint64_t spare[2];
};
_Static_assert(sizeof(struct cdp_reuse) == 96, "cdp_reuse");

static inline uint64_t cdp_cache_shape(uint32_t sets, uint32_t ways)
{
	return (uint64_t)ways << 32 | sets;
}

static inline uint32_t cdp_cache_sets(uint64_t shape)
{
	return (uint32_t)shape;
}

static inline uint32_t cdp_cache_ways(uint64_t shape)
{
	return (uint32_t)(shape >> 32);
}

enum {
	CDP_PATH_RECURS = 1, /* the function called here has called itself */
};

/*
 * A call path: an instruction, and the path that led to its function. 32
 * bytes: 126 a page.
 */
struct cdp_path {
	uint32_t node;           /* its number, from 1 on */
	uint32_t parent;         /* below node; 0: the callers are not known */
	uint64_t ip;             /* the access, or an address in the call */
	uint64_t map_generation; /* of CDP_MAPS when first seen */
	uint32_t flags;          /* CDP_PATH_* */
	uint32_t spare;
};
_Static_assert(sizeof(struct cdp_path) == 32, "cdp_path");

static inline uint32_t cdp_record_bytes(enum cdp_section s)
{
	switch (s) {
	case CDP_THREADS:
		return sizeof(struct cdp_thread);
	case CDP_PAIRS:
		return sizeof(struct cdp_pair);
	case CDP_MAPS:
		return sizeof(struct cdp_map);
	case CDP_CORES:
		return sizeof(struct cdp_core);
	case CDP_TRANSFERS:
		return sizeof(struct cdp_transfer);
	case CDP_MEMORY:
		return sizeof(struct cdp_memory);
	case CDP_REUSE:
		return sizeof(struct cdp_reuse);
	case CDP_PATHS:
		return sizeof(struct cdp_path);
	default:
		return 0;
	}
}

static inline uint32_t cdp_records_a_page(enum cdp_section s)
{
	uint32_t bytes = cdp_record_bytes(s);

	return bytes ? (CDP_PAGE_BYTES - CDP_PAGE_HEADER_BYTES) / bytes : 0;
}

#endif
