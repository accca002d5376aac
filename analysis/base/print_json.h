/* SPDX-License-Identifier: MIT */
/*
 * print_json - the answer of a verb with --json
 */
#ifndef COMDET_ANALYSIS_BASE_PRINT_JSON_H
#define COMDET_ANALYSIS_BASE_PRINT_JSON_H

#include <jansson.h>

/*
 * Print @o on stdout and release it; NULL is a lack of memory, of which it
 * dies. Returns 0, or -1 if it could not be written.
 */
int print_json(json_t *o);

#endif
