/* SPDX-License-Identifier: MIT */
/*
 * source_table - the sources that libcomdet.so has
 */
#ifndef COMDET_PRELOAD_START_SOURCE_TABLE_H
#define COMDET_PRELOAD_START_SOURCE_TABLE_H

#include "preload/core/source.h"

/*
 * Asked in this order whether they are the source of the process; the last one
 * always says yes. NULL ends the table.
 */
extern const struct source_ops *const source_table[];

#endif
