/* SPDX-License-Identifier: MIT */
/*
 * transfer - how many cache lines move between threads, from samples
 *
 * Estimate the number of transfers (exact/directory.h defines them) from
 * samples of stores and from watches on the lines that they stored to. There
 * are two estimators, and one beside them; docs/estimators.md derives and
 * measures them:
 *
 * - TRANSFER_EPOCH (E) watches a line from the sampled store X to the next
 *   store and credits each other thread's first touch in between. It is
 *   unbiased if the watch is armed before the next access to the line.
 * - TRANSFER_CHAIN (CR) is for watches that take time to arm. It waits for the
 *   first store after the watch is armed, skips a random number of stores, then
 *   follows 64 epochs, or some bursts of them where stores come in bursts, and
 *   credits the mean of an epoch. Where a line gets too few stores for that,
 * the epoch of X counts, as in E, as far as it was seen.
 * - TRANSFER_NEEDED counts those that are false sharing by the published
 *   definition, because they do not bring the last store, but an earlier one
 *   that the receiver needs (transfer_needed.c). Padding does not avoid these.
 *   The watch must be armed at once and cover the line with one range.
 *
 * The watch must cover all threads. It covers the whole line with one range, or
 * up to TRANSFER_RANGES_MAX chunks of it, chosen where samples of the line were
 * seen; a model then corrects the result.
 *
 * What the caller does:
 *
 *   transfer_init                  once
 *   transfer_thread_init           each thread
 *   transfer_sample                each sample, load or store; may call
 *                                  watch->arm or watch->disarm
 *   transfer_trap                  each access to a watched range by a thread
 *   transfer_finish                at the end, when no thread samples any more
 *
 * and struct transfer_sink receives each finished chain of epochs, which
 * transfer_tally.h adds up.
 *
 * Both transfer_sample and transfer_trap may be called by any number of threads
 * at once. Calls about different slots (watched lines) are independent. Of two
 * calls about the same slot one waits for the other's lock, which is held for
 * some hundreds of instructions, and not while watch or sink is called, but for
 * watch->arm in transfer_met. If a sample takes a slot while another thread
 * programs its registers, that thread arms the new line too.
 *
 * Both may be called in a signal handler if no handler interrupts another one
 * of these calls on its own thread: the caller blocks all signals, or keeps a
 * guard. A lock is tried config->spins times; then the event is dropped and
 * counted in stats.busy. With spins 0 locks are waited for, without bound
 * (docs/memory-model.md). A child of fork() makes its estimator anew.
 */
#ifndef COMDET_ENGINE_TRANSFER_H
#define COMDET_ENGINE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"
#include "comm.h"
#include "src/base/rng.h"

enum {
	TRANSFER_THREADS_MAX = 1024,
	TRANSFER_SLOTS_MAX = 256,
	TRANSFER_RANGES_MAX = 4,
	TRANSFER_SKIP = 64,   /* K: a chain that follows no pause skips a random
				 number of stores below it */
	TRANSFER_EPOCHS = 64, /* J: epochs of a chain that follows no pause */
	TRANSFER_EPOCHS_MAX = 4096, /* epochs of any chain, at most */
	TRANSFER_BURSTS = 4,        /* bursts of a chain that follows a pause */
	TRANSFER_PATIENCE = 32,     /* how many candidates may pass before a
				       quiet line loses its slot */
	TRANSFER_SPINS = 1000
};

enum transfer_kind {
	TRANSFER_EPOCH,
	TRANSFER_CHAIN,
	TRANSFER_NEEDED
};

struct transfer_config {
	enum transfer_kind kind;
	uint32_t threads;     /* ids 0 to threads - 1 */
	uint32_t slots;       /* lines watched at once */
	uint32_t line_bytes;  /* power of two, 8 to 64 */
	uint32_t chunk_bytes; /* bytes of a range; line_bytes: each range is a
				 whole line */
	uint32_t ranges;      /* in a line; 1 if a range is a whole line */
	uint32_t skip;        /* K; 0: TRANSFER_SKIP */
	uint32_t epochs;      /* J; 0: TRANSFER_EPOCHS */
	uint32_t bursts;      /* 0: TRANSFER_BURSTS */
	uint64_t settle;      /* for chains, arming counts as at least this */
	uint32_t footprints;  /* words of memory about which chunks of lines
				 are used, a power of two; 0: 1 << 16 if ranges
				 are chunks */
	uint32_t spins;       /* see above */
	bool awaits;          /* samples are made later: transfer_made */
	double period; /* mean number of a thread's accesses per sample */
};

