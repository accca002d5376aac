/* SPDX-License-Identifier: MIT */
/*
 * write - one process of a recording becomes a .cdp file
 */
#ifndef COMDET_ANALYSIS_IMPORT_WRITE_H
#define COMDET_ANALYSIS_IMPORT_WRITE_H

#include "import.h"

/* What all processes of a recording have in common. */
struct import_run {
	const char *file; /* as the user named it */
	const char *run_id;
	uint32_t main_process; /* the one whose file has the losses */
	uint64_t gap;          /* ns between a thread's samples, median */
	uint64_t mean_period;
	uint64_t start, end; /* time of the first and the last sample */
};

void import_plan(const struct import *im, struct import_run *run);

/*
 * Write process @p into @dirfd and add its detections to *@detections. Returns
 * 0, or -errno with @im->error set; then the file may exist.
 */
int import_write(struct import *im, const struct import_run *run, uint32_t p,
		 int dirfd, uint64_t *detections);

#endif
