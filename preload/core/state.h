/* SPDX-License-Identifier: MIT */
/*
 * state - what the profiled process knows: one struct runtime, one struct
 * thread for each of its threads
 *
 * struct runtime is written by the constructor and constant while sampling
 * works; what changes later is atomic. A struct thread belongs to its thread:
 * only that thread and its own handler touch it.
 */
#ifndef COMDET_PRELOAD_CORE_STATE_H
#define COMDET_PRELOAD_CORE_STATE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/engine/comm.h"
#include "src/store/store.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "src/x86/choose.h"
#include "config.h"
#include "preload/instr/state.h"
#include "src/x86/interp/interp.h"
#include "preload/watch/own_event.h"

enum {
	THREAD_STACK_BYTES = 16 * 1024, /* the handler's own */
	THREAD_IDS_MAX = 1 << 20,
	THREAD_IDS_LITTLE = 1 << 15, /* where address space is limited */
	CODE_RANGES = 64,
};

/* How samples and traps reach us. */
enum delivery {
	DELIVERY_SIGTRAP, /* perf_events, synchronous */
	DELIVERY_RTSIG,   /* POSIX timers; perf_events through F_SETSIG */
};

struct lease;    /* watch/watch.c: four debug registers of one thread */
struct pmu_slot; /* pmu/pmu.c: the hardware events of one thread */

struct thread {
	struct cdp_thread *record; /* in the file */
	struct comm_thread comm;
	struct choose choose;
	struct pair_table pairs;
	struct core_table cores;
	struct rng rng;
	struct lease *lease;
	struct pmu_slot *pmu;
	struct thread_reuse *reuse; /* NULL unless -m reuse */
	void *(*start)(void *);
	uint64_t clock_at; /* now of the sample being handled */
	uint64_t cpu_at;   /* CPU time at the handler's begin, ns */
	uint64_t cpu_ours; /* clock/clock_reuse.c: CPU time spent in it, ns */
	uint64_t exec_ip;  /* execution breakpoint armed there, 0: none */
	uint64_t late_ip;  /* where the last trap found its signal blocked */
	int64_t debt_ns;   /* handler time beyond its share */
	/* Where hardware samples: CPU time last paid off, last sample; else 0.
	 */
	uint64_t paid_at, sampled_at;
	uint64_t samples_seen;
	int timer; /* POSIX timer id, -1: none */
	pid_t tid;
	uint32_t core;
	bool in_handler;
	bool ending;
	bool registers_lost; /* to another thread, since it was looked after */
	bool app_blocks;     /* the creator's view of the mask, to inherit */
	struct instr_state instr;
	/* On their own pages, touched only by threads that are sampled. */
	char *stack_top;
};

struct runtime {
	struct config config;
	struct store store;
	struct comm comm;
	struct memory memory; /* template: read through process_vm_readv */
	enum delivery delivery;
	int signal;
	pid_t pid;
	uint64_t seed;
	uint64_t start_mono;
	uint64_t period_ns;
	uint32_t registers;    /* usable, at most four */
	bool hardware;         /* pmu_source samples, the clock only ticks */
	bool waits_for_thread; /* Go: starts at the first thread creation */
	bool little_space;     /* the address space is limited */
	/* These change while threads run. */
	struct own_event clock;
	_Atomic bool sampling;  /* the clock is open */
	_Atomic bool stopped;   /* nothing is armed any more */
	_Atomic bool sandboxed; /* system calls may be deadly from here on */
	struct {
		uint64_t low, high;
	} code[CODE_RANGES]; /* always mapped and readable */
	uint32_t code_count;
	uint64_t vdso_low, vdso_high; /* the kernel's code, 0: none */
	char hardware_why[200]; /* what samples, or why hardware does not */
	char library[PATH_MAX];
	char out[PATH_MAX];
	char run_id[40];
};

extern struct runtime runtime;

/* The thread's own record; NULL before it has one and after its end. */
struct thread *thread_self(void);
/* The same, made on the spot for threads that no hook saw. Any context. */
struct thread *thread_adopt(void);
/* Its record is closed; what still comes is nobody's. */
bool thread_has_ended(void);
/* Set-up of the main thread. */
int threads_init(void);
/* thread_rows.c: @id is in a detection, its row must stay. Any context. */
void thread_mark_referenced(uint32_t id);
/* At the end of the process: ended threads merged, rows closed. */
void threads_finish(void);
/* Name and CPU time into the row. Any context, the thread itself. */
void thread_refresh(struct thread *t);
/* thread_rows.c: detections in the file, of all threads. Any context. */
uint64_t threads_committed(void);

/* A loss of thread @t, or of nobody we know (NULL). Any context. */
void lose(struct thread *t, enum loss_cause cause);

/* CPU time of the calling thread, ns. Any context. */
uint64_t thread_cpu_ns(void);

/* CLOCK_MONOTONIC, ns. Any context. */
uint64_t now_ns(void);

/* clock/clock.c */
int clock_open(char *reason, size_t size);
void clock_close(void);
/* By the program, which closes descriptors it does not know. */
bool clock_was_closed(void);
void clock_pause(void);
void clock_resume(void);
void clock_thread_begin(struct thread *t);
void clock_thread_end(struct thread *t);

/* sources/sample.c: on the handler's stack. */
void sample_interrupt(struct thread *t, const struct cpu_state *cpu);
void sample_exec_breakpoint(struct thread *t, const struct cpu_state *cpu);
void sample_data_trap(struct thread *t, int reg, const struct cpu_state *cpu);
/*
 * A sample of a hardware event: access @a at @time on @core. There is no
 * choice in it: every access is as likely.
 */
void sample_hardware(struct thread *t, const struct access *a, uint64_t time,
		     uint32_t core);
/* How to read the program's memory around the code at @ip. */
struct memory sample_memory(struct thread *t, uint64_t ip);
extern const struct comm_sink sample_sink;
/*
 * The access that hit a watchpoint on @w; false if it cannot be told. On the
 * handler's stack.
 */
bool sample_trapped(struct thread *t, const struct cpu_state *cpu,
		    const struct watch_range *w, struct access *a);
/* src/store/sample_log.h; nothing is added unless it was opened. */
int sample_log_open(const char *path);
void sample_log_add(const struct thread *t, const struct access *a,
		    enum sample_kind kind);

/* start/program.c: fills in code and waits_for_thread. Context: set-up. */
void program_look(void);

/* handler/handler.c: before the first signal. */
void handler_init(void);
/*
 * Call @fn(@arg) on the handler stack of @t, the calling thread's. Context: all
 * signals blocked, t->in_handler set.
 */
void handler_call(struct thread *t, void (*fn)(void *), void *arg);
/*
 * After runtime_active() has become false: wait a while, at most, until no
 * thread is in our handler. Any context but our handler.
 */
void handler_drain(void);

/* start/comdet.c: a thread is about to be created. */
void runtime_first_thread(void);

/* maps.c */
int maps_init(void);
/* Make sure that code at @ip is described. Any context. */
uint64_t maps_note(uint64_t ip);
void maps_finish(void);

/* start/comdet.c: the whole set-up, and the end. Context: set-up. */
void runtime_start(void);
void runtime_finish(enum cdp_state state);
void runtime_set_active(bool value);

/* Stop profiling for good and say so once; the program goes on. */
void runtime_stop(const char *why);

#endif
