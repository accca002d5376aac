/* SPDX-License-Identifier: MIT */
/*
 * emu - the source emu: every access of an unmodified program, from QEMU
 *
 * QEMU translates the program and calls us after each access with the number
 * of the emulated processor, which is a thread of the program. A struct vcpu
 * is that thread's alone: what runs for each access takes no lock and shares
 * no line. Samples go to the engine of src/engine/comm.h, whose debug registers
 * are simulated by comparing addresses.
 *
 * Callbacks run in ordinary context on the program's threads, inside QEMU:
 * they may allocate and lock, but they must not wait for another thread of the
 * program, which QEMU may be stopping at that moment.
 */
#ifndef COMDET_PRELOAD_EMU_EMU_H
#define COMDET_PRELOAD_EMU_EMU_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"
#include "qemu_plugin_abi.h"
#include "src/exact/cache_sets.h"
#include "src/engine/comm.h"
#include "src/exact/directory_quick.h"
#include "src/engine/reuse.h"
#include "src/exact/reuse.h"
#include "src/store/reuse_tally.h"
#include "src/store/store.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "src/base/topology.h"
#include "src/engine/transfer.h"

enum {
	EMU_VCPUS_MAX = 1024, /* threads alive at one time */
	EMU_TURN_LOOK = 1000, /* accesses between looks around */
	EMU_LINE_SHIFT = 6,
	EMU_WATCHED = 4096, /* entries of the table of watched lines */
	EMU_REUSE_ENGINES = REUSE_SCOPES * REUSE_GRANULARITIES,
	EMU_REUSE_MODES = CDP_MODE_REUSE | CDP_MODE_SHARED | CDP_MODE_GLOBAL,
};

/*
 * An access's class: rw * 8 + log2 of its width. QEMU performs accesses wider
 * than 16 bytes in parts, so shifts are 0 to 4.
 */
enum {
	EMU_CLASS_SHIFT = 7,
	EMU_CLASS_LOAD = 8,
	EMU_CLASS_STORE = 16,
	EMU_CLASSES = 32
};

enum emu_counter {
	EMU_LOADS, /* of everything where there is one counter */
	EMU_STORES,
	EMU_COUNTERS
};

/* A thread in one of the reuse engines. */
struct emu_reuse {
	struct reuse_thread thread;
	struct reuse_tally *tally;
	uint32_t engine;
};

struct vcpu {
	/* For each access. */
	int64_t until[EMU_COUNTERS]; /* counter overflows below 0 */
	int64_t turn_start; /* what turn was when it was last added to ticks */
	int64_t turn;       /* accesses left of the thread's turn */
	uint64_t watch_low, watch_span;
	uint64_t class_mask; /* of a class's store bit: 0 with one counter */
	struct cdp_thread *record;
	struct exact *directory; /* NULL: the thread has no number in it */
	uint32_t core;
	uint64_t count[EMU_CLASSES];

	/* For each sample. */
	struct comm_thread comm;
	struct rng rng;
	struct pair_table pairs;
	struct core_table cores;
	struct watch_range watched[COMM_REGISTERS_MAX];
	uint32_t watches;
	uint32_t wait;   /* scheduler.c; a futex */
	bool in_turns;   /* the thread has the turn or waits for it */
	bool runnable;   /* it has begun, and is in no system call */
	uint64_t now_ns; /* of the event being handled */
	uint64_t events;
	pid_t tid; /* 0: has not run yet */
	bool in_transfer;
	struct exact_thread exact;
	struct transfer_thread transfer;
	bool in_reuse;
	uint32_t domain; /* the shared cache of its core */
	struct reuse_tally reuse_tally;
	struct emu_reuse reuse[EMU_REUSE_ENGINES];
	struct reuse_exact_thread *reuse_exact; /* NULL: not followed */
	struct cache_sets_thread *caches;       /* NULL: none simulated */
} __attribute__((aligned(64)));

