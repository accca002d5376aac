/* SPDX-License-Identifier: MIT */
/*
 * print - the rows of accuracy as tables and as JSON
 */
#ifndef COMDET_ANALYSIS_ACCURACY_PRINT_H
#define COMDET_ANALYSIS_ACCURACY_PRINT_H

#include "accuracy.h"

void accuracy_print_suite(const struct accuracy_suite *s);

/* Print the rows from @first on as a table in plain words. */
void accuracy_print_rows(const struct accuracy *all, size_t first);

/* Print all rows as one JSON object. */
void accuracy_print_json(const struct accuracy *all);

#endif
