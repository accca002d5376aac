/* SPDX-License-Identifier: MIT */
/*
 * sync_replay - the times of threads whose epochs have known durations
 *
 * Each thread is a list of epochs: it computes for a duration, and then comes
 * to an event. The replay takes the thread whose next event comes first, so
 * locks go to those that ask first. RPPM (De Pestel et al., ISPASS 2019,
 * Algorithm 2) takes the thread that has come least far instead; that order is
 * a flag. Both agree if there are only barriers and joins.
 */
#ifndef COMDET_ANALYSIS_MODEL_SYNC_REPLAY_H
#define COMDET_ANALYSIS_MODEL_SYNC_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "sync_engine.h"

struct sync_epoch {
	double duration;
	struct sync_event event; /* behind it */
};

struct sync_thread {
	const struct sync_epoch *epoch;
	size_t epochs; /* the thread ends behind the last if that is no EXIT */
	bool starts;   /* at time 0; otherwise a CREATE starts it */
};

/* Epochs that are made when they are needed, so that they take no memory. */
struct sync_source {
	void *data;
	/*
	 * The next epoch of @thread takes *@duration, and this event is behind
	 * it; NULL: the thread ends here.
	 */
	const struct sync_event *(*next)(void *data, uint32_t thread,
					 double *duration);
	/* As in struct sync_thread. */
	bool (*starts)(void *data, uint32_t thread);
};

/* The thread ran on @core from @begin to @end. */
struct sync_interval {
	uint32_t thread, core;
	double begin, end;
};

struct sync_replay {
	double total;                   /* when the last thread ends */
	struct sync_times *time;        /* by thread */
	struct sync_interval *interval; /* in the order of their ends */
	size_t intervals, interval_room;
};

struct sync_options {
	uint32_t cores;
	double call;  /* what each event takes its thread */
	double wake;  /* see sync_engine_new */
	bool literal; /* RPPM's order */
	bool no_intervals;
};

/*
 * Returns 0, or -EINVAL with a line in @error, which names thread, event and
 * instruction. Release the result in both cases.
 */
int sync_replay(struct sync_replay *r, const struct sync_thread *thread,
		uint32_t threads, const struct sync_options *options,
		char error[SYNC_ERROR_BYTES]);
/* The same with the epochs of @source. */
int sync_replay_source(struct sync_replay *r, const struct sync_source *source,
		       uint32_t threads, const struct sync_options *options,
		       char error[SYNC_ERROR_BYTES]);
void sync_replay_release(struct sync_replay *r);

#endif
