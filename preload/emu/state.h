/* SPDX-License-Identifier: MIT */
/*
 * state - the source emu: every access of an unmodified program, from QEMU
 *
 * QEMU translates the program and calls us after each access with the number of
 * the emulated processor, which is a thread of the program. A struct vcpu
 * belongs to that thread alone: what runs for each access takes no lock and
 * shares no line. Samples go to the engine of src/engine/comm.h, whose debug
 * registers are simulated by comparing addresses.
 *
 * Callbacks run in ordinary context on the program's threads, inside QEMU: they
 * may allocate and lock, but they must not wait for another thread of the
 * program, which QEMU may be stopping at that moment.
 */
#ifndef COMDET_PRELOAD_EMU_STATE_H
#define COMDET_PRELOAD_EMU_STATE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config.h"
#include "src/exact/cache_sets.h"
#include "src/engine/comm.h"
#include "src/exact/directory_quick.h"
#include "src/engine/reuse.h"
#include "src/exact/reuse.h"
#include "src/store/reuse_tally.h"
#include "src/store/store.h"
#include "src/store/call_table.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "src/store/time_slices.h"
#include "src/base/topology.h"
#include "src/engine/transfer.h"

enum {
	EMU_VCPUS_MAX = 1024, /* threads alive at one time */
	EMU_TURN_LOOK =
		1000, /* accesses between looks at the number of threads */
	EMU_TURN_ACCESS = 4, /* what an access takes of a turn; an instruction
				of a trace takes 1 */
	EMU_LINE_SHIFT = 6,
	EMU_WATCHED = 16384, /* entries of the table of watched lines */
	/* Lines watched at once in software. */
	EMU_WATCHED_LINES = 251,
	EMU_NEEDED_LINES = 128, /* by the estimator TRANSFER_NEEDED */
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
	EMU_LOADS, /* with one counter: of all accesses */
	EMU_STORES,
	EMU_COUNTERS
};

/* An access that QEMU makes in parts: parts.h. */
struct emu_parts {
	struct access whole;
	uint64_t next, end; /* addresses after the last part, after the whole */
};

/* A thread in one of the reuse engines. */
struct emu_reuse {
	struct reuse_thread thread;
	struct reuse_tally *tally;
	uint32_t engine;
};

struct vcpu {
	/* Used for each access. */
	int64_t until[EMU_COUNTERS]; /* below 0: the counter overflows */
	int64_t turn_start; /* turn when it was last added to ticks, rounded up
			       so that the rest of an access is not added yet */
	int64_t turn; /* left of the turn: an access takes EMU_TURN_ACCESS */
	uint64_t watch_low, watch_span;
	struct quick_thread *quick; /* NULL: it is in no quick part */
	struct trace_thread *trace; /* NULL: not traced */
	uint64_t class_mask; /* 0 with one counter, else the store bit of a
				class */
	struct cdp_thread *record;
	struct exact *directory; /* NULL: the thread has no number in it */
	uint32_t core;
	uint64_t count[EMU_CLASSES];
	struct emu_parts parts; /* the latest */

	/* Used for each sample. */
	uint64_t rest[EMU_COUNTERS]; /* interval.h */
	struct comm_thread comm;
	struct rng rng, turn_rng;
	struct pair_table pairs;
	struct core_table cores;
	struct slice_table slices;
	struct watch_range watched[COMM_REGISTERS_MAX];
	uint32_t watches;
	_Atomic uint32_t wait; /* a futex; this and the next: scheduler.c */
	uint8_t place;
	bool present; /* it is not in the kernel on the program's behalf */
	_Atomic bool woken;   /* since it has the turn */
	_Atomic bool settles; /* it waits for the one before to sleep */
	bool in_block;        /* it waits for its turn after an access */
	bool drains;          /* it goes on without a turn: QEMU stops all */
	uint32_t drained;     /* accesses that it made so */
	bool passed_over;  /* its turn was given to another while it was not */
	unsigned int left; /* turns that had begun when it left the queue */

	bool in_call; /* it keeps its turn in a system call; this and the
			 next: calls.c */
	uint8_t call;
	uint64_t call_arg[6];
	uint64_t clear_tid; /* the futex that its end wakes */
	uint64_t now_ns;    /* time of the event being handled */
	uint64_t events;
	pid_t tid; /* 0: it has not run yet */
	bool in_transfer;
	struct exact_thread exact;
	struct transfer_thread transfer, needed;
	bool in_reuse;
	uint32_t domain; /* the shared cache of its core */
	struct reuse_tally reuse_tally;
	struct emu_reuse reuse[EMU_REUSE_ENGINES];
	struct reuse_exact_thread *_Atomic reuse_exact; /* NULL: not followed */
	struct cache_sets_thread *_Atomic caches; /* NULL: none simulated */
	struct emu_frames *frames; /* NULL: call paths are not asked for */
	struct call_table calls;
} __attribute__((aligned(64)));

struct emu {
	struct emu_config config;
	struct store store;
	struct comm comm;
	struct topology topology; /* valid with config.topology */
	struct vcpu *vcpu;        /* EMU_VCPUS_MAX */
	_Atomic uint64_t ticks;   /* accesses of all threads: scheduler.h */
	uint64_t forks;           /* children that this process has had */
	uint64_t start_mono;
	uint64_t guest_base; /* host address of the program's address 0 */
	_Atomic uint64_t heap_low, heap_high; /* results of brk */
	_Atomic uint64_t stack; /* an address on the main thread's stack */
	pid_t pid;
	uint32_t cores;
	uint32_t domains; /* number of shared caches, at least 1 */
	/* The same for each shared cache; not used if there is only one. */
	_Atomic uint64_t domain_ticks[REUSE_EXACT_DOMAINS_MAX];
	uint32_t core_order[CDP_CORES_MAX]; /* in the order in which threads get
					       them */
	bool active;                        /* this process is being profiled */
	/* In a child that is not profiled: page 0 of its parent's file. */
	struct cdp_header *parent;
	int argc; /* the plugin's own arguments */
	char **argv;
	char exe[PATH_MAX]; /* the program, not qemu */
	char out[PATH_MAX];
	char file[128]; /* the .cdp file there */
	char run_id[40];
};

extern struct emu emu;

/* The access of @class at @addr, made by the instruction at @ip. */
static inline struct access emu_make_access(unsigned int class, uint64_t addr,
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

/* True if one of @modes is measured. */
static inline bool emu_measures(uint32_t modes)
{
	return emu.config.modes & modes;
}

/* Where the thread is. */
static inline struct cpu_place emu_place(const struct vcpu *v)
{
	return (struct cpu_place){ v->record->id, v->core, v->domain };
}

#endif
