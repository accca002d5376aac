/* SPDX-License-Identifier: MIT */
/*
 * fake_kernel - a machine with a PMU, and its kernel, for the hardware sources
 *
 * Stands behind struct perf_kernel. It refuses what Linux refuses, with the
 * same errors; it counts and samples the ops that a test feeds it (fake_run);
 * and it writes the records into the rings byte for byte as Linux does. What
 * is known of Linux here was read in its kernel/events/core.c,
 * kernel/events/ring_buffer.c, arch/x86/events/intel/ds.c and
 * arch/x86/events/amd/ibs.c. It shares no code with what it tests.
 *
 * fake_machine.c has the machines, fake_kernel.c the calls, fake_pmu.c the
 * counting, fake_records.c what is written.
 */
#ifndef COMDET_TESTS_FAKE_FAKE_KERNEL_H
#define COMDET_TESTS_FAKE_FAKE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/pmu/kernel.h"

enum {
	FAKE_THREADS = 1024, /* at a time */
	FAKE_CPUS = 64,
	FAKE_EVENTS = 4096,
	FAKE_FDS = 8192,
	FAKE_RINGS = 1024,
	FAKE_PMUS = 4,
	FAKE_PAGE = 4096,
};

enum fake_model {
	FAKE_NEHALEM,
	FAKE_SANDY_BRIDGE, /* one counter for loads and stores */
	FAKE_SKYLAKE,
	FAKE_SAPPHIRE_RAPIDS, /* slow loads need the auxiliary event */
	FAKE_ALDER_LAKE,      /* two kinds of cores */
	FAKE_UNKNOWN_INTEL,
	FAKE_ZEN2,
	FAKE_ZEN4, /* long periods */
	FAKE_BARE, /* a virtual machine without any PMU */
	FAKE_MODELS
};

/* One PMU of the machine. */
struct fake_pmu {
	const char *name; /* its directory in sysfs */
	uint32_t type;
	int max_precise; /* -1: no such file */
	bool aux, ibs, atom;
};

/* What a thread does: a memory access, or an op without one. */
struct fake_op {
	struct access access; /* flags 0: none */
	uint32_t latency;     /* cycles */
	bool in_kernel;
};

struct fake_ring {
	char *page; /* NULL: free */
	uint64_t bytes;
	uint64_t lost;
	uint64_t lost_id;
};

struct fake_event {
	struct perf_event_attr attr;
	const struct fake_pmu *pmu;
	uint64_t id;
	int thread, leader; /* leader: of its group, perhaps itself */
	int cpu;            /* -1: any; a thread runs on thread % FAKE_CPUS */
	int next;           /* of the same thread, -1: none */
	int ring;           /* -1: none */
	int users;          /* descriptors */
	int signal;
	bool enabled, throttled;
	uint64_t count, left, interval;
	/* ns of its thread. */
	uint64_t enabled_at, on_at, time_enabled, time_running;
	bool on; /* has a counter now */
};

struct fake_kernel {
	/* For the test to set at any time. */
	int paranoid;
	bool watchdog, seccomp, hypervisor;
	int open_error;    /* errno of every perf_event_open, 0: none */
	int open_error_of; /* for this type alone, -1: all */
	int map_error;
	int fds_max;
	int fds_end; /* no number from here on, 0: FAKE_FDS */
	int locked_pages_max;
	int process;       /* its pid; thread i has the tid process + i */
	bool silent;       /* events open and never count */
	bool starved;      /* they never get a counter */
	uint32_t rotate;   /* ops after which events take turns, 0: never */
	uint32_t inexact;  /* one sample in so many names no instruction */
	uint32_t throttle; /* after so many samples of an event, 0: never */
	uint64_t throttled_for; /* ns */
	uint32_t skid;          /* ops from a sample to its interrupt */
	/*
	 * A sample is due on the thread that runs: sig_data or descriptor.
	 * Called when the op is over, as at the return to user mode.
	 */
	void (*raise)(void *ctx, const struct fake_event *e, int fd,
		      uint64_t addr);
	void *raise_ctx;
	bool blocked; /* the thread that runs has SIGTRAP blocked */

