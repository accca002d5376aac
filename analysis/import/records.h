/* SPDX-License-Identifier: MIT */
/*
 * records - the records that are no samples: task events and losses
 */
#ifndef COMDET_ANALYSIS_IMPORT_RECORDS_H
#define COMDET_ANALYSIS_IMPORT_RECORDS_H

#include <stddef.h>

#include "import.h"

/*
 * Take @record, whose header is @h. A record that is too short for its type is
 * counted and left out. Returns 0, or -errno with @im->error set.
 */
int import_record(struct import *im, const struct perf_event_header *h,
		  const void *record, size_t bytes);

#endif
