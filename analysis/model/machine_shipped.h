/* SPDX-License-Identifier: MIT */
/*
 * machine_shipped - the machine files that are part of reusetrack
 *
 * The files of analysis/model/machines/, as they were when it was built.
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_SHIPPED_H
#define COMDET_ANALYSIS_MODEL_MACHINE_SHIPPED_H

#include <stddef.h>

/* The text of machine @name; NULL if there is none. */
const char *machine_shipped(const char *name);

/* The name of number @i, and what it is; NULL behind the last. */
const char *machine_shipped_name(size_t i, const char **words);

#endif
