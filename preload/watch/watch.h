/* SPDX-License-Identifier: MIT */
/*
 * watch - debug registers of the calling thread, through perf_events
 *
 * A thread that arms needs four breakpoint events of its own, so four
 * descriptors. A bounded pool of leases serves all threads: a thread that has
 * not armed for a while loses its lease to a thread that wants to arm. So
 * thousands of threads never exhaust the descriptors.
 *
 * Context: handler of the thread, except where it says set-up.
 */
#ifndef COMDET_PRELOAD_WATCH_WATCH_H
#define COMDET_PRELOAD_WATCH_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/engine/comm.h"

struct thread;

enum watch_event {
	WATCH_NOTHING, /* not one of ours */
	WATCH_CLOCK,
	WATCH_DATA, /* register number 0 to 3 */
	WATCH_EXEC,
	WATCH_SELFTEST,
	WATCH_SOURCE, /* an event of the source's own */
	WATCH_WAKE,   /* the timer of a child that waits for its first sample */
	WATCH_SHARED, /* a register of all threads: instr/watch.h */
};

/* What siginfo tells in one of our signals. */
struct watch_signal {
	enum watch_event event;
	int reg;
	uint32_t tag;  /* WATCH_SHARED: the number it was armed with */
	uint64_t addr; /* WATCH_SHARED: the address it watched, 0: unknown */
	bool late;     /* the signal was blocked when the trap happened */
};

/* The arms and disarms that the engine calls; ctx is the struct thread. */
extern const struct comm_watch watch_ops;

/*
 * Try each register by triggering it. Returns how many work (0 to 4); if fewer
 * than four do, @reason says why, in words for people.
 * Context: set-up, after the handler was installed.
 */
int watch_selftest(char *reason, size_t size);

/* Size the pool. Context: set-up. */
void watch_init(void);

/* The lowest number that our descriptors have. After watch_init. */
int watch_fd_base(void);
/*
 * The same for @more events beside the registers: where the limit of open files
 * leaves no room for them above the registers' numbers, it is half as high. The
 * program keeps the numbers below.
 */
int watch_fd_base_for(uint32_t more);
/* How many descriptors a source may have beside its registers. The same. */
uint32_t watch_fds_beside(void);

/* An execution breakpoint at @ip for the thread. Returns 0 or -errno. */
int watch_exec(struct thread *t, uint64_t ip);
void watch_exec_off(struct thread *t);

/* True if @t still owns the registers that it armed last. */
bool watch_is_held(const struct thread *t);

/*
 * A sample of @t begins: close its registers if it has not armed for a while,
 * since an open one keeps a register from debuggers and the program.
 */
void watch_rest(struct thread *t);

/* Close the thread's registers. */
void watch_thread_end(struct thread *t);

/* Close all registers, and if @for_good lease no more. Any context. */
void watch_close_all(bool for_good);

/* How many registers a thread may have now. Any context. */
int watch_registers(void);

/*
 * The program opens a breakpoint of its own and finds no register free: from
 * now on each thread uses one less. Returns false if none is left to give.
 * Context: any but the handler.
 */
bool watch_give_one(void);

/* In a forked child: close the inherited descriptors. Context: set-up. */
void watch_after_fork(void);

/*
 * What the signal is about; with queued signals, the signal of descriptor @fd.
 * Any context.
 */
struct watch_signal watch_classify_fd(int fd);
struct watch_signal watch_classify(int sig, const siginfo_t *info);

/* In the high half of the signal data of our events. */
#define WATCH_COOKIE 0xC0DE7EC700000000ull

/* The signal data of events of kind @event, register or index added. */
uint64_t watch_cookie(enum watch_event event);

/*
 * The program has opened a breakpoint of its own, which counts our loads too.
 * Has it? Any context.
 */
void watch_of_program(void);
bool watch_is_the_programs(void);

#endif
