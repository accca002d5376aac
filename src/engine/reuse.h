/* SPDX-License-Identifier: MIT */
/*
 * reuse - how long until data is used again, from samples
 *
 * A sample is a *use*. Its data is watched until another access decides the
 * use. The scope says which access that is, and what it decides:
 *
 *                    private        shared          global
 * same thread        reuse          as same core    reuse
 * same core          as elsewhere   same core       reuse
 * same domain        load: nothing  reuse           reuse
 *                    store: inval.
 * other domain       load: nothing  load: nothing   load: nothing
 *                    store: inval.  store: inval.   store: inval.
 *
 * A domain is the cores under one shared cache. Private is reuse within a
 * thread (Sasongko's thesis, table 6.2). Shared is reuse in a shared cache by
 * another core (table 6.3): the same core's next access ends the use and is no
 * shared reuse. Global is the next access by any thread, as a shared cache sees
 * it. "Nothing" leaves the use as it is.
 *
 * An engine watches either the bytes that the use accessed or whole lines. An
 * access to two lines is a use of each line.
 *
 * Few uses can be watched at a time. A use that comes when no slot is free
 * competes for a random slot with the use that holds it: the n-th candidate
 * since the slot was free takes it with probability 1/n. The use that holds the
 * slot when it is decided counts for all n (weight). So every use counts for 1
 * in the mean, however long its reuse takes, and the weights of a slot add up
 * to the uses that competed for it.
 *
 * What the caller does:
 *
 *   reuse_init           once
 *   reuse_thread_init    each thread
 *   reuse_sample         each sample; may call watch->arm and watch->disarm
 *   reuse_trap           each access to what is watched, see below
 *   reuse_thread_end     each thread's end
 *   reuse_finish         at the end, when no thread is in a call any more
 *
 * and struct reuse_sink receives the uses that were decided.
 *
 * reuse_sample and reuse_trap may be called by any number of threads at once.
 * Calls about different slots are independent. Of two calls about the same slot
 * one waits for the other's lock, which is held for some tens of instructions
 * and never while a function of the caller runs. A sample takes no slot whose
 * watch another thread is changing.
 *
 * Both may be called in a signal handler if no handler interrupts another one
 * of these calls on its own thread: the caller blocks all signals, or keeps a
 * guard. A lock is tried config->spins times; then the event is dropped and
 * counted in stats.busy, as is a sample that finds no other slot. With spins 0
 * locks are waited for, without bound (docs/memory-model.md).
 *
 * A child of fork() makes its engine anew. Hand over an access of more than 64
 * bytes in pieces.
 */
#ifndef COMDET_ENGINE_REUSE_H
#define COMDET_ENGINE_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/base/rng.h"

enum {
	REUSE_SLOTS_MAX = 1 << 16,
	REUSE_SPINS = 1000,
};

enum reuse_scope {
	REUSE_PRIVATE,
	REUSE_SHARED,
	REUSE_GLOBAL,
	REUSE_SCOPES
};

enum reuse_granularity {
	REUSE_ADDRESS, /* the bytes accessed */
	REUSE_LINE,
	REUSE_GRANULARITIES
};

/* How a use ended. */
enum reuse_outcome {
	REUSE_NOTHING, /* not decided; never reported */
	REUSE_REUSED,
	REUSE_INVALIDATED,
	REUSE_SAME_CORE, /* shared: the same core came first */
	REUSE_DANGLING,  /* no access decided it before the end */
	REUSE_COLD,      /* exact counts only: no earlier use of the line */
	REUSE_OUTCOMES
};

/* The last letter is the use, the first the end: RAW loads a stored value. */
enum reuse_pairing {
	REUSE_RAR,
	REUSE_RAW,
	REUSE_WAR,
	REUSE_WAW,
	REUSE_PAIRINGS
};

#define REUSE_TIME_UNKNOWN UINT64_MAX

struct reuse_config {
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	uint32_t line_bytes; /* power of two, 8 to 64 */
	uint32_t slots;      /* uses watched at once */
	uint32_t spins;      /* see above */
	/*
	 * For watches that are armed too late to see the accesses right after
	 * the sample: the use is not the sampled access but the thread's next
	 * access to the same data. Equally fair, at one more trap. Private
	 * scope only.
	 */
	bool use_next;
};

/* What a slot watches. */
struct reuse_watched {
	uint32_t slot;       /* 0 to slots - 1 */
	uint32_t generation; /* to be handed to reuse_trap */
	uint64_t addr;
	uint32_t len; /* within one line if lines are watched, else any */
	enum reuse_scope scope;
	struct cpu_place place; /* of the use */
};

struct reuse_watch {
	/*
	 * Watch @w instead of what this slot watched before. The watch must see
	 * each access to its bytes for which reuse_verdict differs from
	 * REUSE_NOTHING, and may see others. Calls for one slot never overlap.
	 *
	 * Returns 0, or -errno: then the use is lost and counted.
	 */
	int (*arm)(void *ctx, const struct reuse_watched *w);
	/* The slot watches nothing any more. Late traps of it are allowed. */
	void (*disarm)(void *ctx, uint32_t slot);
	/*
	 * How many accesses the thread of a use, or its domain, has made by
	 * now. Called when another thread or domain invalidates the use, or at
	 * the end. REUSE_TIME_UNKNOWN, or no function, if that is not known.
	 */
	uint64_t (*count)(void *ctx, const struct cpu_place *use);
};

