/* SPDX-License-Identifier: MIT */
/*
 * comm - which threads exchange cache lines (ComDetective's Algorithm 1)
 *
 * Samples of stores are published on the board. A sample that finds another
 * thread's recent entry for its line is a communication: true sharing if the
 * bytes overlap, false sharing otherwise. A sample that finds none may arm the
 * thread's debug registers on random distinct chunks of a line that another
 * thread published; a trap there is a communication too.
 * (M. A. Sasongko, PhD thesis 2022, sections 5.3.1 and 5.3.2.)
 *
 * The result is a map: how sharing divides among threads, lines and kinds. It
 * is not a count of cache line transfers.
 *
 * Expiry is the same for every source. An entry is recent for a thread if it
 * was published at most expiry ticks ago, or after the thread's previous
 * sample. A watchpoint is old watch_expiry ticks after it was armed. The source
 * chooses the unit of a tick: clock counts ns, instr and emu count accesses.
 * Clocks of two cores may disagree by less than expiry. docs/algorithm.md gives
 * the reasons for this and all other rules.
 *
 * The engine does not depend on an operating system. It arms and disarms
 * through struct comm_watch and hands detections to struct comm_sink.
 */
#ifndef COMDET_ENGINE_COMM_H
#define COMDET_ENGINE_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"
#include "board.h"
#include "visits.h"
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
	DETECTED_BY_KINDS,
	DETECTED_BY_LOOK = DETECTED_BY_KINDS /* looks.h; not by the engine */
};

struct detection {
	struct access publisher; /* the sampled store */
	struct access detector;  /* the access that found it on the board */
	uint64_t line;
	uint32_t publisher_thread, detector_thread;
	uint32_t publisher_core, detector_core;
	uint32_t publisher_path, detector_path; /* as the source numbers them */
	enum sharing sharing;
	enum detected_by by;
	enum padding padding; /* the engine leaves it unknown */
	/*
	 * For a store that watches several processes (cdp_pair); the engine
	 * leaves it 0.
	 */
	uint32_t publisher_process;
	/*
	 * Volume scaling (5.3.2): sampling periods that this detection stands
	 * for, in 1/256. A trap stands for line bytes / watched bytes, a
	 * detection by the board for 1.
	 */
	uint32_t periods_q8;
	/*
	 * How many detections at the full rate this one stands for; 0 counts
	 * as 1. Shares are of weights.
	 */
	uint32_t weight;
};

