/* SPDX-License-Identifier: MIT */
/*
 * transfer_internal - shared by the files of the transfer estimator
 *
 * transfer_sample.c gives slots to samples, transfer.c takes traps and programs
 * the slots, transfer_epochs.c follows the accesses to a watched line,
 * transfer_needed.c does so for TRANSFER_NEEDED, transfer_footprint.c chooses
 * which chunks of a line to watch.
 */
#ifndef COMDET_ENGINE_TRANSFER_INTERNAL_H
#define COMDET_ENGINE_TRANSFER_INTERNAL_H

#include <stdatomic.h>

#include "slot.h"
#include "transfer.h"

enum {
	TRANSFER_ALIGN = 64,
	TRANSFER_EVENTS = 4096,
	TRANSFER_WORDS_MAX = TRANSFER_THREADS_MAX / 64,
	TRANSFER_CHUNKS_MAX = 8,
	TRANSFER_REGIONS = 4096 /* a power of two */
};

/*
 * Which chunks of lines samples touched, to choose which to watch: a table of
 * words, each with the tag of its key. A key that finds another key's word
 * takes it over; the loss is learned again. Threads change a word by one
 * compare-exchange; the loser drops its sample.
 */
struct footprints {
	_Atomic uint64_t *word;
	uint32_t mask; /* number of words - 1 */
};

/* Which chunks of a line to watch, and how to weigh what they show. */
struct selection {
	uint32_t chunks;     /* watched, a bit each */
	double factor;       /* multiplies every weight */
	double factor_false; /* also multiplies the weights of false sharing */
	bool corrected;      /* by a model: used chunks may be unwatched */
};

/* States of a slot, after SLOT_FREE. */
enum {
	SLOT_ARMING = 1,
	SLOT_LIVE
};

/* An accepted sample and the epochs that are followed for it. */
struct transfer_slot {
	_Alignas(TRANSFER_ALIGN) struct slot slot;
	double stands_for; /* candidates that this sample stands for */
	uint64_t offered;  /* candidates so far, of all samples */
	uint64_t idle;     /* candidates since the last trap that counted */

	/* The sample. */
	struct transfer_watched watched;
	struct access sampled;
	uint32_t sampler;
	double lines; /* that the access touched, one was drawn; divided by
			 the parts of the access */
	struct selection selection;
	uint64_t sampled_at;
	uint64_t last;  /* access to the line that was seen, or sampled_at */
	uint64_t armed; /* accesses of other threads trap from then on */
	bool by_sampler, by_others; /* accesses from then on */
	uint64_t ready; /* a chain begins with a store from then on */
	bool alone;     /* the engine knew one thread when it was taken */
	_Atomic uint32_t awaited; /* its thread's id + 1 until it is made */

	/* The epoch now followed: from @store to the next store. */
	bool open;
	bool own;          /* it is that of the sample, before the chain */
	bool by_own;       /* the sample's own epoch is its result */
	bool stored_again; /* by the sampler, before others were armed */
	bool stored;       /* a store was seen from ready on */
	bool after_pause;  /* that store came later than arming took */
	uint32_t skip;     /* stores still to be skipped */
	bool skipping;     /* the epochs so far are of such stores */
	uint32_t least;    /* epochs that a chain of bursts needs */
	uint64_t busy;     /* time that the chain spans, without pauses */
	uint32_t bursts;   /* bursts that have ended in the chain */
	struct access store;
	uint32_t from, from_core, store_path;
	uint64_t began;
	uint64_t touched[TRANSFER_WORDS_MAX];
	uint64_t pending[TRANSFER_WORDS_MAX]; /* judged false so far */

	/* For TRANSFER_NEEDED. */
	uint64_t left;  /* bytes of the sample that were not stored again */
	uint64_t after; /* bytes that the sampler stored after it, before other
			   threads stored to the line */
	bool stored_since, stored_by_others;
	uint64_t beside[TRANSFER_WORDS_MAX]; /* threads that touch, in their
						visit, bytes of after */
	uint32_t looks;

	uint32_t epochs, traps;
	uint32_t n, n_epoch; /* events in all; events before this epoch */
	uint32_t n_own;      /* events of the sample's own epoch */
	struct transfer_event *event;
};