struct emu {
	struct emu_config config;
	struct store store;
	struct comm comm;
	struct topology topology; /* if config.topology */
	struct vcpu *vcpu;        /* EMU_VCPUS_MAX */
	_Atomic uint64_t ticks;   /* accesses of all threads; see emu_ticks */
	uint64_t seed;
	uint64_t start_mono;
	uint64_t guest_base; /* host address of the program's address 0 */
	_Atomic uint64_t heap_low, heap_high; /* what brk returned */
	_Atomic uint64_t stack; /* an address on the main thread's stack */
	pid_t pid;
	uint32_t cores;
	uint32_t domains; /* shared caches, at least 1 */
	/* As ticks, of each; with one domain not used. */
	_Atomic uint64_t domain_ticks[REUSE_EXACT_DOMAINS_MAX];
	uint32_t core_order[CDP_CORES_MAX]; /* that threads are put on */
	uint32_t host_cores;                /* that this process may run on */
	bool active;                        /* this process is being profiled */
	/* In a child that is not profiled: its parent's page 0. */
	struct cdp_header *parent;
	int argc; /* the plugin's own arguments */
	char **argv;
	char exe[PATH_MAX]; /* the program, not qemu */
	char out[PATH_MAX];
	char run_id[40];
};

extern struct emu emu;

/* plugin.c: one line to stderr, "comdet: ...". */
void emu_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t emu_now_ns(clockid_t clock);

/*
 * setup.c: open the output; processor @index is the calling thread. At
 * the first translation, or in a forked child. Says why it fails.
 */
int emu_set_up(unsigned int index);
/* What was inherited is the parent's: let go of it. */
void emu_after_fork(void);
/* With CDP_EXECED the other threads may still run, and the exec may fail. */
void emu_finish(enum cdp_state state);

/* describe.c */
void emu_describe_file_name(char *name, size_t size);
void emu_describe_process(struct cdp_header *h);
void emu_describe_measurement(struct cdp_header *h);
/* The program's arguments, which follow those of QEMU. */
void emu_command_line(char *to, size_t size);
/* Is this option of QEMU followed by a value? */
bool emu_takes_value(const char *option);

/*
 * exec.c: execute QEMU on what the program is about to execute, if QEMU
 * can run it; then it does not return. Addresses are the program's.
 */
void emu_exec(uint64_t path, uint64_t argv, uint64_t envp);
/* May @path be executed at all? */
bool emu_exec_possible(uint64_t path);
/* The program's memory; false where it has none. */
bool emu_read_guest(uint64_t addr, void *to, size_t n);

/* avx512.c */
void emu_illegal_instruction(struct qemu_plugin_insn *insn);
void emu_illegal_sigaction(int sig, uint64_t action);

/* thread.c */
int emu_threads_init(void);
void emu_thread_start(unsigned int index);
void emu_thread_end(unsigned int index);
/* In the thread itself: its id, its name, its counts into its row. */
void emu_thread_refresh(struct vcpu *v);
void emu_thread_flush(unsigned int index);
/*
 * At the end of the process: all rows closed. A thread that is still in a
 * callback may go on counting, in vain.
 */
void emu_threads_finish(void);
/* Count nothing more: nobody looks at it. */
void emu_thread_mute(struct vcpu *v);

/* setup.c: choose the core of a thread, and its cache. */
void emu_put_on_core(struct vcpu *v);
/* setup.c: read config.topology. One line in @error. Context: install. */
int emu_topology_read(char *error, size_t size);

static inline struct access emu_access(unsigned int class, uint64_t addr,
				       uint64_t ip)
{
	return (struct access){
		.addr = addr,
		.ip = ip,
		.len = 1u << (class & EMU_CLASS_SHIFT),
		.flags = (class & EMU_CLASS_LOAD ? ACCESS_LOAD : 0) |
			 (class & EMU_CLASS_STORE ? ACCESS_STORE : 0),
	};
}

/* sample.c */
int emu_sampling_init(void);
void emu_sampling_start(struct vcpu *v);
/* Variance of the interval between samples by the square of its mean. */
double emu_sampling_jitter(void);
/* Count @d in the thread's tables, for the report's map. */
void emu_show(struct vcpu *v, const struct detection *d);
/* A counter overflowed or a watched line was touched. */
void emu_event(struct vcpu *v, unsigned int class, uint64_t addr, uint64_t ip);