struct comm_watch {
	/*
	 * Arm @n registers of the calling thread, 1 <= n <= 4, instead of those
	 * that were armed before. Returns how many are armed, the first ranges
	 * first, which may be 0, or -errno.
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
 * watch_expiry, which a source that measures how long its interval is changes
 * while the threads run, and for the rate.
 */
struct comm {
	struct board *board;
	const struct comm_watch *watch; /* NULL: the board alone */
	const struct comm_sink *sink;
	_Atomic uint64_t expiry;       /* ticks; comm_set_expiry sets both */
	_Atomic uint64_t watch_expiry; /* ticks */
	/* Of comm_set_rate; zero before the first change. */
	_Atomic uint64_t rated_at;          /* ticks */
	_Atomic uint32_t rate, rate_before; /* intervals a sample; 0: 1 */
	uint32_t line_bytes;                /* power of two */
	uint32_t chunk_bytes; /* what one register watches; a power of two */
	uint32_t registers;   /* how many to use for a line, 0 to 4 */
	uint32_t arm_one_in;  /* arm at one opportunity in so many, >= 1 */
	/*
	 * False if the thread with this ctx cannot touch @line, because it is
	 * memory of another process: then it watches another one. NULL: all
	 * threads can touch all lines.
	 */
	bool (*reaches)(void *ctx, uint64_t line);
};

/* One per thread, only ever touched by it. */
struct comm_thread {
	void *ctx; /* handed to watch and sink */
	uint32_t id;
	/*
	 * The number of the calls that led to the access that is handed over,
	 * set by the source; 0: not known.
	 */
	uint32_t path;
	struct rng rng;
	bool sampled;        /* at least once */
	uint64_t sampled_at; /* in ticks, the last time that it was sampled */
	/* How many ticks an entry is now recent for this thread. */
	uint64_t window;
	uint64_t window_before; /* if it is older than the present rate */
	/*
	 * The thesis's t_prev: one more than the time of the latest entry that
	 * this thread has detected, 0 if none. Entries published before count
	 * as detected too.
	 */
	uint64_t seen_before;
	/*
	 * How many samples at the full rate its next sample stands for. A
	 * source that samples more seldom than comm_set_expiry was told sets it
	 * before comm_sample. comm_thread_init makes it 1.
	 */
	uint32_t weight;
	uint32_t armed_weight; /* when it armed */
	uint64_t armed_at;     /* ticks */
	uint32_t armed;        /* registers armed, 0: none */
	struct watch_range ranges[COMM_REGISTERS_MAX];
	struct board_entry target; /* the entry whose line is armed */
};

/*
 * The expiry rule, in one place: an entry of the board expires after
 * COMM_EXPIRY_INTERVALS sampling intervals, an armed watchpoint after one
 * (thesis, section 5.3.1; docs/algorithm.md measures other factors). @interval
 * is the time from one sample of a thread to its next, in ticks.
 *
 * Context: any, handler included. The stores are relaxed: a thread may see the
 * new value of one field and the old value of the other, and both are usable.
 */
void comm_set_expiry(struct comm *c, uint64_t interval);

/*
 * From @now on all threads sample every @intervals intervals. An entry of the
 * board then lives longer by that factor, if it was published since: as many
 * samples as before meet it. Watchpoints live as long as before. One thread
 * calls it at a time; context as for comm_set_expiry.
 */
void comm_set_rate(struct comm *c, uint32_t intervals, uint64_t now);

/* How long entries live at the full rate, in ticks; likewise armed watchpoints.
 * Any context.
 */
uint64_t comm_expiry(const struct comm *c);
uint64_t comm_watch_expiry(const struct comm *c);

/*
 * Make @t the state of thread @id. @ctx is handed to watch and sink; @seed is
 * the run's seed. The id of a thread that has ended may be used again once its
 * last entry has expired for all threads. If it is used earlier, the engine
 * takes the two threads for one.
 *
 * Context: any.
 */
void comm_thread_init(struct comm_thread *t, uint32_t id, void *ctx,
		      uint64_t seed);

/*
 * Thread @t sampled access @a at time @now on core @core. Detect, arm and
 * publish as Algorithm 1 says. An access to several lines is taken for an
 * access to one of them, each with equal probability, so one sample gives at
 * most one detection.
 *
 * Context: handler of the thread. Does not allocate, lock or wait.
 */
void comm_sample(struct comm *c, struct comm_thread *t, const struct access *a,
		 uint64_t now, uint32_t core);

/*
 * Register number @reg of thread @t trapped, by access @a. If the access is not
 * known (NULL), or does not touch the watched bytes, these bytes stand for it
 * with ip 0 and flags 0, and LOSS_TRAP_INEXACT is counted. All registers are
 * disarmed. A trap of a register that is not armed is counted as
 * LOSS_TRAP_STALE.
 *
 * Context: handler of the thread.
 */
void comm_trap(struct comm *c, struct comm_thread *t, int reg,
	       const struct access *a, uint64_t now, uint32_t core);

/*
 * Thread @t armed with a sample that stands for several, and trapped later than
 * a watchpoint lives at the full rate. There that trap would not have come, so
 * it must not count for several: it counts as LOSS_TRAP_STALE. All registers
 * are disarmed. Context: handler of the thread.
 */
void comm_trap_late(struct comm *c, struct comm_thread *t);

/* Disarm the registers of a thread that ends or is no longer sampled. */
void comm_stop(struct comm *c, struct comm_thread *t);

#endif
