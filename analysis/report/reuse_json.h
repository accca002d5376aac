/* SPDX-License-Identifier: MIT */
/*
 * reuse_json - reuse for programs
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_JSON_H
#define COMDET_ANALYSIS_REPORT_REUSE_JSON_H

#include "reuse.h"

/* The streams of @basis; NULL if there are none. */
struct json_t *report_reuse_json(const struct report_reuse *r,
				 enum reuse_basis basis);

/* All sites; NULL if there are none. */
struct json_t *report_reuse_sites_json(const struct report_reuse *r);

#endif
