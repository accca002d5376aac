/* SPDX-License-Identifier: MIT */
/*
 * reference - results of another simulator, from a table of them
 *
 * A text table with commas: the first line names the columns, of which these
 * are read: kernel, threads, config, quantum_ns, predictor, core,
 * instructions, cycles, l1d_miss, l2_miss, llc_miss, branch_mispredict.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_REFERENCE_H
#define COMDET_ANALYSIS_ACCURACY_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

enum {
	REFERENCE_WORD = 32,
	REFERENCE_MISSES = 3, /* l1d, l2, llc */
};

/* One core of one simulation. */
struct reference_row {
	char kernel[REFERENCE_WORD], config[REFERENCE_WORD];
	char predictor[REFERENCE_WORD];
	uint32_t threads, core;
	double quantum_ns;
	double instructions, cycles;
	double miss[REFERENCE_MISSES], mispredicted;
};

struct reference {
	struct reference_row *row;
	size_t rows, room;
};

/*
 * Read the table @path. Dies if it lacks a column or has a line that is no
 * row.
 */
void reference_read(struct reference *r, const char *path);
void reference_release(struct reference *r);

/*
 * The row of @core in the simulation of @kernel with this configuration,
 * predictor and number of threads, of those with the smallest quantum; NULL if
 * there is none.
 */
const struct reference_row *reference_find(const struct reference *r,
					   const char *kernel,
					   const char *config,
					   const char *predictor,
					   uint32_t threads, uint32_t core);

#endif
