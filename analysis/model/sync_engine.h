/* SPDX-License-Identifier: MIT */
/*
 * sync_engine - which threads wait for which, and on which cores they run
 *
 * The engine knows threads, cores, and the objects by which threads wait for
 * each other. It knows no instructions: its user works out how long a thread
 * computes between two events, and tells the engine when the thread comes to an
 * event. The engine says when threads run on, and on which core. The simulator
 * and the models of RPPM and RpStacks-MT use it; sync_replay.h has the loop for
 * models that know the durations beforehand.
 *
 * A thread is absent until it is created or started. It is ready if it waits
 * for a core only: a core that becomes free takes the thread that has been
 *ready longest, and no thread loses its core before it waits or ends. With as
 *many cores as threads no thread waits for a core.
 *
 * Rules, for the event of thread t at time T:
 *
 * CREATE	the thread `object` is ready from T on.
 * JOIN		t waits until the thread `object` has ended.
 * EXIT		t has ended.
 * LOCK		t waits until no other thread has the lock. Whoever unlocks
 *		hands it over to the thread that has waited longest. The owner
 *		may lock again; it then unlocks as often.
 * READ_LOCK	the same, but readers share it. A reader does not wait for
 *		writers that wait. After a writer all waiting readers come if
 *		one of them has waited longest.
 * UNLOCK	of a lock that nobody has is ignored: it was taken before the
 *		recording began.
 * BARRIER	t waits until `argument` threads are there.
 * COND_WAIT	unlocks the mutex `argument` (0: none), waits, and locks it
 *		again. If `pair` is not 0, the wait ends with the signal or
 *		broadcast of that pair, at once if it has come. If `timeout` is
 *		set it does not wait at all. Otherwise it ends with the first
 *		signal of `object` that finds it waiting longest, or that came
 *		while nobody waited and has not been used: signals are sticky.
 * COND_SIGNAL, COND_BROADCAST
 *		end one wait, all waits; and those of the pair `pair`.
 * SEM_INIT	the value of `object` is `argument`.
 * SEM_WAIT, SEM_POST
 *		as usual. If `argument` is not 0 and the semaphore is new, its
 *		value is argument - 1.
 * SET		the pair `pair` has come.
 * AWAIT	t waits until the pair `pair` has come.
 *
 * A pair is a number, from 1 on, by which the recorded run says who let whom
 * go on. Each has one SET, COND_SIGNAL or COND_BROADCAST.
 */
#ifndef COMDET_ANALYSIS_MODEL_SYNC_ENGINE_H
#define COMDET_ANALYSIS_MODEL_SYNC_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SYNC_ERROR_BYTES = 300,
	SYNC_NOWHERE = UINT32_MAX, /* no core, no thread */
	SYNC_PAIRS_MAX = 1 << 26,
};

#define SYNC_LIST(X)                                                           \
	X(CREATE, "create")                                                    \
	X(JOIN, "join")                                                        \
	X(EXIT, "exit")                                                        \
	X(LOCK, "lock")                                                        \
	X(READ_LOCK, "read lock")                                              \
	X(UNLOCK, "unlock")                                                    \
	X(BARRIER, "barrier")                                                  \
	X(COND_WAIT, "condition wait")                                         \
	X(COND_SIGNAL, "condition signal")                                     \
	X(COND_BROADCAST, "condition broadcast")                               \
	X(SEM_INIT, "semaphore init")                                          \
	X(SEM_WAIT, "semaphore wait")                                          \
	X(SEM_POST, "semaphore post")                                          \
	X(SET, "release")                                                      \
	X(AWAIT, "wait")

enum sync_kind {
#define X(NAME, name) SYNC_##NAME,
	SYNC_LIST(X)
#undef X
	SYNC_KINDS
};
extern const char *const sync_names[SYNC_KINDS];

struct sync_event {
	enum sync_kind kind;
	bool timeout;    /* a COND_WAIT that nobody ended */
	uint64_t object; /* an address, or a thread */
	uint64_t argument;
	uint64_t pair;
	uint64_t where; /* address of the instruction, for messages */
};

enum sync_state {
	SYNC_ABSENT,
	SYNC_READY, /* waits for a core */
	SYNC_RUNNING,
	SYNC_BLOCKED,
	SYNC_ENDED,
};

/* What the engine's user is told. Times never decrease for one thread. */
struct sync_hooks {
	void *data;
	/* @thread runs on @core from @time on. */
	void (*run)(void *data, uint32_t thread, uint32_t core, double time);
	/* It does so no longer: it waits or has ended. May be NULL. */
	void (*stop)(void *data, uint32_t thread, double time);
};

struct sync_times {
	double start;  /* when it was created or started */
	double end;    /* when it ended; so far its latest event */
	double waited; /* in between: for other threads */
	double queued; /* and for a core */
};

struct sync_engine;

/*
 * @wake is the time from the event that creates or releases a thread until it
 * may run.
 * Until sync_engine_start or a CREATE all threads are absent.
 */
struct sync_engine *sync_engine_new(uint32_t threads, uint32_t cores,
				    double wake,
				    const struct sync_hooks *hooks);
void sync_engine_free(struct sync_engine *e); /* not NULL */

/* There are @threads threads in all; it does not get fewer. */
void sync_engine_extend(struct sync_engine *e, uint32_t threads);

/* Messages call @thread number @name; without this they use its index. */
void sync_engine_name(struct sync_engine *e, uint32_t thread, uint32_t name);

/* @thread is there from @time on, without a CREATE. */
void sync_engine_start(struct sync_engine *e, uint32_t thread, double time);

/*
 * The running thread @thread comes to @event at @time. Hooks are called for
 * this thread, if it has to wait, and for those that run from now on.
 *
 * Call with times that do not decrease, so that locks go to those that come
 * first. With RPPM's literal order, where a late call may have an earlier time,
 * an object is not free before the time of its latest release.
 *
 * Returns 0, or -EINVAL with a line in @error: the event is not possible.
 */
int sync_engine_event(struct sync_engine *e, uint32_t thread,
		      const struct sync_event *event, double time,
		      char error[SYNC_ERROR_BYTES]);

enum sync_state sync_engine_state(const struct sync_engine *e, uint32_t thread);
uint32_t sync_engine_core(const struct sync_engine *e, uint32_t thread);
struct sync_times sync_engine_times(const struct sync_engine *e,
				    uint32_t thread);

/*
 * Call when no thread runs. An owner of a lock that waits, for a join, a
 * barrier, a signal and so on, has done so when it was recorded, and went on.
 * So a thread that waits for this lock had it before: it goes on as if the lock
 * had been free when it came, and the owner has the lock again when it unlocks.
 * If the trace is @complete, the same holds if the owner has ended, but that
 * the lock is free when it ends: it may have released the lock in a wait that
 * lasted until the end of the program, which is not in the trace. Among several
 * it is a thread for whose end the owner waits, or that came first. Returns
 * false if there is none.
 */
bool sync_engine_go_before(struct sync_engine *e, bool complete);

/*
 * Call when no thread runs. Returns 0 if all threads that were ever there have
 * ended, otherwise -EINVAL, and @error says who waits for what: a deadlock, a
 * lost wakeup, an unbalanced barrier.
 */
int sync_engine_check_end(const struct sync_engine *e,
			  char error[SYNC_ERROR_BYTES]);

#endif
