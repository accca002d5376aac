/* SPDX-License-Identifier: MIT */
/*
 * record - exit codes of record itself, besides the program's
 */
#ifndef COMDET_ANALYSIS_RECORD_RECORD_H
#define COMDET_ANALYSIS_RECORD_RECORD_H

enum {
	RECORD_FAILED = 125,
	RECORD_CANNOT_RUN = 126,
	RECORD_NOT_FOUND = 127
};

/* Set in the environment of a recording that is removed at once. */
#define RECORD_TEMPORARY "REUSETRACK_TEMPORARY"

#endif
