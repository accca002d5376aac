/* SPDX-License-Identifier: MIT */
/*
 * sent - signals that libc's functions send to one thread
 *
 * The kernel queues a signal below 32 only once for a thread. If one of ours is
 * on its way to the thread at that moment, the kernel drops the application's.
 * So raise, pthread_kill and their kin number what they send. A thread that
 * receives one of ours and misses a number delivers that one; if it had not
 * been dropped after all, it is dropped when it arrives.
 */
#ifndef COMDET_PRELOAD_SIGNAL_SENT_H
#define COMDET_PRELOAD_SIGNAL_SENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct signal_numbers;

/*
 * The kernel lets only the receiver itself queue signals with the codes SI_USER
 * and SI_TKILL. They, and SI_QUEUE to a thread, are queued with these codes,
 * which we turn back before the application sees them. A number is in si_errno.
 */
enum {
	SIGNAL_TO_PROCESS = -0x5d00, /* SI_USER */
	SIGNAL_KILLED = -0x5d01,     /* SI_TKILL */
	SIGNAL_TO_THREAD = -0x5d02,  /* SI_QUEUE */
};

/* The calling thread begins and ends to number its signals. Any context. */
void signal_numbers_begin(void);
void signal_numbers_end(void);

/*
 * Send the claimed signal to the thread of this process whose numbers are @to;
 * @queued with @value, as pthread_sigqueue does. Returns 0, or -errno if
 * nothing was sent. Any context.
 */
int signal_send(struct signal_numbers *to, bool queued, uint64_t value);

/*
 * This thread took a signal from the kernel that is not ours: gives it the
 * application's code. Returns false if the application has had it. Any context.
 */
bool signal_received(siginfo_t *info);

/*
 * This thread took one of ours from the kernel. Returns true if a signal of the
 * application's was perhaps dropped for it: deliver that one, @info. Any.
 */
bool signal_was_dropped(siginfo_t *info);

#endif
