/* SPDX-License-Identifier: MIT */
/*
 * kernels - small programs, and what another simulator made of them
 *
 * A folder has the sources in kernels/ and the table results.csv. Each program
 * is built and its region of interest traced.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_KERNELS_H
#define COMDET_ANALYSIS_ACCURACY_KERNELS_H

#include "accuracy.h"
#include "reference.h"

enum {
	KERNELS_SKIPPED = 77, /* exit status where the folder is absent */
	KERNELS_MAX = 256,
	KERNELS_CUT_OFF = 600, /* instructions that the reference leaves out */
};

struct kernels {
	const char *suite; /* for messages */
	char *folder;
	const char *work; /* where programs and traces go */
	char *name[KERNELS_MAX];
	size_t n;
	struct reference reference;
};

/*
 * Find them in @folder; NULL: where the project keeps it. Exits with
 * KERNELS_SKIPPED and one line if they are not there, or cannot be built here.
 */
void kernels_open(struct kernels *k, const char *suite, const char *folder,
		  const char *keep);
void kernels_close(struct kernels *k);

/* Build and trace @name; the directory of the trace, malloc'ed. */
char *kernels_trace(const struct kernels *k, const char *name);

#endif
