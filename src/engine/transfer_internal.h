/* SPDX-License-Identifier: MIT */
/*
 * transfer_internal - shared by the files of the transfer estimator
 *
 * transfer.c takes samples and traps and manages the slots, transfer_epochs.c
 * follows the accesses to a watched line, transfer_footprint.c chooses which
 * chunks of a line to watch.
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
	TRANSFER_CHUNKS_MAX = 8
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
	uint64_t sampled_at, ready;
	uint64_t last; /* access to the line, or sampled_at */

	/* The epoch now followed: from @store to the next store. */
	bool open;
	bool stored;      /* a store was seen since the watch was armed */
	bool after_pause; /* that store came later than arming took */
	uint32_t skip;    /* stores still to be skipped */
	uint64_t busy;    /* time that the chain spans, without pauses */
	uint32_t bursts;  /* bursts that have ended in the chain */
	struct access store;
	uint32_t from, from_core;
	uint64_t began;
	uint64_t touched[TRANSFER_WORDS_MAX]; /* of a chain before its first
						 store too, by others */
	uint64_t pending[TRANSFER_WORDS_MAX]; /* judged false so far */

	uint32_t epochs, traps;
	uint32_t n, n_epoch; /* events in all; events before this epoch */
	struct transfer_event *event;
};

struct transfer {
	struct transfer_config config;
	const struct transfer_watch *watch;
	const struct transfer_sink *sink;
	struct footprints footprints;
	uint32_t words;                /* words in a set of threads */
	_Atomic uint64_t longest_idle; /* largest idle that a trap ended */
	struct transfer_left left;
	_Atomic uint64_t unfollowed;
	struct {
		_Atomic uint64_t samples, candidates, accepted, displaced,
			finished, traps, idle_traps, early, stale, inexact,
			busy, arm_failed, overflow;
	} stats;
	struct transfer_slot slot[];
};

static inline void transfer_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/*
 * transfer_epochs: the accesses to a watched line. All of these are called with
 * the slot's lock.
 */

/* Begin to follow the sample that @s has accepted. */
void transfer_epochs_begin(const struct transfer *e, struct transfer_slot *s,
			   uint64_t now, uint32_t core);

/*
 * Thread @t made access @a to the line of @s. Returns true if the sample is
 * finished.
 */
bool transfer_epochs_follow(struct transfer *e, struct transfer_thread *t,
			    struct transfer_slot *s, const struct access *a,
			    uint64_t now, uint32_t core);

/*
 * The program ends at @now, and @s still watches its sample: add what that
 * stands for.
 */
void transfer_epochs_left(const struct transfer *e,
			  const struct transfer_slot *s, uint64_t now,
			  struct transfer_left *left);

/* End the epoch that @s follows, if it follows one. */
void transfer_epochs_end(struct transfer_slot *s);

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
