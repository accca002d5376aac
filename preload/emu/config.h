/* SPDX-License-Identifier: MIT */
/*
 * config - the settings of libcomdet-qemu.so
 *
 * NAME=VALUE after the plugin's path on QEMU's command line, else COMDET_NAME
 * in the environment, which `reusetrack record` sets.
 */
#ifndef COMDET_PRELOAD_EMU_CONFIG_H
#define COMDET_PRELOAD_EMU_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/exact/cache_sets.h"

enum {
	EMU_PERIOD_DEFAULT = 100000,
	EMU_PERIOD_MIN = 100, /* with less there would be little but samples */
};
enum {
	EMU_SLOTS_DEFAULT = 4096,
};
enum {
	EMU_SLICE_DEFAULT = 1000,
	EMU_SEED_DEFAULT = 1,
};
#define EMU_SLICE_FREE UINT64_C(0)
#define EMU_SLICE_MAX  UINT64_C(1000000000)
#define EMU_PERIOD_MAX UINT64_C(1000000000000)

enum emu_algorithm {
	EMU_COMDETECTIVE, /* a map of communication */
	EMU_EPOCH,        /* these estimate counts: src/engine/transfer.h */
	EMU_CHAIN
};

enum emu_pmu {
	EMU_PMU_PEBS, /* loads and stores each have a counter */
	EMU_PMU_IBS,  /* one counter for both */
};

/* How the region of interest of a trace is given. */
enum emu_roi {
	EMU_ROI_ALL,
	EMU_ROI_COUNT,   /* numbers of instructions, in each thread */
	EMU_ROI_ADDRESS, /* of functions */
	EMU_ROI_OFFSET,  /* of functions, from the program's first code */
};

struct emu_config {
	const char *out;
	const char *run; /* ID:PID OF THE ROOT:DIRECTORY, or NULL */
	uint64_t period; /* accesses, 0: count and sample nothing */
	uint64_t seed;   /* of the samples and of the turns' lengths */
	/*
	 * Accesses in a thread's turn. EMU_SLICE_FREE: all threads run at once,
	 * as the host schedules them.
	 */
	uint64_t slice;
	uint32_t registers, board_slots;
	uint32_t modes;         /* CDP_MODE_*, what to measure */
	uint32_t granularities; /* bits by enum reuse_granularity */
	uint64_t slots; /* uses watched at once, for each scope and granularity
			 */
	enum emu_pmu pmu;
	enum emu_algorithm algorithm;
	uint64_t arm_delay; /* accesses that arming takes; estimates only */
	bool watch_lines;   /* a register watches a whole line, else 8 bytes;
			       estimates only */
	bool software;      /* estimates watch many lines, and no registers */
	bool children;
	bool exact;       /* every access through the directory */
	bool paths;       /* the calls that led to detections */
	bool trace;       /* write a trace; nothing is sampled */
	bool quick;       /* a trace for a profile: quick.h */
	const char *pipe; /* to write it to; NULL: a file in out */
	enum emu_roi roi;
	uint64_t roi_begin, roi_end;
	bool scatter; /* spread threads over sockets, else core by core */
	/* A file, or "text:" and its content; NULL: the host's cores. */
	const char *topology;
	struct cache_sets_config caches; /* no levels: simulate none */
	uint64_t delay_ns, duration_ns;  /* duration 0: to the end */
};

/*
 * Returns 0, or -EINVAL with one line for the user in @error. Context: set-up.
 */
int emu_config_read(struct emu_config *c, int argc, char *const *argv,
		    char *error, size_t size);

/*
 * Write the settings as arguments of a plugin, ",NAME=VALUE...", with @run as
 * the run and @seed as the seed. Commas in values are doubled, as QEMU wants.
 * Returns 0, or -ENAMETOOLONG if @size is too small.
 */
int emu_config_arguments(char *to, size_t size, int argc, char *const *argv,
			 const char *run, uint64_t seed);

#endif