/* log.c: src/store/sample_log.h, where COMDET_SAMPLE_LOG asks for it. */
int emu_log_open(void);
/* What was inherited is the parent's. */
void emu_log_close(void);
void emu_log_add(const struct vcpu *v, const struct access *a);

/* exact.c: the directory, with config.exact only. */
int emu_exact_init(void);
void emu_exact_start(struct vcpu *v);
void emu_exact_end(struct vcpu *v);
/* Write the results. */
void emu_exact_finish(void);

/* transfer.c: estimates, with config.algorithm other than the map only. */
int emu_transfer_init(void);
void emu_transfer_start(struct vcpu *v);
void emu_transfer_sample(struct vcpu *v, const struct access *a, uint64_t now);
/* An access that may be to a watched line. */
void emu_transfer_trap(struct vcpu *v, const struct access *a, uint64_t now);
/* Write the results; @last: nothing more will come. */
void emu_transfer_finish(bool last);
/* Not 0 for the hash of a watched line. */
extern uint8_t emu_watched[EMU_WATCHED];

/* reuse.c: reuse times from samples, with EMU_REUSE_MODES only. */
int emu_reuse_init(void);
void emu_reuse_start(struct vcpu *v);
void emu_reuse_end(struct vcpu *v);
void emu_reuse_sample(struct vcpu *v, const struct access *a);
/* An access that may be to something that is watched; before it is sampled. */
void emu_reuse_trap(struct vcpu *v, const struct access *a);
/* What is watched now dangles. */
void emu_reuse_finish(void);
/* For reuse_may_watch. */
extern const _Atomic uint8_t *emu_reuse_bytes;

/* reuse_exact.c: every reuse, with config.exact as well. */
int emu_reuse_exact_init(void);
void emu_reuse_exact_start(struct vcpu *v);
void emu_reuse_exact_access(struct vcpu *v, const struct access *a);
void emu_reuse_exact_end(struct vcpu *v);
/* Write the results; what comes later is not counted. */
void emu_reuse_exact_finish(void);

/* caches.c: simulated caches, with config.caches as well. */
int emu_caches_init(void);
void emu_caches_start(struct vcpu *v);
/* @taken: what reuse_exact_access returned. Nothing where none are simulated.
 */
void emu_caches_access(struct vcpu *v, const struct access *a,
		       unsigned int taken);
/*
 * Write the results of the thread that @record is of; what comes later is not
 * counted. Returns what it took from @v, NULL if another one came first. Only
 * the thread itself may release it: it may be in a call.
 */
struct cache_sets_thread *emu_caches_end(struct vcpu *v,
					 const struct cdp_thread *record);
/* Its memory; NULL: there is none. */
void emu_caches_release(struct cache_sets_thread *t);

static inline bool emu_measures(uint32_t modes)
{
	return emu.config.modes & modes;
}

static inline struct cpu_place emu_place(const struct vcpu *v)
{
	return (struct cpu_place){ v->record->id, v->core, v->domain };
}

/* scheduler.c */
/*
 * The time that the engines see: accesses of all threads, exact while they
 * take turns, else up to EMU_TURN_LOOK of each behind.
 */
uint64_t emu_ticks(const struct vcpu *v);
/* The same of those that share the thread's cache, and of another cache. */
uint64_t emu_domain_ticks(const struct vcpu *v);
uint64_t emu_ticks_of_domain(uint32_t domain);
void emu_turn_init(void);
/* The thread may run from here, and may block from there. */
void emu_turn_enter(struct vcpu *v);
void emu_turn_leave(struct vcpu *v);
/* Its accesses are used up: the others first. */
void emu_turn_end(struct vcpu *v);

/* maps.c */
/* Before the program is loaded: what is mapped now is QEMU's. */
void emu_maps_note_host(void);
/* When the process's first thread has begun to run. */
void emu_maps_init(void);
/* Make sure that code at @ip is described; returns the generation. */
uint64_t emu_maps_note(uint64_t ip);
void emu_maps_finish(void);

#endif
