/* SPDX-License-Identifier: MIT */
/*
 * file - the .cdp file of a watched process
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_FILE_H
#define COMDET_ANALYSIS_OUTSIDE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/engine/comm.h"
#include "src/pmu/plan.h"
#include "src/store/store.h"
#include "src/store/time_slices.h"

/* What all processes of one watcher have in common. */
struct outside_run {
	int dirfd;
	const char *run_id;
	uint64_t period;              /* ns; of the plan, if there is one */
	const struct pmu_plan *plan;  /* of pebs or ibs, NULL: the clock */
	int registers;                /* of a thread, in use */
	const char *registers_reason; /* why not four, or "" */
	const struct comm *comm;
};

/* Zero-initialized, it is not open. */
struct outside_file {
	bool open;
	pid_t pid;
	struct store store;
	struct store_writer rows, maps;
	struct slice_samples samples;
};

/*
 * Create the file of process @pid, which has @number among those that are
 * watched. Returns 0 or -errno; then nothing is left behind.
 */
int file_open(struct outside_file *f, const struct outside_run *run, pid_t pid,
	      uint32_t number);

/* Write a mapping, with the build-id of its file; for struct space_sink. */
void file_mapping(void *file, const struct cdp_map *m);

/*
 * A row for thread @tid, live from @now on, with @id; NULL if there is no room.
 */
struct cdp_thread *file_row(struct outside_file *f, uint32_t id, pid_t tid,
			    const char *name, uint64_t now);

/* Signal @sig ended the process, if that is not 0. Before file_close(). */
void file_ended_by(struct outside_file *f, int sig);

/* The process ended so, or we stop watching it; @note may be "". */
void file_close(struct outside_file *f, enum cdp_state state, uint64_t now,
		uint64_t cpu_ns, const char *note);

#endif
