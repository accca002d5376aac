/* SPDX-License-Identifier: MIT */
/*
 * fake_epochs - threads with epochs and events, written down by hand
 */
#ifndef COMDET_FAKE_EPOCHS_H
#define COMDET_FAKE_EPOCHS_H

#include <check.h>
#include <string.h>

#include "analysis/model/sync_replay.h"

enum {
	THREADS = 8,
	EPOCHS = 32,
};

static struct sync_epoch epoch[THREADS][EPOCHS];
static struct sync_thread thread[THREADS];
static struct sync_options options;
static struct sync_replay replay;
static char error[SYNC_ERROR_BYTES];
static uint32_t threads;

static inline void begin(void)
{
	memset(epoch, 0, sizeof(epoch));
	memset(thread, 0, sizeof(thread));
	memset(&replay, 0, sizeof(replay));
	options = (struct sync_options){ .cores = THREADS };
	threads = 0;
}

static inline void end(void)
{
	sync_replay_release(&replay);
}

/* A further thread; returns its number. */
static inline uint32_t add_thread(bool starts)
{
	thread[threads].epoch = epoch[threads];
	thread[threads].starts = starts;
	return threads++;
}

static inline struct sync_event *add(uint32_t t, double duration,
				     enum sync_kind kind, uint64_t object)
{
	struct sync_epoch *e = &epoch[t][thread[t].epochs++];

	e->duration = duration;
	e->event = (struct sync_event){ .kind = kind,
					.object = object,
					.where = 0x1000 + thread[t].epochs };
	return &e->event;
}

static inline void add_end(uint32_t t, double duration)
{
	add(t, duration, SYNC_EXIT, 0);
}

static inline void run(void)
{
	int err = sync_replay(&replay, thread, threads, &options, error);

	ck_assert_msg(!err, "%s", error);
}

static inline void check(uint32_t t, double start, double finish, double waited)
{
	ck_assert_double_eq(replay.time[t].start, start);
	ck_assert_double_eq(replay.time[t].end, finish);
	ck_assert_double_eq(replay.time[t].waited, waited);
}

static inline void check_fails(const char *words)
{
	ck_assert(sync_replay(&replay, thread, threads, &options, error));
	ck_assert_msg(strstr(error, words), "'%s' is not in '%s'", words,
		      error);
}

#endif
