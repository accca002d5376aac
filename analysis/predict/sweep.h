/* SPDX-License-Identifier: MIT */
/*
 * sweep - predict a program on many machines
 */
#ifndef COMDET_ANALYSIS_PREDICT_SWEEP_H
#define COMDET_ANALYSIS_PREDICT_SWEEP_H

#include "predict.h"
#include "designs.h"

/* A design and what it takes. */
struct sweep_row {
	uint64_t design; /* its number in the space */
	double ns;
	double cost;  /* NAN: none was asked for */
	char *values; /* of the axes, separated by commas; malloc'ed */
};

struct sweep {
	char *names; /* of the axes, in the same way */
	struct sweep_row *row;
	size_t rows, room;
	size_t impossible; /* designs whose values do not fit each other */
	bool quick;        /* the profile is; false after sweep_read */
};

struct sweep_options {
	uint64_t samples; /* random designs; 0: all */
	uint64_t seed;
	unsigned int jobs;
	uint32_t shard, shards; /* from 0 on: of so many parts, this one */
	const char *cost;       /* an expression, or NULL */
	bool progress;
	size_t leaders; /* micro-traces that are timed (leaders.h); 0: all */
	struct predict_options how;
};

/*
 * Predict @w on the designs of @s, the fastest first. Returns 0, or -EINVAL
 * with a line in @error.
 */
int sweep_run(struct sweep *to, const struct workload *w,
	      const struct designs *s, const struct sweep_options *options,
	      char error[MACHINE_ERROR_BYTES]);
void sweep_release(struct sweep *s);

/*
 * The table as text with commas, and back: add the rows of @path to @s.
 * sweep_read returns 0, or -EINVAL with a line in @error.
 */
void sweep_write(const struct sweep *s, FILE *f);
int sweep_read(struct sweep *s, const char *path,
	       char error[MACHINE_ERROR_BYTES]);
/* The fastest first, each design once. */
void sweep_sort(struct sweep *s);

/* True if no row is both faster and cheaper than row @i of a sorted table. */
bool sweep_is_front(const struct sweep *s, size_t i);

#endif