/* What a slot watches, in all threads, for loads and stores. */
struct transfer_watched {
	uint32_t slot;       /* 0 to slots - 1 */
	uint32_t generation; /* to be handed to transfer_trap */
	uint64_t line;
	uint32_t n; /* ranges */
	struct watch_range range[TRANSFER_RANGES_MAX];
};

struct transfer_watch {
	/*
	 * Watch the ranges of @w in all threads, instead of what this slot
	 * watched before. Set *@ready to the time from which every access to
	 * them by any thread traps: the clock after all is armed, or later. A
	 * chain also sees accesses of the sampling thread that trap earlier.
	 * The clock is that of transfer_sample's @now. The sample was taken at
	 * @now. Calls for one slot never overlap.
	 *
	 * Returns 0, or -errno: then the sample is lost and counted.
	 */
	int (*arm)(void *ctx, const struct transfer_watched *w, uint64_t now,
		   uint64_t *ready);
	/* The slot watches nothing any more. Late traps of it are allowed. */
	void (*disarm)(void *ctx, uint32_t slot);
};

/* One transfer that was seen. */
struct transfer_event {
	struct access store; /* the last store before it */
	struct access touch; /* the receiver's first touch after it */
	uint32_t from, to;   /* threads */
	uint32_t from_core, to_core;
	uint32_t store_path, touch_path; /* the thread's path at that time */
	double weight;                   /* transfers that it stands for */
	double weight_false; /* of these, false sharing; an event may have less
				than 0 to correct an earlier judgement */
};

/* All transfers found from one sample. Valid only during the call. */
struct transfer_chain {
	uint64_t line;
	struct access sampled;
	uint32_t sampler; /* thread */
	uint32_t epochs;  /* followed */
	uint32_t traps;
	bool model_corrected; /* the program uses chunks of the line that were
				 not watched, or may do so */
	uint32_t n;
	const struct transfer_event *event;
};

struct transfer_sink {
	/*
	 * A sample is finished; @c->n is not 0. Called on the thread that
	 * finished it, with that thread's @ctx. Calls for different slots may
	 * overlap.
	 */
	void (*chain)(void *ctx, const struct transfer_chain *c);
};

/* Relaxed atomics; read them at any time. */
struct transfer_stats {
	uint64_t samples;    /* all */
	uint64_t candidates; /* samples that are stores */
	uint64_t accepted;   /* candidates that got a slot */
	uint64_t displaced;  /* accepted, but displaced before their end */
	uint64_t finished;   /* accepted and followed to their end */
	uint64_t traps;      /* traps that changed the state of an epoch */
	uint64_t idle_traps; /* traps that changed none: the thread had touched
				the line already */
	uint64_t early;   /* traps before ready; a chain sees the sampler's */
	uint64_t stale;   /* traps of an earlier generation */
	uint64_t inexact; /* traps whose access was not known */
	uint64_t busy;    /* samples and traps dropped: the lock was taken */
	uint64_t arm_failed;
	uint64_t overflow; /* chains that ended because there was no room */
};

/* What the estimate may lack. */
struct transfer_left {
	/*
	 * Stores to lines that other threads may have touched before their
	 * watches were armed, and never again. About so many transfers were
	 * missed at most. The sum of the squares.
	 */
	double missed, missed_square;
	double slots; /* lines watched at once */
	/*
	 * Samples that got no watch, or lost it, because lines were watched to
	 * which nothing happened. Others stand for them: with few slots, very
	 * few others.
	 */
	double unfollowed;
};

/* What the calling thread still has to watch of this slot. */
enum transfer_need {
	TRANSFER_NEED_NOTHING, /* the slot watches something else by now */
	TRANSFER_NEED_STORES,
	TRANSFER_NEED_STORES_AND_ORIGIN, /* and loads of the bytes of X */
	TRANSFER_NEED_ALL
};

struct transfer;

/* A slot that waits for the thread's sample; generation 0: none does. */
struct transfer_awaited {
	uint32_t slot, generation;
};

