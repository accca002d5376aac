/* SPDX-License-Identifier: MIT */
/*
 * sqlite - all tables as one SQLite database
 */
#ifndef COMDET_ANALYSIS_EXPORT_SQLITE_H
#define COMDET_ANALYSIS_EXPORT_SQLITE_H

#include "tables.h"

/*
 * Make the database @path, which must not exist or be empty. Returns NULL, or
 * what went wrong, valid until the next call; then the file may hold a part.
 */
const char *sqlite_write(const char *path, const struct tables *t);

#endif
