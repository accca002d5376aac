/* SPDX-License-Identifier: MIT */
/*
 * loss - every way in which a sample, a trap or a tally can be lost
 *
 * In a signal handler the outcome of a failure is a counter, never a message.
 * Each counter reaches the report under its name here. The order is part of
 * the file format: append, never reorder.
 */
#ifndef COMDET_BASE_LOSS_H
#define COMDET_BASE_LOSS_H

#define LOSS_CAUSES(X)                                                         \
	X(REENTRANT, "reentrant",                                              \
	  "our own code was interrupted, or made the access")                  \
	X(BLOCKED, "blocked", "the thread had the signal blocked")             \
	X(NO_ACCESS, "no_access", "no memory access ahead of the interrupt")   \
	X(UNDECODED, "undecoded", "an instruction could not be decoded")       \
	X(UNREADABLE, "unreadable", "memory on the path could not be read")    \
	X(UNKNOWN_ADDRESS, "unknown_address",                                  \
	  "an address depended on a value that could not be computed")         \
	X(UNKNOWN_PATH, "unknown_path",                                        \
	  "a branch depended on a value that could not be computed")           \
	X(NOT_STALLED, "not_stalled",                                          \
	  "the stalled access was unknown; replaced by a later access")        \
	X(BREAKPOINT_MISSED, "breakpoint_missed",                              \
	  "an execution breakpoint was not reached before the next sample")    \
	X(BOARD_BUSY, "board_busy", "the board slot was being written")        \
	X(NO_REGISTER, "no_register", "no debug register could be armed")      \
	X(TRAP_STALE, "trap_stale",                                            \
	  "a trap came after its watchpoint was disarmed, or too late to "     \
	  "count at a low rate")                                               \
	X(TRAP_LIMIT, "trap_limit", "too many traps in one interval")          \
	X(TRAP_INEXACT, "trap_inexact",                                        \
	  "the trapping access was unknown; the watched bytes stand for it")   \
	X(STORE_FULL, "store_full", "no room on disk, or the limit of out/")   \
	X(NO_THREAD, "no_thread", "no record for the thread")                  \
	X(BUDGET, "budget", "the handler ran longer than its budget")          \
	X(EXITING, "exiting", "the thread was ending")                         \
	X(RING_FULL, "ring_full", "the kernel had no room for a record")       \
	X(THROTTLED, "throttled", "the kernel paused an event for a while")    \
	X(IN_KERNEL, "in_kernel", "a sample in the kernel or hypervisor")      \
	X(IN_GUEST, "in_guest", "a sample in a virtual machine")               \
	X(NO_ADDRESS, "no_address", "a sample without a data address")         \
	X(INEXACT_IP, "inexact_ip", "a sample without an exact instruction")   \
	X(NOT_MEMORY, "not_memory", "a sample that is no load or store")       \
	X(MALFORMED, "malformed", "a record that contradicts itself")          \
	X(NO_EVENT, "no_event", "a thread could not open its hardware events") \
	X(NO_PATH, "no_path", "a call path that lacks calls")                  \
	X(LATE_CLOCK, "late_clock",                                            \
	  "no descriptor was left to sample a thread's first period fairly")   \
	X(RACY, "racy",                                                        \
	  "memory on the path may have changed since the interrupt")           \
	X(REGISTER_GIVEN, "register_given",                                    \
	  "the program took a debug register for itself")                      \
	X(WATCHER_BUDGET, "watcher_budget",                                    \
	  "the watcher had used up its budget of CPU time")

enum loss_cause {
#define X(id, name, text) LOSS_##id,
	LOSS_CAUSES(X)
#undef X
	LOSS_COUNT
};

#endif
