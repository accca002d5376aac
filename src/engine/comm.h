/* SPDX-License-Identifier: MIT */
/*
 * comm - who exchanges cache lines with whom (ComDetective's Algorithm 1)
 *
 * Samples of stores go on the board. A sample that meets another thread's
 * recent entry for the same line is a communication: true sharing if the
 * bytes overlap, false sharing otherwise. A sample that meets nothing may arm
 * the thread's debug registers on random distinct chunks of a line that
 * another thread published; a trap there is a communication too.
 * (M. A. Sasongko, PhD thesis 2022, sections 5.3.1 and 5.3.2.)
 *
 * What comes out is a map: how the sharing divides among threads, lines and
 * kinds. It is not a count of cache line transfers.
 *
 * Expiry, the same on every source: an entry is recent for a thread if it was
 * published no more than expiry ticks ago, or after the thread's previous
 * sample. A watchpoint is old watch_expiry ticks after it was armed. Ticks are
 * what the source counts in: ns for clock, accesses for instr, emu. Clocks of
 * two cores may disagree by less than expiry. docs/algorithm.md argues for
 * this and all other rules.
 *
 * The engine knows no operating system. It arms and disarms through
 * struct comm_watch and hands detections to struct comm_sink.
 */
#ifndef COMDET_ENGINE_COMM_H
#define COMDET_ENGINE_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"
#include "board.h"
#include "src/base/loss.h"
#include "src/base/rng.h"

enum {
	COMM_REGISTERS_MAX = 4,
	COMM_EXPIRY_INTERVALS = 2, /* comm_set_expiry has the rule */
};

/* One armed register: @len bytes at @addr, 1, 2, 4, 8 (or a line). */
struct watch_range {
	uint64_t addr;
	uint32_t len;
};

enum sharing {
	SHARING_TRUE,
	SHARING_FALSE,
	SHARING_KINDS
};
enum detected_by {
	DETECTED_BY_BOARD,
	DETECTED_BY_TRAP,
	DETECTED_BY_KINDS
};

struct detection {
	struct access publisher; /* the sampled store */
	struct access detector;  /* the access that met it */
	uint64_t line;
	uint32_t publisher_thread, detector_thread;
	uint32_t publisher_core, detector_core;
	enum sharing sharing;
	enum detected_by by;
	/*
	 * Volume scaling (5.3.2): sampling periods this detection stands for,
	 * in 1/256; line bytes / watched bytes for a trap, 1 from the board.
	 */
	uint32_t periods_q8;
};

struct comm_watch {
	/*
	 * Arm @n registers of the calling thread, 1 <= n <= 4. What was armed
	 * before is gone. Returns how many of the first ranges are armed, 0
	 * included, or -errno.
	 */
	int (*arm)(void *ctx, const struct watch_range *ranges, int n);
	void (*disarm)(void *ctx);
};

struct comm_sink {
	void (*detected)(void *ctx, const struct detection *d);
	void (*lost)(void *ctx, enum loss_cause cause);
};

/*
 * Shared by all threads and constant after set-up, except for expiry and
 * watch_expiry: a source that measures how long its interval is changes them
 * while the threads run.
 */
struct comm {
	struct board *board;
	const struct comm_watch *watch; /* NULL: the board alone */
	const struct comm_sink *sink;
	_Atomic uint64_t expiry;       /* ticks; comm_set_expiry sets both */
	_Atomic uint64_t watch_expiry; /* ticks */
	uint32_t line_bytes;           /* power of two */
	uint32_t chunk_bytes; /* what one register watches; a power of two */
	uint32_t registers;   /* to use for a line, 0 to 4 */
	uint32_t arm_one_in;  /* arm at one opportunity in so many, >= 1 */
};

/* One per thread, only ever touched by it. */
struct comm_thread {
	void *ctx; /* handed to watch and sink */
	uint32_t id;
	struct rng rng;
	bool sampled;        /* at least once */
	uint64_t sampled_at; /* ticks, the last time */
	uint64_t window;     /* ticks an entry is recent for this thread now */
	/*
	 * The thesis's t_prev: one more than the time of the latest entry that
	 * this thread detected against, 0 if none. What was published before
	 * counts as detected too.
	 */
	uint64_t seen_before;
	uint64_t armed_at; /* ticks */
	uint32_t armed;    /* registers armed, 0: none */
	struct watch_range ranges[COMM_REGISTERS_MAX];
	struct board_entry target; /* what the armed line was published as */
};

/*
 * The expiry rule, in one place: an entry of the board expires after
 * COMM_EXPIRY_INTERVALS sampling intervals, an armed watchpoint after one
 * (thesis, section 5.3.1; docs/algorithm.md measures other factors). @interval
 * is how long a thread takes from one sample to the next, in ticks.
 *
 * Context: any, handler included; relaxed stores. A thread may see the new
 * value of one and the old value of the other, which does no harm: each was a
 * good one.
 */
void comm_set_expiry(struct comm *c, uint64_t interval);

/* How long entries live now, in ticks; likewise armed watchpoints. Any context.
 */
uint64_t comm_expiry(const struct comm *c);
uint64_t comm_watch_expiry(const struct comm *c);

/*
 * @ctx is the caller's thread; @seed a run's seed. @id may be that of a thread
 * that has ended if its last entry has expired for everybody since: until then
 * the two would be taken for one.
 *
 * Context: any.
 */
void comm_thread_init(struct comm_thread *t, uint32_t id, void *ctx,
		      uint64_t seed);

/*
 * A sample of thread @t: access @a at time @now on core @core. Detects, arms
 * and publishes as Algorithm 1 says. An access to several lines is taken for
 * an access to one of them, each with equal probability: one sample gives at
 * most one detection.
 *
 * Context: handler of the thread. Does not allocate, lock or wait.
 */
void comm_sample(struct comm *c, struct comm_thread *t, const struct access *a,
		 uint64_t now, uint32_t core);

/*
 * Register number @reg of thread @t trapped. @a is the access that trapped if
 * it is known, else NULL: then the watched bytes stand for it, with ip 0 and
 * flags 0, as they do for an access that does not touch them, and
 * LOSS_TRAP_INEXACT is counted. Disarms all. A trap of a register that is not
 * armed is counted as LOSS_TRAP_STALE.
 *
 * Context: handler of the thread.
 */
void comm_trap(struct comm *c, struct comm_thread *t, int reg,
	       const struct access *a, uint64_t now, uint32_t core);

/* Disarm what is armed, for a thread that ends or stops. */
void comm_stop(struct comm *c, struct comm_thread *t);

#endif
