/* SPDX-License-Identifier: MIT */
/*
 * locks - wraps mutexes, locks of readers and writers, and spin locks
 */
#include <errno.h>
#include <pthread.h>

#include "mark.h"

/*
 * Call the function that we stand for. If it takes the lock, or frees it, that
 * is a mark. EOWNERDEAD: the thread has the lock.
 */
#define CALL(kind, lock, call)                                                 \
	int err;                                                               \
	mark_enter(MARK_NOTHING, NULL, 0);                                     \
	err = call;                                                            \
	mark_leave(err &&err != EOWNERDEAD ? MARK_NOTHING : (kind),            \
		   (const void *)(lock), 0);                                   \
	return err

#define LOCK_FUNCTION(name, type, kind)                                        \
	int name(type *lock)                                                   \
	{                                                                      \
		MARK_REAL(name);                                               \
		CALL(kind, lock, real(lock));                                  \
	}

#define TIMED_FUNCTION(name, type, kind)                                       \
	int name(type *restrict lock, const struct timespec *restrict until)   \
	{                                                                      \
		MARK_REAL(name);                                               \
		CALL(kind, lock, real(lock, until));                           \
	}

#define CLOCK_FUNCTION(name, type, kind)                                       \
	int name(type *restrict lock, clockid_t clock,                         \
		 const struct timespec *restrict until)                        \
	{                                                                      \
		MARK_REAL(name);                                               \
		CALL(kind, lock, real(lock, clock, until));                    \
	}

LOCK_FUNCTION(pthread_mutex_lock, pthread_mutex_t, MARK_LOCK)
LOCK_FUNCTION(pthread_mutex_trylock, pthread_mutex_t, MARK_LOCK)
TIMED_FUNCTION(pthread_mutex_timedlock, pthread_mutex_t, MARK_LOCK)
CLOCK_FUNCTION(pthread_mutex_clocklock, pthread_mutex_t, MARK_LOCK)
LOCK_FUNCTION(pthread_mutex_unlock, pthread_mutex_t, MARK_UNLOCK)

LOCK_FUNCTION(pthread_rwlock_rdlock, pthread_rwlock_t, MARK_READ_LOCK)
LOCK_FUNCTION(pthread_rwlock_tryrdlock, pthread_rwlock_t, MARK_READ_LOCK)
TIMED_FUNCTION(pthread_rwlock_timedrdlock, pthread_rwlock_t, MARK_READ_LOCK)
CLOCK_FUNCTION(pthread_rwlock_clockrdlock, pthread_rwlock_t, MARK_READ_LOCK)
LOCK_FUNCTION(pthread_rwlock_wrlock, pthread_rwlock_t, MARK_LOCK)
LOCK_FUNCTION(pthread_rwlock_trywrlock, pthread_rwlock_t, MARK_LOCK)
TIMED_FUNCTION(pthread_rwlock_timedwrlock, pthread_rwlock_t, MARK_LOCK)
CLOCK_FUNCTION(pthread_rwlock_clockwrlock, pthread_rwlock_t, MARK_LOCK)
LOCK_FUNCTION(pthread_rwlock_unlock, pthread_rwlock_t, MARK_UNLOCK)

LOCK_FUNCTION(pthread_spin_lock, pthread_spinlock_t, MARK_LOCK)
LOCK_FUNCTION(pthread_spin_trylock, pthread_spinlock_t, MARK_LOCK)
LOCK_FUNCTION(pthread_spin_unlock, pthread_spinlock_t, MARK_UNLOCK)
