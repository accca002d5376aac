/* SPDX-License-Identifier: MIT */
/*
 * sync_marks - how the library in the guest tells QEMU's plugin what it sees
 *
 * libcomdet-guest.so wraps the functions by which threads synchronize. Each
 * thread has a mailbox; a system call that no kernel has tells the plugin where
 * it is, and what code is the library's own. From then on the thread writes to
 * its mailbox and calls an empty function, sync_mark, at whose first
 * instruction the plugin reads the mailbox. Outside our plugin nothing answers
 * the system call, so the mailbox stays inactive, and the library marks
 * nothing.
 */
#ifndef COMDET_SRC_TRACE_SYNC_MARKS_H
#define COMDET_SRC_TRACE_SYNC_MARKS_H

#include <stdint.h>

enum {
	/* The call: mailbox, pthread_self, begin and end of the library's code,
	   sync_mark. */
	SYNC_MARKS_CALL = 0x5254,
};

struct sync_mailbox {
	uint64_t mark; /* enum sync_mark_kind */
	uint64_t object, argument;
	uint32_t silent; /* what is executed now is no work of the program */
	uint32_t active; /* set by the plugin */
};

enum sync_mark_kind {
	MARK_NOTHING, /* only silent has changed */
	MARK_LOCK,
	MARK_READ_LOCK,
	MARK_UNLOCK,
	MARK_BARRIER_INIT, /* argument: how many threads meet */
	MARK_BARRIER,      /* the thread has met the others; argument: the same,
			      or 0 */
	MARK_COND_BEGIN,   /* the thread is about to wait */
	MARK_COND_WOKEN,   /* its wait has ended; argument: the mutex */
	MARK_COND_TIMEOUT, /* its time ran out; argument: the mutex */
	MARK_SIGNAL,       /* is about to be sent */
	MARK_BROADCAST,
	MARK_SEM_INIT,  /* argument: the value */
	MARK_SEM_FIRST, /* is about to be used */
	MARK_SEM_WAIT,
	MARK_SEM_POST,
	MARK_ONCE_DONE,  /* the thread has executed the function */
	MARK_ONCE,       /* it has been executed */
	MARK_JOIN_BEGIN, /* argument: JOIN_WAITS if it waits for its end,
			    however long that takes */
	MARK_JOIN,       /* object: pthread_t, as in MARK_JOIN_BEGIN */
	MARK_FORK,       /* object: a team of OpenMP, argument: 0 */
	MARK_TEAM,       /* a thread of the team begins */
	MARK_ORDERED,
	MARK_ORDERED_END,
	MARK_KINDS
};

enum {
	JOIN_WAITS = 1
};

#endif