struct transfer {
	struct transfer_config config;
	const struct transfer_watch *watch;
	const struct transfer_sink *sink;
	struct footprints footprints;
	uint32_t words;                /* words in a set of threads */
	_Atomic uint32_t ids;          /* above those of all threads seen */
	_Atomic uint64_t longest_idle; /* largest idle that a trap ended */
	uint32_t region_shift;         /* log2 of the bytes of a region */
	_Atomic uint64_t region[TRANSFER_REGIONS]; /* transfer_regions.c */
	struct transfer_left left;
	_Atomic uint64_t unfollowed;
	struct {
		_Atomic uint64_t samples, candidates, accepted, displaced,
			finished, traps, idle_traps, early, stale, inexact,
			busy, arm_failed, overflow;
	} stats;
	struct transfer_slot slot[];
};

/*
 * How many transfers an event of @s that is seen now stands for: one store in
 * period was sampled, one candidate in stands_for was kept.
 */
static inline double transfer_weight(const struct transfer *e,
				     const struct transfer_slot *s)
{
	return e->config.period * s->lines * s->stands_for *
	       s->selection.factor;
}

static inline void transfer_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/*
 * Hand over the finished sample @c, if it has transfers, and program the
 * registers as the slot wants. Called with the lock, returns without.
 */
void transfer_program(struct transfer *e, struct transfer_thread *t,
		      struct transfer_slot *s, const struct transfer_chain *c,
		      uint64_t now);

/*
 * transfer_epochs: the accesses to a watched line. All of these are called with
 * the slot's lock.
 */

/* Begin to follow the sample of thread @t that @s has accepted. */
void transfer_epochs_begin(const struct transfer *e,
			   const struct transfer_thread *t,
			   struct transfer_slot *s, uint64_t now,
			   uint32_t core);

/*
 * Thread @t made access @a to the line of @s. Returns true if the sample is
 * finished.
 */
bool transfer_epochs_follow(struct transfer *e, struct transfer_thread *t,
			    struct transfer_slot *s, const struct access *a,
			    uint64_t now, uint32_t core);

/*
 * The program ends at @now and @s still watches its sample: end the epoch that
 * it follows, if any, decide what the result is, and add what it may lack.
 */
void transfer_epochs_end(const struct transfer *e, struct transfer_slot *s,
			 uint64_t now, struct transfer_left *left);

/*
 * Put the transfers of the epochs that have ended into @c; c->n may be 0. The
 * events stay in the slot until it is live again.
 */
void transfer_epochs_result(const struct transfer *e, struct transfer_slot *s,
			    struct transfer_chain *c);

/* What @thread still has to watch of this epoch. */
enum transfer_need transfer_epochs_need(const struct transfer *e,
					const struct transfer_slot *s,
					uint32_t thread);

/*
 * transfer_needed: the accesses to a line that is watched for TRANSFER_NEEDED.
 * As the functions above.
 */
void transfer_needed_begin(const struct transfer *e, struct transfer_slot *s);
bool transfer_needed_follow(const struct transfer *e, struct transfer_slot *s,
			    uint32_t thread, const struct access *a,
			    uint32_t core, bool *done);
enum transfer_need transfer_needed_need(const struct transfer_slot *s,
					uint32_t thread);

/*
 * transfer_regions: in which parts of memory several threads were sampled. A
 * region is so large that a thread that uses it is likely to be sampled there.
 */
void transfer_regions_init(struct transfer *e);

/* Thread @thread sampled an access to @addr. Context: handler. */
void transfer_regions_learn(struct transfer *e, uint32_t thread, uint64_t addr);

/* False if only one thread was sampled near @addr. Context: any. */
bool transfer_regions_shared(const struct transfer *e, uint64_t addr);

/* @thread sampled an access to @chunks of the line with number @line. */
void footprints_learn(const struct footprints *f, uint64_t line,
		      uint32_t thread, uint32_t chunks, bool is_store);

/*
 * Choose @ranges of the @n chunks of a line for a store of @thread to
 * @stored. docs/estimators.md has the formulas.
 */
struct selection footprints_select(const struct footprints *f, struct rng *rng,
				   uint64_t line, uint32_t thread,
				   uint32_t stored, uint32_t n,
				   uint32_t ranges);

#endif
