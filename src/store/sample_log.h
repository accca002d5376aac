/* SPDX-License-Identifier: MIT */
/*
 * sample_log - every sample of one process, to check how they are chosen
 *
 * COMDET_SAMPLE_LOG names the file. It holds records in the order of their
 * samples, while there is room. A record of length 0 is unused.
 */
#ifndef COMDET_STORE_SAMPLE_LOG_H
#define COMDET_STORE_SAMPLE_LOG_H

#include <stdint.h>

#include "cdp.h"
#include "src/base/access.h"

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

/*
 * Create the file. Returns 0 or -errno. Context: set-up.
 */
int sample_log_open(const char *path);

/* Add nothing more, as in a forked child: the file is its parent's. */
void sample_log_close(void);

/* Add a sample of thread @thread if the file is open. Any context. */
void sample_log_add(uint32_t thread, const struct access *a,
		    enum sample_kind kind);

#endif
