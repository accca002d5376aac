/* SPDX-License-Identifier: MIT */
/*
 * perf_data_internal - what the files of perf_data share
 */
#ifndef COMDET_ANALYSIS_IMPORT_PERF_DATA_INTERNAL_H
#define COMDET_ANALYSIS_IMPORT_PERF_DATA_INTERNAL_H

#include "perf_data.h"

/* perf_data_header.c: read the attributes and features of a file. */
int perf_data_read_attrs(struct perf_data *d, uint64_t offset, uint64_t bytes,
			 uint64_t stride);
int perf_data_read_features(struct perf_data *d, const uint64_t flags[4],
			    uint64_t offset);
/* Take the same from records of a stream. */
int perf_data_take_attr(struct perf_data *d, const char *at, size_t bytes);
int perf_data_take_feature(struct perf_data *d, uint64_t feature,
			   const char *at, size_t bytes);
int perf_data_take_update(struct perf_data *d, const char *at, size_t bytes);
int perf_data_take_build_id(struct perf_data *d, const char *at, size_t bytes);
/*
 * Refuse a recording of another architecture, or whose ids are at varying
 * places.
 */
int perf_data_check(struct perf_data *d);

/* perf_data_kind.c: set what @e samples, as far as is known so far. */
void perf_data_name_kind(const struct perf_data *d, struct perf_data_event *e);

/*
 * perf_data_inflate.c: inflate the compressed @bytes at @at into d->inflated.
 */
int perf_data_inflate(struct perf_data *d, const char *at, size_t bytes);
void perf_data_inflate_end(struct perf_data *d);

#endif
