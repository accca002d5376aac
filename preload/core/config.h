/* SPDX-License-Identifier: MIT */
/*
 * config - what the environment asks of libcomdet.so
 *
 * The twins of `reusetrack record`'s options. A bad value switches profiling
 * off with one line; it never stops the program.
 */
#ifndef COMDET_PRELOAD_CORE_CONFIG_H
#define COMDET_PRELOAD_CORE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "src/pmu/asked.h"
#include "src/store/cdp.h"

enum {
	CONFIG_FREQ_DEFAULT = 200,
	CONFIG_BUDGET_DEFAULT = 50000, /* where no rate is asked for */
	CONFIG_FREQ_MAX = 20000,
	CONFIG_LDLAT_MAX = 65535
};

enum config_source {
	SOURCE_AUTO,
	SOURCE_CLOCK,
	SOURCE_PEBS,
	SOURCE_IBS
};

struct config {
	uint32_t modes; /* CDP_MODE_* */
	const char *out;
	const char *run; /* COMDET_RUN; NULL: this process begins the run */
	const char *sample_log; /* COMDET_SAMPLE_LOG: a debugging aid */
	enum config_source source;
	uint32_t freq;   /* samples a second of CPU time, clock */
	uint32_t budget; /* millionths of CPU time, clock; 0: freq is fixed */
	uint32_t period; /* events or ops a sample, pebs and ibs; 0: default */
	uint32_t ldlat;  /* pebs: only loads of this many cycles; 0: all */
	struct pmu_asked asked; /* pebs: the events to sample */
	uint32_t registers;     /* use at most this many */
	bool registers_asked;   /* the user says how many */
	uint32_t board_slots;
	uint32_t stalled_percent;
	bool paused; /* --delay -1: until the program says comdet_resume() */
	uint64_t delay_ns, duration_ns; /* duration 0: until the end */
	bool children;
	bool paths;       /* the calls that led to detections; clock */
	bool force_rtsig; /* COMDET_DELIVERY=rtsig */
	bool force_timer; /* COMDET_CLOCK=timer */
};

/*
 * Read the environment @env. On a bad value returns -EINVAL with one line
 * for people in @error. Context: set-up.
 */
int config_read(struct config *c, char *const *env, char *error,
		unsigned int size);

/*
 * The modes that COMDET_MODE in @env asks for, CDP_MODE_*; 0 if it names none
 * that we know. Context: set-up.
 */
uint32_t config_modes(char *const *env);

/* The value of @name in @env, or NULL; getenv may be the application's own. */
const char *config_get(char *const *env, const char *name);

#endif
