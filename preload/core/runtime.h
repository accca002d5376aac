/* SPDX-License-Identifier: MIT */
/*
 * runtime - what the parts of libcomdet.so know of each other
 *
 * Life of a profiled process: the constructor reads the configuration, makes
 * the output file, installs the handler, opens the clock: runtime_active() is
 * true from then to the end of the process, an exec, or runtime_stop().
 * A forked child sees runtime_active() false at once: the flag lives on a page
 * that the kernel wipes on fork (MADV_WIPEONFORK). A vfork child shares our
 * memory and still sees true, so hooks that such a child may call compare
 * the process id as well (runtime_is_ours).
 *
 * Hooks never call a public libc function that is hooked: they use the
 * real_* pointers (hooks/hooks.h) or raw system calls.
 */
#ifndef COMDET_PRELOAD_CORE_RUNTIME_H
#define COMDET_PRELOAD_CORE_RUNTIME_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

/* True while this process is being profiled. Any context, one load. */
bool runtime_active(void);

/* The same, and we are not a vfork child. Any context, one system call. */
bool runtime_is_ours(void);

/*
 * The signal by which samples and traps arrive: SIGTRAP where perf_events can
 * deliver synchronously, else a real-time signal. 0 before the constructor
 * chose one and when the process is not profiled (then hooks pass through).
 */
int runtime_signal(void);

/* --children: profile what the program starts. */
bool runtime_follow_children(void);

/* The path under which we were preloaded, to find our LD_PRELOAD entry. */
const char *runtime_library_path(void);

/* ---- called by the process hooks ----------------------------------------- */

/* Before fork: sampling pauses, so that clone is not restarted for ever. */
void runtime_before_fork(void);
void runtime_after_fork_parent(void);
/*
 * In the forked child: drop what was inherited (descriptors, mappings, the
 * timers), restore nothing of the application's; with --children start afresh.
 */
void runtime_after_fork_child(void);

/*
 * This process is about to exec: mark the file CDP_EXECED. If exec fails,
 * runtime_exec_failed takes that back.
 */
void runtime_before_exec(void);
void runtime_exec_failed(void);

/* This process is about to end without running destructors (_exit). */
void runtime_before_exit(void);

/*
 * The program is about to use @what, after which a system call in our handler
 * may kill or block it: profiling stops, and one line says so.
 */
void runtime_before_sandbox(const char *what);

/* A program was started that is not profiled: a hint for the report. */
void runtime_count_not_followed(void);

/* ---- called by the thread hooks ------------------------------------------ */

struct thread;
/* In the creating thread; NULL when not profiled or out of memory. */
struct thread *runtime_thread_prepare(void *(*start)(void *));
void runtime_thread_discard(struct thread *t);
/* In the new thread: its stack is the @bytes at @low. Before the next. */
void runtime_thread_stack(uint64_t low, uint64_t bytes);
/* In the new thread, before its start routine; at its end. */
void runtime_thread_begin(struct thread *t);
void runtime_thread_end(void);

/* ---- the handler --------------------------------------------------------- */

/*
 * Our handler for runtime_signal(). It is installed with SA_SIGINFO,
 * SA_ONSTACK, SA_RESTART and nothing blocked but itself. What is not ours it
 * hands to signal_forward().
 */
void runtime_on_signal(int sig, siginfo_t *info, void *context);

/*
 * Treat @info as the application would have without us: its handler with its
 * flags and mask, its default action, or ignore; held back while the
 * application has @sig blocked. Context: handler. (signal/claim.c)
 */
void signal_forward(int sig, siginfo_t *info, void *context);

/*
 * One of ours has come, @late if it had to wait. Has it taken the place of a
 * signal of the application's, which then is @info? It must be forwarded.
 * Context: handler. (signal/forward.c)
 */
bool signal_took_a_place(bool late, siginfo_t *info);

/*
 * Install runtime_on_signal for @sig and from then on virtualise @sig:
 * what the application had set before, and sets from now on, is kept as its
 * wish and returned when asked, and is not what the kernel sees.
 * Also unblocks @sig in the calling thread while remembering that the
 * application had it blocked. Returns 0 or -errno. (signal/claim.c)
 */
int signal_claim(int sig);

/*
 * If the kernel's action for the claimed signal is no longer ours (a runtime
 * that makes raw system calls, such as Go's), take what is there as the
 * application's and install ours again. Returns 1 if so, 0 if all was well.
 */
int signal_reclaim(void);

/* A new thread inherits the application's view of the mask. */
bool signal_app_blocks(void);
void signal_set_app_blocks(bool blocked);

#endif
