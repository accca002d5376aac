/* SPDX-License-Identifier: MIT */
/*
 * own_event - a perf event of ours among the descriptors of the application
 *
 * Low numbers are the application's, so an event's descriptor is moved up. The
 * application may still close it, or put a file of its own in its place: before
 * it is closed the kernel is asked whether it is the event that was opened.
 *
 * Context: any. Nothing here locks; an event is one thread's at a time.
 */
#ifndef COMDET_PRELOAD_WATCH_OWN_EVENT_H
#define COMDET_PRELOAD_WATCH_OWN_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/engine/comm.h"

struct own_event {
	_Atomic int fd; /* -1: none */
	bool on;        /* own_event_set switched it on; it still is */
	uint64_t id;    /* the kernel's id of the event that was opened */
};

/*
 * Each occurrence in user mode signals the thread with SIGTRAP at once, with
 * @data in the siginfo. The caller says what occurs: its period is 1.
 */
struct perf_event_attr own_event_attr(uint32_t type, uint64_t data);

/* The same for accesses to @range; @type is HW_BREAKPOINT_RW, _W or _X. */
struct perf_event_attr own_event_breakpoint(uint32_t type,
					    const struct watch_range *range,
					    uint64_t data);

/*
 * Open @a for the calling thread as a descriptor of at least @base, switched
 * off. @group is the leader's descriptor, or -1. Returns 0 or -errno, -EMFILE
 * if no such number was left; then @e has no descriptor.
 */
int own_event_open(struct own_event *e, struct perf_event_attr *a, int group,
		   int base);

/* Does the descriptor still stand for the event that was opened? */
bool own_event_is_open(const struct own_event *e);

/* Give it other attributes; it is on unless they say disabled. 0 or -errno. */
int own_event_set(struct own_event *e, const struct perf_event_attr *a);

/* Switch it off if own_event_set switched it on. */
void own_event_off(struct own_event *e);

/*
 * Is @fd the descriptor of an event of ours? A system call only if it was one.
 */
bool own_event_has(int fd);

/* Close it if it is still ours; it has no descriptor afterwards. */
void own_event_close(struct own_event *e);

#endif
