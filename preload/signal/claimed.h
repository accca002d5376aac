/* SPDX-License-Identifier: MIT */
/*
 * claimed - which signal is claimed, and who has it blocked
 *
 * Samples and traps arrive by one signal, the claimed one: SIGTRAP where
 * perf_events delivers synchronously, else a real-time signal. The application
 * does not notice.
 */
#ifndef COMDET_PRELOAD_SIGNAL_CLAIMED_H
#define COMDET_PRELOAD_SIGNAL_CLAIMED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "preload/core/local.h"

/* Bytes of the kernel's mask, and of the siginfo_t that it fills in. */
#define KERNEL_MASK_BYTES 8
#define SIGINFO_BYTES     48

enum {
	FIRST_QUEUED = 32, /* the kernel queues a lower signal only once for a
			      thread */
};

static inline uint64_t signal_bit(int sig)
{
	return 1ull << (sig - 1);
}

/*
 * Our handler blocks these from its first instruction on. A fault may be
 * pending together with our signal, which the kernel delivers first. Unblocked,
 * the fault would then show a program counter in our handler, which runtimes
 * look at. Blocked, it waits until the program is back at the instruction that
 * faulted.
 */
#define FAULT_SIGNALS                                                          \
	(signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) |       \
	 signal_bit(SIGFPE) | signal_bit(SIGSYS))

static inline uint64_t kernel_mask(const sigset_t *set)
{
	uint64_t mask;

	memcpy(&mask, set, KERNEL_MASK_BYTES);
	return mask;
}

static inline void set_kernel_mask(sigset_t *set, uint64_t mask)
{
	memcpy(set, &mask, KERNEL_MASK_BYTES);
}

/* rt_sigprocmask on the calling thread; returns the old mask. */
uint64_t kernel_mask_change(int how, uint64_t mask);

/*
 * Signals that are sent to one thread through libc are numbered from 1, so that
 * one that the kernel dropped is noticed (sent.h). Other threads write all but
 * the last two.
 */
struct signal_numbers {
	_Atomic pid_t tid;      /* 0: signals are not numbered */
	_Atomic uint32_t begun; /* the last number that was given out */
	_Atomic uint32_t ended; /* the last one whose system call returned */
	_Atomic uint64_t value; /* of the last one */
	_Atomic bool queued;    /* pthread_sigqueue has sent it */
	uint32_t received;      /* all up to this one */
	uint32_t ahead;         /* received before it arrived */
};

/*
 * The claimed signal in one thread. The application has it blocked if the
 * kernel's bit is set or @blocks is. See docs/signal-safety.md.
 */
struct signal_thread {
	bool blocks;   /* the application blocks it, the kernel does not */
	bool handles;  /* @blocks is set only while its handler runs */
	bool held;     /* a signal for the application waits in the kernel */
	bool waits;    /* it is in a call whose mask unblocks the signal */
	bool suspends; /* it is in a call that has set a mask for a while */
	bool keeps;    /* we gave @kept back to the kernel for this thread */
	bool directed; /* the signal received last was sent to this thread */
	char kept[SIGINFO_BYTES];
	uint64_t beside; /* what libc had the kernel block beside, when @blocks
			    was set */
	struct signal_numbers numbers;
	uint64_t quiet; /* quiet.c: the round, 0: no held signal */
	/* The same for a vfork child that lives in this thread's memory. */
	pid_t child;
	bool child_blocks;
};

_Static_assert(sizeof(struct signal_thread) <= LOCAL_REGIONS - LOCAL_SIGNAL,
	       "its part of the thread's memory holds it");

/* The calling thread's. Any context. */
static inline struct signal_thread *signal_self(void)
{
	return local_get(LOCAL_SIGNAL);
}

/*
 * True if the program may run code of its own in the middle of ours and never
 * return: it may have set a signal handler, or its threads can be cancelled
 * anywhere. Any context.
 */
extern _Atomic bool signal_handlers;

/* The claimed signal, 0 if there is none. Any context. */
int signal_claimed(void);

/*
 * True if this process made the claim. False in a vfork child, and in a child
 * of a raw system call: there the hooks change the kernel's state and leave the
 * shared memory alone. Any context, one system call.
 */
bool signal_claim_is_ours(void);

/* This process claims @sig, or gives the claim up (0). Context: set-up. */
void signal_set_claimed(int sig);

/* True if the claimed signal is in @set; false if nothing is claimed. Any. */
bool signal_is_in(const sigset_t *set);

/*
 * Does the application block the signal, here or in this vfork child? Beside it
 * the kernel blocks @mask.
 */
bool signal_blocks_get(void);
void signal_blocks_set(bool blocks, uint64_t mask);
void signal_blocks_beside(uint64_t mask);

/*
 * The kernel blocks @mask in this thread. If it lacks a signal that libc has
 * blocked together with ours, then a raw system call has set the mask, and the
 * application blocks ours no longer: clears the flag. Any context.
 */
void signal_mask_is(uint64_t mask);
/* Ask the kernel for its mask first; then signal_blocks_get. Any context. */
bool signal_blocks_now(void);

/* Set this thread's flag without a check for vfork. Any context. */
void signal_set_app_blocks(bool blocked, uint64_t mask);

#endif
