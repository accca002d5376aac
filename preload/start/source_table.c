/* SPDX-License-Identifier: MIT */
/*
 * source_table - the sources that libcomdet.so has
 */
#include <stddef.h>

#include "source_table.h"
#include "preload/instr/source.h"
#include "preload/sources/clock/clock_source.h"
#include "preload/sources/pmu/pmu_source.h"

const struct source_ops *const source_table[] = {
	&instr_source,
	&pmu_source,
	&clock_source,
	NULL,
};
