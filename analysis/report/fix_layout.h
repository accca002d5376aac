/* SPDX-License-Identifier: MIT */
/*
 * fix_layout - the members of the objects on a line, where they are, and where
 * cache lines begin
 */
#ifndef COMDET_ANALYSIS_REPORT_FIX_LAYOUT_H
#define COMDET_ANALYSIS_REPORT_FIX_LAYOUT_H

#include <jansson.h>

#include "fields.h"

void fix_layout_print(struct report *r, const struct fields *f,
		      const struct byte_map *m);
json_t *fix_layout_json(const struct fields *f, const struct byte_map *m);

#endif
