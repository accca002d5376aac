/* SPDX-License-Identifier: MIT */
/*
 * cancel - threads that can be cancelled anywhere
 *
 * The C library cancels them with a signal whose handler it sets by itself.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "preload/signal/claimed.h"
#include "preload/signal/real.h"

EXPORT int pthread_setcanceltype(int type, int *old)
{
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
		atomic_store_explicit(&signal_handlers, true,
				      memory_order_relaxed);
	return REAL(pthread_setcanceltype)(type, old);
}
