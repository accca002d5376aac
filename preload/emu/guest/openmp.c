/* SPDX-License-Identifier: MIT */
/*
 * openmp - wraps the functions of libgomp by which threads wait
 *
 * libgomp's threads wait in functions of its own, which spin. A parallel region
 * calls the program's function in each thread of a team; we stand between, so
 * that the plugin sees it begin and end. All threads of a team meet at its end.
 *
 * Tasks run in any thread, inside calls of libgomp. Those of GOMP_task count as
 * the program's work; nothing keeps them behind what creates them.
 */
#include <stdatomic.h>
#include <string.h>

#include "mark.h"

struct team {
	void *reductions; /* GOMP_parallel_reductions reads it here */
	void (*function)(void *);
	void *data;
};

/* Where libgomp puts a task's arguments: ours, then the program's. */
struct task {
	void (*function)(void *);
	void (*copy)(void *, void *);
	void *data;
	size_t bytes, place; /* of the program's */
};

enum {
	TASK_DETACHED = 1 << 13, /* libgomp writes to the arguments */
};

static __thread const struct team *team;
static __thread uint64_t members; /* of the team */

int omp_get_num_threads(void);

static void run_member(void *data)
{
	MARK_REAL(omp_get_num_threads);
	const struct team *t = data, *outer = team;
	uint64_t outer_members = members;
	uint32_t before;

	team = t;
	members = (uint64_t)real();
	before = mark_resume(MARK_TEAM, t, 0);
	t->function(t->data);
	mark_suspend(before, MARK_BARRIER, t, members);
	team = outer;
	members = outer_members;
}

/* Run @function in a team with the expression @call. */
#define TEAM(call)                                                             \
	struct team t = { NULL, function, data };                              \
	mark_enter(MARK_FORK, &t, 0);                                          \
	call;                                                                  \
	mark_leave(MARK_NOTHING, NULL, 0)

void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads,
		   unsigned int flags);
void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads,
		   unsigned int flags)
{
	MARK_REAL(GOMP_parallel);
	TEAM(real(run_member, &t, threads, flags));
}

unsigned int GOMP_parallel_reductions(void (*function)(void *), void *data,
				      unsigned int threads, unsigned int flags);
unsigned int GOMP_parallel_reductions(void (*function)(void *), void *data,
				      unsigned int threads, unsigned int flags)
{
	MARK_REAL(GOMP_parallel_reductions);
	unsigned int n;

	TEAM(t.reductions = *(void **)data;
	     n = real(run_member, &t, threads, flags));
	return n;
}

void GOMP_parallel_sections(void (*function)(void *), void *data,
			    unsigned int threads, unsigned int count,
			    unsigned int flags);
void GOMP_parallel_sections(void (*function)(void *), void *data,
			    unsigned int threads, unsigned int count,
			    unsigned int flags)
{
	MARK_REAL(GOMP_parallel_sections);
	TEAM(real(run_member, &t, threads, count, flags));
}

#define CHUNKED_LOOP(name)                                                     \
	void name(void (*function)(void *), void *data, unsigned int threads,  \
		  long first, long end, long step, long chunk,                 \
		  unsigned int flags);                                         \
	void name(void (*function)(void *), void *data, unsigned int threads,  \
		  long first, long end, long step, long chunk,                 \
		  unsigned int flags)                                          \
	{                                                                      \
		MARK_REAL(name);                                               \
		TEAM(real(run_member, &t, threads, first, end, step, chunk,    \
			  flags));                                             \
	}

CHUNKED_LOOP(GOMP_parallel_loop_static)
CHUNKED_LOOP(GOMP_parallel_loop_dynamic)
CHUNKED_LOOP(GOMP_parallel_loop_guided)
CHUNKED_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED_LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define RUNTIME_LOOP(name)                                                     \
	void name(void (*function)(void *), void *data, unsigned int threads,  \
		  long first, long end, long step, unsigned int flags);        \
	void name(void (*function)(void *), void *data, unsigned int threads,  \
		  long first, long end, long step, unsigned int flags)         \
	{                                                                      \
		MARK_REAL(name);                                               \
		TEAM(real(run_member, &t, threads, first, end, step, flags));  \
	}

RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- what the threads of a team do -------------------------------------- */

static void leave_barrier(void)
{
	mark_leave(team ? MARK_BARRIER : MARK_NOTHING, team, members);
}

#define BARRIER(name)                                                          \
	void name(void);                                                       \
	void name(void)                                                        \
	{                                                                      \
		MARK_REAL(name);                                               \
		mark_enter(MARK_NOTHING, NULL, 0);                             \
		real();                                                        \
		leave_barrier();                                               \
	}

BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

#define CANCEL_BARRIER(name)                                                   \
	bool name(void);                                                       \
	bool name(void)                                                        \
	{                                                                      \
		MARK_REAL(name);                                               \
		bool cancelled;                                                \
		mark_enter(MARK_NOTHING, NULL, 0);                             \
		cancelled = real();                                            \
		leave_barrier();                                               \
		return cancelled;                                              \
	}

