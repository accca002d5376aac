/* SPDX-License-Identifier: MIT */
/*
 * csv - a table as comma-separated values (RFC 4180, lines end in \n)
 */
#ifndef COMDET_ANALYSIS_EXPORT_CSV_H
#define COMDET_ANALYSIS_EXPORT_CSV_H

#include <stdio.h>

#include "tables.h"

/*
 * The first line names the columns. Characters that control a terminal become
 * \xNN, because these files are looked at there, too.
 */
void csv_write(FILE *f, const struct table *t);

#endif
