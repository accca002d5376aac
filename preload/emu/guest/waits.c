/* SPDX-License-Identifier: MIT */
/*
 * waits - wraps barriers, condition variables and semaphores
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "mark.h"

/* Condition variables changed in this version of libc. */
#define COND_VERSION "GLIBC_2.3.2"

int pthread_barrier_init(pthread_barrier_t *restrict barrier,
			 const pthread_barrierattr_t *restrict attr,
			 unsigned int count)
{
	MARK_REAL(pthread_barrier_init);
	int err;

	mark_enter(MARK_NOTHING, NULL, 0);
	err = real(barrier, attr, count);
	mark_leave(err ? MARK_NOTHING : MARK_BARRIER_INIT, barrier, count);
	return err;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	MARK_REAL(pthread_barrier_wait);
	int err;

	mark_enter(MARK_NOTHING, NULL, 0);
	err = real(barrier);
	mark_leave(MARK_BARRIER, barrier, 0);
	return err;
}

/* Wait for @cond with the expression @call. */
#define WAIT(call)                                                             \
	MARK_GUARD;                                                            \
	int err;                                                               \
	mark_enter(MARK_COND_BEGIN, cond, 0);                                  \
	err = call;                                                            \
	mark_leave(err ? MARK_COND_TIMEOUT : MARK_COND_WOKEN, cond,            \
		   (uintptr_t)mutex);                                          \
	return err

int pthread_cond_wait(pthread_cond_t *restrict cond,
		      pthread_mutex_t *restrict mutex)
{
	MARK_REAL_VERSION(pthread_cond_wait, COND_VERSION);
	WAIT(real(cond, mutex));
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond,
			   pthread_mutex_t *restrict mutex,
			   const struct timespec *restrict until)
{
	MARK_REAL_VERSION(pthread_cond_timedwait, COND_VERSION);
	WAIT(real(cond, mutex, until));
}

int pthread_cond_clockwait(pthread_cond_t *restrict cond,
			   pthread_mutex_t *restrict mutex, clockid_t clock,
			   const struct timespec *restrict until)
{
	MARK_REAL(pthread_cond_clockwait);
	WAIT(real(cond, mutex, clock, until));
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	MARK_REAL_VERSION(pthread_cond_signal, COND_VERSION);
	int err;

	mark_enter(MARK_SIGNAL, cond, 0);
	err = real(cond);
	mark_leave(MARK_NOTHING, NULL, 0);
	return err;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	MARK_REAL_VERSION(pthread_cond_broadcast, COND_VERSION);
	int err;

	mark_enter(MARK_BROADCAST, cond, 0);
	err = real(cond);
	mark_leave(MARK_NOTHING, NULL, 0);
	return err;
}

int sem_init(sem_t *semaphore, int shared, unsigned int value)
{
	MARK_REAL(sem_init);
	int err;

	mark_enter(MARK_NOTHING, NULL, 0);
	err = real(semaphore, shared, value);
	mark_leave(err ? MARK_NOTHING : MARK_SEM_INIT, semaphore, value);
	return err;
}

/* Use @semaphore with the expression @call. */
#define USE(kind, call)                                                        \
	MARK_GUARD;                                                            \
	int err;                                                               \
	mark_enter(MARK_SEM_FIRST, semaphore, 0);                              \
	err = call;                                                            \
	mark_leave(err ? MARK_NOTHING : (kind), semaphore, 0);                 \
	return err

int sem_wait(sem_t *semaphore)
{
	MARK_REAL(sem_wait);
	USE(MARK_SEM_WAIT, real(semaphore));
}

int sem_trywait(sem_t *semaphore)
{
	MARK_REAL(sem_trywait);
	USE(MARK_SEM_WAIT, real(semaphore));
}

int sem_timedwait(sem_t *restrict semaphore,
		  const struct timespec *restrict until)
{
	MARK_REAL(sem_timedwait);
	USE(MARK_SEM_WAIT, real(semaphore, until));
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
		  const struct timespec *restrict until)
{
	MARK_REAL(sem_clockwait);
	USE(MARK_SEM_WAIT, real(semaphore, clock, until));
}

int sem_post(sem_t *semaphore)
{
	MARK_REAL(sem_post);
	USE(MARK_SEM_POST, real(semaphore));
}
