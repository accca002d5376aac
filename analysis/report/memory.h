/* SPDX-License-Identifier: MIT */
/*
 * memory - which level of the memory system data came from
 */
#ifndef COMDET_ANALYSIS_REPORT_MEMORY_H
#define COMDET_ANALYSIS_REPORT_MEMORY_H

#include "report.h"

/* Print it; nothing if the source did not say. */
void report_memory(struct report *r);

/* The object "memory"; NULL if the source did not say. */
struct json_t *report_memory_json(struct report *r);

#endif
