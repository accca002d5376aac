/* SPDX-License-Identifier: MIT */
/*
 * marks_table - what was said of an object of the program, by address
 */
#ifndef COMDET_PRELOAD_EMU_MARKS_TABLE_H
#define COMDET_PRELOAD_EMU_MARKS_TABLE_H

#include <stdint.h>

/* What the value is: an address may have one of each. */
enum marks_value {
	MARKS_MEMBERS = 1, /* of a barrier */
	MARKS_SEMAPHORE,   /* 1: its first value is in the trace; otherwise it
			      is the first value, plus 2 */
	MARKS_ONCE,        /* numbers of events: the function was executed, */
	MARKS_TEAM,        /* the team began, */
	MARKS_ORDERED,     /* the latest ordered part has ended */
	MARKS_THREAD,      /* of a pthread_t: number of the thread, plus 1 */
};

/* The value, or 0. Call with a lock of your own. */
uint64_t marks_table_get(enum marks_value what, uint64_t object);

/* If there is no memory, the value is forgotten. */
void marks_table_put(enum marks_value what, uint64_t object, uint64_t value);

void marks_table_clear(void);

#endif
