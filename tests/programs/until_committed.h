/* SPDX-License-Identifier: MIT */
/*
 * until_committed - wait until libcomdet.so has detections in its file
 */
#ifndef COMDET_TESTS_PROGRAMS_UNTIL_COMMITTED_H
#define COMDET_TESTS_PROGRAMS_UNTIL_COMMITTED_H

#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

typedef uint64_t committed_function(void);

/* NULL without libcomdet.so. */
static inline committed_function *committed(void)
{
	return (committed_function *)dlsym(RTLD_DEFAULT, "comdet_committed");
}

static inline void wait_a_moment(void)
{
	const struct timespec moment = { 0, 2000000 };

	nanosleep(&moment, NULL);
}

/* Wait for @detections, or for @seconds. */
static inline void until_committed(uint64_t detections, int seconds)
{
	committed_function *count = committed();
	time_t end = time(NULL) + seconds;

	while (time(NULL) < end && (!count || count() < detections))
		wait_a_moment();
}

#endif
