/* SPDX-License-Identifier: MIT */
/*
 * runtime - what all parts of libcomdet.so know of the profiled process
 *
 * The constructor (start/comdet.c) fills struct runtime in; while sampling
 * works it is constant, except for the fields that are atomic.
 *
 * runtime_active() is true from the moment the handler is installed to the end
 * of the process, an exec, or runtime_stop(). A forked child sees it false at
 * once: the flag lies on a page that the kernel wipes on fork
 * (MADV_WIPEONFORK). A vfork child shares our memory and still sees it true,
 * so hooks that such a child may call also compare the process id
 * (runtime_is_ours).
 *
 * A followed child of fork waits at first (start/child.h): it has claimed the
 * signal, and has neither file nor threads. It is not active until its first
 * sample.
 */
#ifndef COMDET_PRELOAD_CORE_RUNTIME_H
#define COMDET_PRELOAD_CORE_RUNTIME_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"
#include "source.h"
#include "src/base/loaded.h"
#include "src/engine/comm.h"
#include "src/store/control_page.h"
#include "src/store/store.h"
#include "src/x86/decode/decode.h"

enum {
	CODE_RANGES = 64,
};

/* How samples and traps reach us. */
enum delivery {
	DELIVERY_SIGTRAP, /* perf_events, synchronous */
	DELIVERY_RTSIG,   /* POSIX timers; perf_events through F_SETSIG */
};

struct runtime {
	/*
	 * What a forked child writes comes first, so that it lies on the page
	 * of our other variables that the child writes: it copies each page.
	 */
	struct store store;
	uint64_t seed;
	uint64_t start_mono;
	pid_t pid;
	_Atomic pid_t waiting; /* the child that waits, see start/child.h */
	bool waits;            /* a child's clock is set, see start/child.h */
	_Atomic bool sampling; /* the source is open */
	_Atomic bool stopped;  /* runtime_stop has disarmed everything */
	struct config config;
	const struct source_ops *source; /* never NULL once it is chosen */
	struct comm comm;
	struct memory memory; /* copy it; reads through process_vm_readv */
	enum delivery delivery;
	int signal; /* the signal that we claim; 0: none yet */
	uint64_t period_ns; /* between the clock's interrupts, in CPU time */
	/* A longer handler costs its thread's budget only this much. */
	uint64_t handler_max_ns;
	uint32_t registers;    /* usable, at most four */
	bool waits_for_thread; /* Go: sampling starts when a thread is created
				*/
	bool little_space;     /* address space or data are limited */
	_Atomic bool paused;   /* by the program, src/base/comdet.h */
	/* Of record --control, mapped for ever; NULL: there is none. */
	const struct control_page *control;
	_Atomic bool sandboxed; /* the handler must make no system call */
	struct {
		uint64_t low, high; /* code that stays mapped and readable */
	} code[CODE_RANGES];
	uint32_t code_count;
	struct loaded_ranges tables; /* likewise, with .eh_frame */
	/* Of the environment, what the program does not see; NULL: nothing. */
	char *const *hidden;
	char source_why[200]; /* why this source, and no better one */
	char library[PATH_MAX];
	char out[PATH_MAX];
	char run_id[40];
};

extern struct runtime runtime;

/* The flag lies on @page, which forked children find zeroed. Set-up, once. */
void runtime_init(void *page);

/* True while this process is being profiled. Any context, one load. */
bool runtime_active(void);
void runtime_set_active(bool value);

/* The same, and we are not a vfork child. Any context, one system call. */
bool runtime_is_ours(void);

/*
 * True in a forked child, not its vfork children, that waits for its first
 * sample. Any context, at most one system call.
 */
bool runtime_is_waiting(void);
void runtime_set_waiting(void);
/*
 * The child waits no longer. Returns false if it did not wait, or another
 * thread was first. Any context.
 */
bool runtime_end_waiting(void);

/*
 * Keep our memory at @at from forked children, which would use it never or
 * anew. Returns false if they inherit it all the same. Set-up, or handler.
 */
bool runtime_keep(void *at, size_t bytes);

/* --children: profile what the program starts. */
bool runtime_follow_children(void);

/* The path under which we were preloaded, to find our LD_PRELOAD entry. */
const char *runtime_library_path(void);

/*
 * What of the environment the program does not see, and programs that are
 * followed get; NULL: nothing. Any context.
 */
char *const *runtime_hidden(void);

/*
 * Where @now, in ns of CLOCK_MONOTONIC, lies in the time that --delay,
 * --duration, record --control and the program's pauses (src/base/comdet.h)
 * leave; a pause counts as early. Any context.
 */
enum runtime_phase {
	RUNTIME_EARLY,
	RUNTIME_WANTED,
	RUNTIME_OVER
};
enum runtime_phase runtime_phase(uint64_t now);

#endif
