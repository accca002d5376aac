/* SPDX-License-Identifier: MIT */
/*
 * timeline - what each thread did when, as a picture
 *
 * Time is cut into at most TIMELINE_BINS equal bins, which grow when the
 * simulation becomes longer. Each has the cycles of a thread by component of
 * the CPI stack. What happened between two notes is spread evenly over the time
 * between them.
 */
#ifndef COMDET_ANALYSIS_MODEL_TIMELINE_H
#define COMDET_ANALYSIS_MODEL_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cpi_stack.h"

enum {
	TIMELINE_BINS = 512
};

struct timeline_thread {
	uint32_t id;
	double from;           /* of the latest note */
	struct cpi_stack last; /* what it said */
	double bin[TIMELINE_BINS][CPI_COMPONENTS];
};

struct timeline {
	double width; /* cycles of a bin */
	struct timeline_thread *thread;
	size_t threads;
};

void timeline_init(struct timeline *t, size_t threads);
void timeline_release(struct timeline *t);

/* Nothing of thread @i happens before @time. */
void timeline_begin(struct timeline *t, size_t i, double time);

/* From its latest note to @time, thread @i came to @stack. */
void timeline_note(struct timeline *t, size_t i, double time,
		   const struct cpi_stack *stack);

/* The next time at which a note is worth while. */
uint64_t timeline_next(const struct timeline *t, size_t i);

/*
 * Write the picture, an SVG without links to anything else. @ghz turns cycles
 * to time, @title is shown. Returns 0 or -errno.
 */
int timeline_write(const struct timeline *t, const char *title, double ghz,
		   FILE *f);

#endif