/* One per thread, only ever touched by it. */
struct transfer_thread {
	void *ctx; /* handed to watch and sink */
	uint32_t id;
	/*
	 * The number of the calls that led to the access that is handed over,
	 * set by the source; 0: not known.
	 */
	uint32_t path;
	struct rng rng;
	/* With config.awaits: the latest sample, and that of transfer_expect,
	   as long as they have not been made. */
	struct transfer_awaited latest, expected;
};

/* Bytes of memory needed, 0 if the configuration is invalid. */
size_t transfer_size(const struct transfer_config *config);

/*
 * Make an estimator in @mem: transfer_size() bytes, all zero, aligned to 64.
 * @config is copied, @watch and @sink are kept.
 *
 * Context: set-up. Returns @mem, NULL if the configuration is invalid.
 */
struct transfer *transfer_init(void *mem, const struct transfer_config *config,
			       const struct transfer_watch *watch,
			       const struct transfer_sink *sink);

void transfer_thread_init(struct transfer_thread *t, uint32_t id, void *ctx,
			  uint64_t seed);

/*
 * Thread @t sampled access @a at time @now on core @core. Every access must
 * have the same chance to be sampled, 1 / period. Samples of loads are counted
 * and show which chunks of lines are in use. If the access traps as well, call
 * transfer_trap first: the epoch of the sample begins with this access.
 *
 * Time may have any unit, the same for all threads. Where clocks disagree, the
 * order of events closer than the difference is not known.
 *
 * Context: handler of the thread. Does not allocate.
 */
void transfer_sample(struct transfer *e, struct transfer_thread *t,
		     const struct access *a, uint64_t now, uint32_t core);

/*
 * The same where a source counts access @a as @parts accesses, each of which
 * may be sampled: @a is sampled @parts times as often as others.
 */
void transfer_sample_part(struct transfer *e, struct transfer_thread *t,
			  const struct access *a, uint32_t parts, uint64_t now,
			  uint32_t core);

/*
 * With config.awaits: the sample that the thread took last is made now. What
 * other threads did since transfer_sample came before it and is ignored. So a
 * sample may stop its thread for any time without a change of what follows the
 * sampled store. Traps of this access belong before this call.
 *
 * Context: handler of the thread, or the thread itself. Takes no lock.
 */
void transfer_made(struct transfer *e, struct transfer_thread *t);

/*
 * In place of transfer_sample, so that nothing stops the thread near the
 * sampled store: a later store will be the sample, and gets its slot now.
 *
 * Context: as transfer_sample.
 */
void transfer_expect(struct transfer *e, struct transfer_thread *t,
		     uint64_t now, uint32_t core);

/*
 * Store @a is the one that transfer_expect announced. The slot, if it has not
 * been lost meanwhile, watches the line of @a; transfer_made follows. Calls
 * watch->arm with the slot's lock: it takes no lock and does little.
 *
 * Context: as transfer_trap.
 */
void transfer_met(struct transfer *e, struct transfer_thread *t,
		  const struct access *a, uint32_t core);

/*
 * The thread ends: the store that it announced last, if it has not been made,
 * never will be. Its slot is free for others.
 *
 * Context: as transfer_trap.
 */
void transfer_give_up(struct transfer *e, struct transfer_thread *t,
		      uint64_t now);

/* True if @slot ignores all traps until its sample is made. Any context. */
bool transfer_awaits(const struct transfer *e, uint32_t slot);

/*
 * Thread @t made access @a to range number @range of @slot, armed as
 * @generation. If an access touches several ranges, call for the first of them,
 * or for each: only the first counts. An access with flags 0 is unknown and is
 * dropped.
 *
 * The return value is for watches that can be narrowed for single threads. It
 * holds until the slot is armed anew. Ignoring it only costs idle traps.
 *
 * Context: handler of the thread. Does not allocate.
 */
enum transfer_need transfer_trap(struct transfer *e, struct transfer_thread *t,
				 uint32_t slot, uint32_t generation,
				 uint32_t range, const struct access *a,
				 uint64_t now, uint32_t core);

/*
 * Finish all samples that are being followed. Their transfers so far are
 * credited, and epochs that are cut off count as whole; those of a chain that
 * has not come far are its sample's own. Context: any, while no other thread is
 * in a call.
 */
void transfer_finish(struct transfer *e, struct transfer_thread *t);

struct transfer_stats transfer_stats(const struct transfer *e);

/* Context: any, after transfer_finish; all 0 before. */
struct transfer_left transfer_left(const struct transfer *e);

#endif