CANCEL_BARRIER(GOMP_barrier_cancel)
CANCEL_BARRIER(GOMP_loop_end_cancel)
CANCEL_BARRIER(GOMP_sections_end_cancel)

void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void)
{
	MARK_REAL(GOMP_single_copy_start);
	void *data;

	mark_enter(MARK_NOTHING, NULL, 0);
	data = real();
	if (data) /* the others wait for the one that executes it */
		leave_barrier();
	else
		mark_leave(MARK_NOTHING, NULL, 0);
	return data;
}

void GOMP_single_copy_end(void *data);
void GOMP_single_copy_end(void *data)
{
	MARK_REAL(GOMP_single_copy_end);

	mark_enter(MARK_NOTHING, NULL, 0);
	real(data);
	leave_barrier();
}

/* Locks that the program cannot name. */
static const char critical, atomic;

#define LOCK(name, kind, parameters, arguments, object)                        \
	void name parameters;                                                  \
	void name parameters                                                   \
	{                                                                      \
		MARK_REAL(name);                                               \
		mark_enter(MARK_NOTHING, NULL, 0);                             \
		real arguments;                                                \
		mark_leave(kind, object, 0);                                   \
	}

LOCK(GOMP_critical_start, MARK_LOCK, (void), (), &critical)
LOCK(GOMP_critical_end, MARK_UNLOCK, (void), (), &critical)
LOCK(GOMP_critical_name_start, MARK_LOCK, (void **p), (p), p)
LOCK(GOMP_critical_name_end, MARK_UNLOCK, (void **p), (p), p)
LOCK(GOMP_atomic_start, MARK_LOCK, (void), (), &atomic)
LOCK(GOMP_atomic_end, MARK_UNLOCK, (void), (), &atomic)
LOCK(omp_set_lock, MARK_LOCK, (void *lock), (lock), lock)
LOCK(omp_unset_lock, MARK_UNLOCK, (void *lock), (lock), lock)
LOCK(omp_set_nest_lock, MARK_LOCK, (void *lock), (lock), lock)
LOCK(omp_unset_nest_lock, MARK_UNLOCK, (void *lock), (lock), lock)
LOCK(GOMP_taskwait, MARK_NOTHING, (void), (), NULL)
LOCK(GOMP_taskgroup_end, MARK_NOTHING, (void), (), NULL)

#define TEST_LOCK(name)                                                        \
	int name(void *lock);                                                  \
	int name(void *lock)                                                   \
	{                                                                      \
		MARK_REAL(name);                                               \
		int taken;                                                     \
		mark_enter(MARK_NOTHING, NULL, 0);                             \
		taken = real(lock);                                            \
		mark_leave(taken ? MARK_LOCK : MARK_NOTHING, lock, 0);         \
		return taken;                                                  \
	}

TEST_LOCK(omp_test_lock)
TEST_LOCK(omp_test_nest_lock)

void GOMP_ordered_start(void);
void GOMP_ordered_start(void)
{
	MARK_REAL(GOMP_ordered_start);

	mark_enter(MARK_NOTHING, NULL, 0);
	real();
	mark_leave(team ? MARK_ORDERED : MARK_NOTHING, team, 0);
}

void GOMP_ordered_end(void);
void GOMP_ordered_end(void)
{
	MARK_REAL(GOMP_ordered_end);

	mark_enter(team ? MARK_ORDERED_END : MARK_NOTHING, team, 0);
	real();
	mark_leave(MARK_NOTHING, NULL, 0);
}

/* ---- tasks --------------------------------------------------------------- */

static void copy_task(void *to, void *from)
{
	const struct task *t = from;

	memcpy(to, t, sizeof(*t));
	if (t->copy)
		t->copy((char *)to + t->place, t->data);
	else
		memcpy((char *)to + t->place, t->data, t->bytes);
}

static void run_task(void *data)
{
	const struct task *t = data;
	uint32_t before = mark_resume(MARK_NOTHING, NULL, 0);

	t->function((char *)data + t->place);
	mark_suspend(before, MARK_NOTHING, NULL, 0);
}

void GOMP_task(void (*function)(void *), void *data,
	       void (*copy)(void *, void *), long bytes, long align, bool now,
	       unsigned int flags, void **depend, int priority, void *detach);
void GOMP_task(void (*function)(void *), void *data,
	       void (*copy)(void *, void *), long bytes, long align, bool now,
	       unsigned int flags, void **depend, int priority, void *detach)
{
	MARK_REAL(GOMP_task);
	struct task t = { function, copy, data, (size_t)bytes, sizeof(t) };

	mark_enter(MARK_NOTHING, NULL, 0);
	if (flags & TASK_DETACHED) {
		real(function, data, copy, bytes, align, now, flags, depend,
		     priority, detach);
	} else {
		if (align < (long)_Alignof(struct task))
			align = (long)_Alignof(struct task);
		t.place = (sizeof(t) + (size_t)align - 1) & -(size_t)align;
		real(run_task, &t, copy_task, (long)t.place + bytes, align, now,
		     flags, depend, priority, detach);
	}
	mark_leave(MARK_NOTHING, NULL, 0);
}
