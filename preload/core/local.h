/* SPDX-License-Identifier: MIT */
/*
 * local - memory of the calling thread, without thread-local storage
 *
 * A library that has thread-local storage changes the program: it moves the
 * storage of the libraries after it, and the table of each new thread, which
 * the C library allocates in the program's heap, has one entry more. So ours
 * lies in 512 bytes of the thread's control block that glibc keeps for the
 * sake of its layout, and that nobody uses.
 *
 * A thread that runs on the stack of an ended one finds what that one left.
 * So a part is zeroed at the thread's end, or says whose it is.
 */
#ifndef COMDET_PRELOAD_CORE_LOCAL_H
#define COMDET_PRELOAD_CORE_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LOCAL_OFFSET = 0x80, /* tcbhead_t.__glibc_unused2 */
	LOCAL_BYTES = 0x200,
};

/* Where the parts lie, in bytes; a part ends where the next one begins. */
enum local_part {
	LOCAL_THREAD = 64,   /* core/thread.c */
	LOCAL_STACK = 96,    /* threads/stack_bounds.c */
	LOCAL_KEY = 112,     /* hooks/thread.c */
	LOCAL_FORK = 120,    /* hooks/process.c */
	LOCAL_SPARE = 128,   /* hooks/env.c */
	LOCAL_FRAMES = 192,  /* instr/frames.c */
	LOCAL_SIGNAL = 256,  /* signal/claimed.h */
	LOCAL_REGIONS = 448, /* sources/regions.c */
};

/*
 * Instead of the control block, if it is not as we know it: then nothing is
 * profiled, and all threads read zeros here.
 */
extern char *local_instead;

/* @part of the calling thread's memory. Any context. */
static inline void *local_get(enum local_part part)
{
	char *block;

	if (__builtin_expect(local_instead != (char *)0, 0))
		return local_instead + part;
	__asm__("movq %%fs:0, %0" : "=r"(block));
	return block + LOCAL_OFFSET + part;
}

/*
 * True if this C library's control block is as we know it. @list is its
 * _thread_db_pthread_list, or NULL. Context: set-up of the first thread, before
 * anything is written there.
 */
bool local_works(const uint32_t *list);

#endif
