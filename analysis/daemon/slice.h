/* SPDX-License-Identifier: MIT */
/*
 * slice - watch some processes for a while, in a child of ours
 *
 * Code, maps and memory of the targets are foreign. A child reads them: if it
 * crashes or hangs, the daemon goes on with the next slice, and whatever
 * descriptors and memory a slice took are gone with the child.
 */
#ifndef COMDET_ANALYSIS_DAEMON_SLICE_H
#define COMDET_ANALYSIS_DAEMON_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "child.h"
#include "src/base/loss.h"
#include "src/store/cdp.h"

enum {
	SLICE_PROCESSES = 16,  /* that are watched at once */
	SLICE_FOUND = 64,      /* processes and what they exec, in results */
	SLICE_NUMBERS = 65536, /* that one slice may give to processes */
};

struct slice_options {
	int dirfd;
	const char *path, *run_id; /* of the same directory */
	uint64_t period;           /* ns */
	int registers;
	uint64_t duration; /* ns */
	uint32_t numbered; /* processes in this directory so far, or more */
};

/* What was seen of one process. */
struct slice_process {
	pid_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
	char name[16];
	uint64_t samples, detections[SHARING_KINDS];
	uint64_t watched_ns; /* time, not CPU time */
};

/* A child writes it, the daemon reads it when the child has ended. */
struct slice_found {
	uint64_t interrupts, disturbances; /* of the targets, by us */
	uint64_t samples;
	uint64_t loss[CDP_LOSS_MAX];
	uint32_t processes; /* the child may have been damaged: check it */
	struct slice_process process[SLICE_FOUND];
};

struct slice {
	struct child child;
	uint64_t began_ms; /* CLOCK_REALTIME, of the last one */
	uint64_t cpu_ns;   /* of all children so far */
	struct slice_found *found;
};

/* Set-up; dies for want of memory. */
void slice_init(struct slice *s);

/*
 * Begin to watch the @n processes @pid. SIGTERM to the child ends that early,
 * and well. Returns 0 or -errno.
 */
int slice_begin(struct slice *s, const struct slice_options *o,
		const pid_t *pid, size_t n);

/*
 * The child has ended, or is waited for: take what it found, in s->found.
 * False if it failed or crashed.
 */
bool slice_end(struct slice *s);

void slice_release(struct slice *s);

#endif
