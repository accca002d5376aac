/* SPDX-License-Identifier: MIT */
/*
 * config - what is asked of libcomdet-qemu.so
 *
 * NAME=VALUE after the plugin's path on QEMU's command line, else the
 * environment's COMDET_NAME; `reusetrack record` sets the latter.
 */
#ifndef COMDET_PRELOAD_EMU_CONFIG_H
#define COMDET_PRELOAD_EMU_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/exact/cache_sets.h"

enum {
	EMU_PERIOD_DEFAULT = 100000,
	EMU_PERIOD_MIN = 100, /* below it samples are all that happens */
};
enum {
	EMU_SLOTS_DEFAULT = 4096,
};
enum {
	EMU_SLICE_DEFAULT = 200,
};
#define EMU_SLICE_AUTO UINT64_MAX
#define EMU_SLICE_MAX  UINT64_C(1000000000)
#define EMU_PERIOD_MAX UINT64_C(1000000000000)

enum emu_algorithm {
	EMU_COMDETECTIVE, /* a map */
	EMU_EPOCH,        /* estimates: engine/transfer.h */
	EMU_CHAIN
};

enum emu_pmu {
	EMU_PMU_PEBS, /* loads and stores each have a counter */
	EMU_PMU_IBS,  /* one counter for both */
};

struct emu_config {
	const char *out;
	const char *run; /* ID:PID OF THE ROOT:DIRECTORY, NULL without */
	uint64_t period; /* accesses, 0: count and sample nothing */
	uint64_t seed;   /* 0: a random one */
	/*
	 * Accesses of a thread's turn, 0: all run at once, EMU_SLICE_AUTO:
	 * turns of EMU_SLICE_DEFAULT while more threads run than there are
	 * cores.
	 */
	uint64_t slice;
	uint32_t registers, board_slots;
	uint32_t modes;         /* CDP_MODE_*, what to measure */
	uint32_t granularities; /* bits by enum reuse_granularity */
	uint64_t
		slots; /* uses watched at once, of each scope and granularity */
	enum emu_pmu pmu;
	enum emu_algorithm algorithm;
	uint64_t arm_delay; /* accesses that arming takes; estimates only */
	bool watch_lines;   /* whole lines, else 8 bytes a register; the same */
	bool children;
	bool exact;   /* every access through the directory */
	bool scatter; /* threads over sockets, else core by core */
	/* A file, or "text:" and what would be in it; NULL: the host's cores */
	const char *topology;
	struct cache_sets_config caches; /* to simulate; without levels: none */
	uint64_t delay_ns, duration_ns;  /* duration 0: to the end */
};

/*
 * Returns 0, or -EINVAL with one line for people in @error. Context: set-up.
 */
int emu_config_read(struct emu_config *c, int argc, char *const *argv,
		    char *error, size_t size);

/*
 * The settings as arguments for a plugin, ",NAME=VALUE..." with commas in
 * values doubled as QEMU wants it, @run in place of what there was. Returns
 * -ENAMETOOLONG if @size is too small.
 */
int emu_config_arguments(char *to, size_t size, int argc, char *const *argv,
			 const char *run);

#endif
