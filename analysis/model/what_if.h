/* SPDX-License-Identifier: MIT */
/*
 * what_if - what single changes of a machine would bring a program
 *
 * The trace is simulated on the machine, and on machines each of which differs
 * in one way: one of its parts is twice as large or fast, or perfect.
 */
#ifndef COMDET_ANALYSIS_MODEL_WHAT_IF_H
#define COMDET_ANALYSIS_MODEL_WHAT_IF_H

#include "simulate.h"

enum {
	WHAT_IF_ROWS = 24
};

struct what_if_row {
	const char *change; /* in words; of the first "as it is" */
	double ns;
	double gain; /* share of the time of the machine as it is */
	double cycles[CPI_COMPONENTS]; /* of all threads, in ns */
};

struct what_if {
	/* As it is, then what gains most. */
	struct what_if_row row[WHAT_IF_ROWS];
	size_t rows;
};

/*
 * @jobs machines are simulated at a time. Returns 0, or -EINVAL with one line
 * for the user in @error.
 */
int what_if(struct what_if *w, const struct trace *t, const struct machine *m,
	    unsigned int jobs, char error[TRACE_ERROR_BYTES]);

void what_if_print_text(const struct what_if *w, const struct machine *m);

/* One object, in one line. */
void what_if_print_json(const struct what_if *w, const struct machine *m);

#endif
