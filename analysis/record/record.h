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

/* In the environment of record: a pipe that takes the trace. */
#define RECORD_TRACE_PIPE "REUSETRACK_TRACE_PIPE"

#endif
