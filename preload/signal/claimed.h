/* SPDX-License-Identifier: MIT */
/*
 * claimed - which signal is claimed, and who has it blocked
 *
 * Samples and traps arrive by one signal, the claimed one: SIGTRAP where
 * perf_events delivers synchronously, else a real-time signal. The application
 * does not see that it is taken.
 */
#ifndef COMDET_PRELOAD_SIGNAL_CLAIMED_H
#define COMDET_PRELOAD_SIGNAL_CLAIMED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* The kernel's signal mask; what it fills in of a siginfo_t. */
#define KERNEL_MASK_BYTES 8
#define SIGINFO_BYTES     48

enum {
	FIRST_QUEUED = 32, /* signals below it wait once a thread */
};

static inline uint64_t signal_bit(int sig)
{
	return 1ull << (sig - 1);
}

/*
 * Blocked from the first instruction of our handler on. A fault may be pending
 * together with our signal, which the kernel delivers first; it would then find
 * the program counter in our handler, and runtimes look at that. Blocked, it
 * waits until the program is back at the instruction that faulted.
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

/* rt_sigprocmask on the calling thread; returns the mask before. */
uint64_t kernel_mask_change(int how, uint64_t mask);

/*
 * What a thread keeps. The application has the claimed signal blocked here if
 * the kernel's bit is set or @blocks is. See docs/signal-safety.md.
 */
struct signal_thread {
	bool blocks;  /* blocked for the application, not in the kernel */
	bool handles; /* only since the application's handler was called */
	bool held;    /* a signal of the application's waits: now in both */
	bool waits;   /* in a call whose mask lets the signal through */
	bool keeps;   /* @kept was given back to the kernel for this thread */
	char kept[SIGINFO_BYTES];
	/* The same for a vfork child that lives in this thread's memory. */
	pid_t child;
	bool child_blocks;
};

extern __thread struct signal_thread signal_thread
	__attribute__((tls_model("initial-exec")));

/*
 * The program may run code of its own in the middle of ours, and may leave it
 * for good: it has looked at a signal's action, so it may have set one, or a
 * thread can be cancelled anywhere. Any context.
 */
extern _Atomic bool signal_handlers;

/* The claimed signal, 0 if there is none. Any context. */
int signal_claimed(void);

/*
 * The claim was made by this process: false in a vfork child and in one made
 * by a raw system call, where hooks act on the kernel's state and leave the
 * shared memory alone. Any context, one system call.
 */
bool signal_claim_is_ours(void);

/* The claim is made by this process for @sig, or given up (0). Set-up. */
void signal_set_claimed(int sig);

/* True if the claimed signal is in @set; false if nothing is claimed. Any. */
bool signal_is_in(const sigset_t *set);

/* What the application has, for this process or the vfork child it is. */
bool signal_blocks_get(void);
void signal_blocks_set(bool blocks);

/* Of this thread alone, without a look at the process. Any context. */
void signal_set_app_blocks(bool blocked);

#endif
