/* SPDX-License-Identifier: MIT */
/*
 * sample_log - every sample of one process, to check how they are chosen
 *
 * COMDET_SAMPLE_LOG names the file: records in the order of their samples, as
 * far as there is room. A record of length 0 is none.
 */
#ifndef COMDET_STORE_SAMPLE_LOG_H
#define COMDET_STORE_SAMPLE_LOG_H

#include <stdint.h>

enum {
	SAMPLE_LOG_RECORDS = 1 << 20,
};

struct sample_log_record {
	uint64_t addr, ip;
	uint32_t len;    /* bytes */
	uint32_t flags;  /* ACCESS_* */
	uint32_t kind;   /* enum sample_kind */
	uint32_t thread; /* id of its row */
};
_Static_assert(sizeof(struct sample_log_record) == 32, "sample_log_record");

#endif
