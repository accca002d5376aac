/* SPDX-License-Identifier: MIT */
/*
 * files - the profiles in an output directory, one by one
 */
#ifndef COMDET_ANALYSIS_RECORD_FILES_H
#define COMDET_ANALYSIS_RECORD_FILES_H

/* Call @each with @ctx for each name in @dirfd that ends in .cdp. */
void record_each_file(int dirfd,
		      void (*each)(void *ctx, int dirfd, const char *name),
		      void *ctx);

#endif
