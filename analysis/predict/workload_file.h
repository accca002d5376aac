/* SPDX-License-Identifier: MIT */
/*
 * workload_file - profiles as .profile files
 *
 * docs/profile.md describes the format. The file may hold anything: what does
 * not fit becomes an error.
 */
#ifndef COMDET_ANALYSIS_PREDICT_WORKLOAD_FILE_H
#define COMDET_ANALYSIS_PREDICT_WORKLOAD_FILE_H

#include "workload.h"

#define WORKLOAD_MAGIC "CDPROFL"

enum {
	WORKLOAD_BYTES_MAX = 1 << 30, /* of the content */

	/* In the flags: made by record --quick. */
	WORKLOAD_QUICK = 1,
};

/* What the file begins with; the content follows. */
struct workload_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint64_t bytes;  /* of the content */
	uint64_t stored; /* bytes in the file; fewer: a frame of zstd */
	uint32_t check;  /* trace_check of the bytes in the file */
	uint32_t flags;  /* WORKLOAD_QUICK; readers ignore others */
	uint64_t spare[3];
};

/*
 * Write @w to the file @path, which must not exist. Returns 0, or -errno with a
 * line for the user in @error.
 */
int workload_file_write(const struct workload *w, const char *path,
			char error[WORKLOAD_ERROR_BYTES]);

/* Returns 0, or -EINVAL with a line for the user in @error. */
int workload_file_read(struct workload *w, const char *path,
		       char error[WORKLOAD_ERROR_BYTES]);

/* True if the file @path begins as a profile. */
bool workload_file_is(const char *path);

#endif
