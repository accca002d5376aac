/* SPDX-License-Identifier: MIT */
/*
 * threads - wraps creating and joining threads, and pthread_once
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "mark.h"

enum {
	STARTS = 256, /* threads that have been created and do not run yet */
};

struct start {
	atomic_bool taken;
	void *(*function)(void *);
	void *argument;
	bool silent; /* a thread of libgomp: its work comes in teams */
};

static struct start starts[STARTS];

static __thread void (*once_function)(void);
static __thread pthread_once_t *once_object;

static void *run_thread(void *data)
{
	struct start s = *(struct start *)data;

	atomic_store(&((struct start *)data)->taken, false);
	if (s.silent)
		mark_enter(MARK_NOTHING, NULL, 0);
	else
		mark(MARK_NOTHING, NULL, 0);
	return s.function(s.argument);
}

static struct start *find_start(void)
{
	for (int i = 0; i < STARTS; i++) {
		bool no = false;

		if (atomic_compare_exchange_strong(&starts[i].taken, &no, true))
			return &starts[i];
	}
	return NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*function)(void *), void *argument)
{
	MARK_REAL(pthread_create);
	struct start *s = find_start();
	bool silent = mark_depth();
	int err;

	mark_enter(MARK_NOTHING, NULL, 0);
	if (s) {
		s->function = function;
		s->argument = argument;
		s->silent = silent;
		err = real(thread, attr, run_thread, s);
		if (err)
			atomic_store(&s->taken, false);
	} else {
		err = real(thread, attr, function, argument);
	}
	mark_leave(MARK_NOTHING, NULL, 0);
	return err;
}

/* Each waits for the end of @thread, as @how says, with @call. */
#define JOIN(call, how)                                                        \
	MARK_GUARD;                                                            \
	int err;                                                               \
	mark_enter(MARK_JOIN_BEGIN, (void *)thread, how);                      \
	err = call;                                                            \
	mark_leave(err ? MARK_NOTHING : MARK_JOIN, (void *)thread, 0);         \
	return err

int pthread_join(pthread_t thread, void **result)
{
	MARK_REAL(pthread_join);
	JOIN(real(thread, result), JOIN_WAITS);
}

int pthread_tryjoin_np(pthread_t thread, void **result)
{
	MARK_REAL(pthread_tryjoin_np);
	JOIN(real(thread, result), 0);
}

int pthread_timedjoin_np(pthread_t thread, void **result,
			 const struct timespec *until)
{
	MARK_REAL(pthread_timedjoin_np);
	JOIN(real(thread, result, until), 0);
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
			 const struct timespec *until)
{
	MARK_REAL(pthread_clockjoin_np);
	JOIN(real(thread, result, clock, until), 0);
}

static void run_once(void)
{
	void (*function)(void) = once_function;
	const pthread_once_t *object = once_object;
	uint32_t before = mark_resume(MARK_NOTHING, NULL, 0);

	function();
	mark_suspend(before, MARK_ONCE_DONE, object, 0);
}

int pthread_once(pthread_once_t *once, void (*function)(void))
{
	MARK_REAL(pthread_once);
	MARK_GUARD;
	void (*outer_function)(void) = once_function;
	pthread_once_t *outer_object = once_object;
	int err;

	mark_enter(MARK_NOTHING, NULL, 0);
	once_function = function;
	once_object = once;
	err = real(once, run_once);
	once_function = outer_function;
	once_object = outer_object;
	mark_leave(MARK_ONCE, once, 0);
	return err;
}
