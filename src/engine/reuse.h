/* SPDX-License-Identifier: MIT */
/*
 * reuse - how long until data is used again, from samples
 *
 * A sample is a *use*. It is watched until another access decides what becomes
 * of it. Which access does, and what it says, depends on the scope:
 *
 *                    private        shared          global
 * same thread        reuse          as same core    reuse
 * same core          as elsewhere   own             reuse
 * same domain        load: nothing  reuse           reuse
 *                    store: inval.
 * other domain       load: nothing  load: nothing   load: nothing
 *                    store: inval.  store: inval.   store: inval.
 *
 * A domain is the cores under one shared cache. Private is reuse within a
 * thread (Sasongko's thesis, table 6.2); shared is reuse in a shared cache by
 * another core (table 6.3), own being the same core's next access, which ends
 * the use and is no shared reuse; global is any thread's next access, what a
 * shared cache sees. "Nothing" leaves the use as it is.
 *
 * What is watched is either the bytes that the use accessed, or the whole
 * lines: an engine has one granularity, and its results are of that one alone.
 * An access to two lines is a use of each.
 *
 * Few uses can be watched at a time. One that comes when no slot is free
 * competes for a random one with who holds it: the n-th candidate since the
 * slot was free takes it with probability 1/n. Whoever has it when it is
 * decided counts for all n (weight). So every use counts for 1 in the mean,
 * however long its reuse takes, and the weights of a slot add up to the uses
 * that came to it.
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
 * and struct reuse_sink receives what was decided.
 *
 * reuse_sample and reuse_trap may be called by any number of threads at once.
 * Calls about different slots are independent; of two about the same slot one
 * waits for the other's lock, which is held for some tens of instructions and
 * never while a watch is changed or the sink is called. A sample takes no slot
 * whose watch another thread is changing.
 *
 * Both may be called in a signal handler if no handler interrupts another one
 * of these calls on its own thread (the caller keeps a guard). A lock is tried
 * config->spins times, then the event is dropped and counted in stats.busy, as
 * is a sample that finds no other slot; 0 waits without bound, for sources that
 * run outside of signal handlers.
 *
 * An access of more than 64 bytes is to be handed over in pieces.
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

/* What became of a use. */
enum reuse_outcome {
	REUSE_NOTHING, /* not decided; never reported */
	REUSE_REUSED,
	REUSE_INVALIDATED,
	REUSE_SAME_CORE, /* shared: the same core came first */
	REUSE_DANGLING,  /* nobody came before the end */
	REUSE_COLD,      /* looking back: no use before; of exact counts only */
	REUSE_OUTCOMES
};

/* The end after the use: RAW is a load of what was stored. */
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
	 * For watches that may be in place only after other accesses were made:
	 * the use is not the sampled access but the thread's next one to what
	 * it accessed. Equally fair, at one more trap. Private only.
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
	 * Watch @w instead of what this slot watched before: those accesses to
	 * its bytes for which reuse_verdict says other than REUSE_NOTHING, and
	 * more if need be. Calls for one slot never overlap.
	 *
	 * Returns 0 or -errno: then the use is lost, and counted.
	 */
	int (*arm)(void *ctx, const struct reuse_watched *w);
	/* The slot watches nothing any more. It may go on trapping. */
	void (*disarm)(void *ctx, uint32_t slot);
	/*
	 * How many accesses the thread of a use, or its domain, has made by
	 * now, asked when another one invalidates or the end comes;
	 * REUSE_TIME_UNKNOWN, or no function, if there is no telling.
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
	 * B A is 3. Where the end is not of these, as if it came as their next
	 * access; REUSE_TIME_UNKNOWN if that is not known.
	 */
	uint64_t time;
	uint64_t at;                 /* accesses counted up to the use */
	uint64_t weight;             /* uses that it stands for */
	uint32_t use_path, end_path; /* as reuse_thread.path was */
	enum reuse_pairing pairing;  /* of dangling uses RAR or RAW */
	bool temporal;               /* the two share a byte; else spatial */
};

struct reuse_sink {
	/* On the thread that decided, or that calls reuse_finish. */
	void (*decided)(void *ctx, const struct reuse_event *v);
};

/*
 * Relaxed atomics; read them at any time. The weights of all events and of what
 * the slots hold add up to uses - busy - failed.
 */
struct reuse_stats {
	uint64_t uses;      /* that came; of two lines, two */
	uint64_t accepted;  /* got a slot */
	uint64_t displaced; /* lost it again */
	uint64_t traps;     /* that told something */
	uint64_t idle;      /* traps that told nothing */
	uint64_t stale;     /* traps of what is not watched any more */
	uint64_t busy;      /* uses that found no slot but in use by a call */
	uint64_t busy_traps;
	uint64_t arm_failed;
	uint64_t failed;  /* uses, by weight, whose slot could not be armed, or
			     that were dropped, or that were waiting */
	uint64_t waiting; /* of these: for their first access, at the end */
};

struct reuse;

/* One per thread, only ever touched by it. */
struct reuse_thread {
	void *ctx; /* handed to watch and sink */
	struct cpu_place place;
	struct rng rng;
	/* Of the access handed over: a node of store/path_table.h, 0: not
	 * known. */
	uint32_t path;
};

/* The table above: what an access at @end is to a use at @use. */
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

/* The caller may change t->place as the thread moves, and sets t->path. */
void reuse_thread_init(struct reuse_thread *t, const struct cpu_place *place,
		       void *ctx, uint64_t seed);

/*
 * A sample of thread @t: access @a, when @count accesses had been made by the
 * thread (private) or under its cache (shared, global), @a included. Every
 * access must have the same chance to be sampled. If the access traps as well,
 * that comes first: what it is sampled for begins after it.
 *
 * Context: handler of the thread. Does not allocate.
 */
void reuse_sample(struct reuse *e, struct reuse_thread *t,
		  const struct access *a, uint64_t count);

/*
 * Thread @t made access @a to what @slot watched as @generation, when @count
 * accesses had been made, as above. An access whose flags are 0 is unknown and
 * tells nothing.
 *
 * Context: handler of the thread. Does not allocate.
 */
void reuse_trap(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		uint32_t generation, const struct access *a, uint64_t count);

/*
 * What @slot watches as @generation cannot be watched any longer: the use is
 * lost. Returns the uses that it stood for, 0 if it is not watched any more.
 *
 * Context: as reuse_trap.
 */
uint64_t reuse_drop(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		    uint32_t generation);

/*
 * Thread @t will access nothing more. Its uses in a private engine dangle.
 *
 * Context: the thread, or another one after its end.
 */
void reuse_thread_end(struct reuse *e, struct reuse_thread *t);

/*
 * All uses that are still watched dangle. Context: any, when no other thread
 * is in a call.
 */
void reuse_finish(struct reuse *e, struct reuse_thread *t);

struct reuse_stats reuse_stats(const struct reuse *e);

#endif