	/* For the test to read. */
	uint64_t now; /* ns */
	uint64_t samples, signals, lost, throttles;
	uint64_t pauses;      /* how often a group was switched off */
	uint64_t interrupted; /* signals that arrived in a system call */
	bool hung;   /* an event was freed whose signal had not been sent */
	bool killed; /* a synchronous signal met SIGTRAP blocked */
	int open_fds, locked_pages;

	/* Its own. */
	struct perf_kernel calls;
	enum fake_model model;
	struct fake_pmu pmu[FAKE_PMUS];
	uint32_t family, model_number, ibs_caps;
	bool intel, filter, aux_needed;
	/* Of Linux, as fake_kernel_boot sets them. */
	char release[32];
	bool forces_signals; /* before 5.19, on a thread that blocks them */
	bool ibs_of_threads; /* 6.2 */
	bool signals_wait;   /* 6.11: for the return to user mode */
	bool frees_unsent;   /* commit 56799bc03565 */
	bool hides_physical; /* 6.14, commit 50a53b60e141: from IBS's records,
				if the user may not sample the kernel */
	int running;         /* thread */
	bool on_atom;        /* it runs on the other kind of core */
	uint64_t turn_at;    /* op of the next rotation */
	uint64_t turn, ops;
	uint64_t ids;
	uint64_t seed;
	uint64_t thread_ns[FAKE_THREADS]; /* that each has run */
	struct fake_event event[FAKE_EVENTS];
	int events;              /* that were ever in use */
	int first[FAKE_THREADS]; /* event of each, -1: none */
	int fd[FAKE_FDS];        /* event + 1, 0: free */
	struct fake_ring ring[FAKE_RINGS];
	int pending[8];
	int pendings;
	uint64_t pending_addr[8], pending_from[8]; /* from: the op */
};

/* A machine of its own; &k->calls is what to hand to the code under test. */
struct fake_kernel *fake_kernel_new(enum fake_model model);
void fake_kernel_free(struct fake_kernel *k);

/*
 * Run Linux @release on it, "6.15" unless the test says otherwise. The releases
 * differ in when a signal comes and whether it kills, whether IBS has threads
 * and a filter, and what becomes of an event whose signal waits.
 */
void fake_kernel_boot(struct fake_kernel *k, const char *release);

/* From now on thread @thread runs, on a core of the other kind if @atom. */
void fake_kernel_run_thread(struct fake_kernel *k, int thread, bool atom);

/* The running thread makes thread @child, which inherits its events. */
void fake_kernel_clone(struct fake_kernel *k, int child);

/* The running thread executes @op; then the signals that are due. */
void fake_run(struct fake_kernel *k, const struct fake_op *op);

/* Put a record of the test's own into the ring of @thread. */
void fake_record(struct fake_kernel *k, int thread, uint32_t type,
		 uint16_t misc, const void *body, uint16_t bytes);
/* The id of the first event of @thread that samples loads, stores or ops. */
uint64_t fake_event_id(struct fake_kernel *k, int thread);
/* Push the head of the ring of @thread by @bytes, as no kernel would. */
void fake_corrupt_head(struct fake_kernel *k, int thread, uint64_t bytes);

/* fake_kernel.c: the calls on events. */
void fake_calls(struct fake_kernel *k);

/* fake_pmu.c */
/* @e begins and ends to be one of its thread. */
void fake_event_add(struct fake_kernel *k, struct fake_event *e);
void fake_event_remove(struct fake_kernel *k, struct fake_event *e);
void fake_event_enable(struct fake_kernel *k, struct fake_event *e);
void fake_event_disable(struct fake_kernel *k, struct fake_event *e);
void fake_event_read(struct fake_kernel *k, struct fake_event *e,
		     uint64_t out[3]);
bool fake_is_sampling(const struct fake_event *e);
/* In an order of its own at each turn. */
void fake_schedule(struct fake_kernel *k);

/* fake_records.c */
void fake_write_sample(struct fake_kernel *k, struct fake_event *e,
		       const struct fake_op *op, bool exact);
void fake_write_throttle(struct fake_kernel *k, struct fake_event *e,
			 uint32_t type);
uint64_t fake_random(struct fake_kernel *k);

#endif