/* One use and its end. */
struct reuse_event {
	enum reuse_outcome outcome;
	struct access use;
	struct access end; /* the access that decided; flags 0 if dangling */
	struct cpu_place use_place, end_place;
	/*
	 * Accesses from use to end, of the thread (private) or the domain: A B
	 * B A is 3. An end by another thread or domain counts as if it were
	 * their next access; REUSE_TIME_UNKNOWN if the count is not known.
	 */
	uint64_t time;
	uint64_t at;                 /* accesses counted up to the use */
	uint64_t weight;             /* uses that it stands for */
	uint32_t use_path, end_path; /* as reuse_thread.path was */
	enum reuse_pairing pairing;  /* dangling uses have RAR or RAW */
	bool temporal;               /* the two share a byte; else spatial */
};

struct reuse_sink {
	/* On the thread that decided, or that calls reuse_finish. */
	void (*decided)(void *ctx, const struct reuse_event *v);
};

/*
 * Relaxed atomics; read them at any time. The weights of all events and of the
 * uses in the slots add up to uses - busy - failed.
 */
struct reuse_stats {
	uint64_t uses;      /* offered; an access to two lines is two */
	uint64_t accepted;  /* got a slot */
	uint64_t displaced; /* lost it again */
	uint64_t traps;     /* traps that decided a use */
	uint64_t idle;      /* traps that decided nothing */
	uint64_t stale;     /* traps of uses that are over */
	uint64_t busy;      /* uses dropped: every slot tried was in a call */
	uint64_t busy_traps;
	uint64_t arm_failed;
	uint64_t failed; /* uses, by weight, that were given up: not armed,
			    dropped, or waiting */
	uint64_t
		waiting; /* of these: still without a first access at the end */
};

struct reuse;

/* One per thread, only ever touched by it. */
struct reuse_thread {
	void *ctx; /* handed to watch and sink */
	struct cpu_place place;
	struct rng rng;
	/*
	 * The path of the access handed over: a node of store/path_table.h, 0:
	 * not known.
	 */
	uint32_t path;
};

/* The table above: what an access at @end decides about a use at @use. */
static inline enum reuse_outcome reuse_verdict(enum reuse_scope scope,
					       const struct cpu_place *use,
					       const struct cpu_place *end,
					       bool end_stores)
{
	bool same = scope == REUSE_PRIVATE ? use->thread == end->thread
					   : use->domain == end->domain;

	if (!same)
		return end_stores ? REUSE_INVALIDATED : REUSE_NOTHING;
	if (scope == REUSE_SHARED && use->core == end->core)
		return REUSE_SAME_CORE;
	return REUSE_REUSED;
}

/* Bytes of memory needed, 0 if the configuration is invalid. */
size_t reuse_size(const struct reuse_config *config);

/*
 * Make an engine in @mem: reuse_size() bytes, all zero, aligned to 64. @config
 * is copied, @watch and @sink are kept.
 *
 * Context: set-up. Returns @mem, NULL if the configuration is invalid.
 */
struct reuse *reuse_init(void *mem, const struct reuse_config *config,
			 const struct reuse_watch *watch,
			 const struct reuse_sink *sink);

/* The caller updates t->place when the thread moves, and sets t->path. */
void reuse_thread_init(struct reuse_thread *t, const struct cpu_place *place,
		       void *ctx, uint64_t seed);

/*
 * Thread @t sampled access @a, when the thread (private) or the cores under its
 * cache (shared, global) had made @count accesses, @a included. Every access
 * must have the same chance to be sampled. If the access traps as well, call
 * reuse_trap first: the new use begins with this access.
 *
 * Context: handler of the thread. Does not allocate.
 */
void reuse_sample(struct reuse *e, struct reuse_thread *t,
		  const struct access *a, uint64_t count);

/*
 * Thread @t made access @a to the data that @slot watched as @generation, when
 * @count accesses had been made, as above. An access with flags 0 is unknown
 * and decides nothing.
 *
 * Context: handler of the thread. Does not allocate.
 */
void reuse_trap(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		uint32_t generation, const struct access *a, uint64_t count);

/*
 * Give up the use that @slot watches as @generation: it cannot be watched any
 * longer. Returns its weight, 0 if it was over already.
 *
 * Context: as reuse_trap.
 */
uint64_t reuse_drop(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		    uint32_t generation);

/*
 * Thread @t makes no further access. Its uses in a private engine dangle.
 *
 * Context: the thread, or another one after its end.
 */
void reuse_thread_end(struct reuse *e, struct reuse_thread *t);

/*
 * All uses that are still watched dangle. Context: any, while no other thread
 * is in a call.
 */
void reuse_finish(struct reuse *e, struct reuse_thread *t);

struct reuse_stats reuse_stats(const struct reuse *e);

#endif
