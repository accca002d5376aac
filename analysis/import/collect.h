/* SPDX-License-Identifier: MIT */
/*
 * collect - read a whole recording, and keep its memory samples
 */
#ifndef COMDET_ANALYSIS_IMPORT_COLLECT_H
#define COMDET_ANALYSIS_IMPORT_COLLECT_H

#include "import.h"

/*
 * Read all of @fd into the zeroed @im, ordered by time. Returns 0, or -errno
 * with @im->error set to one line that continues "FILE ". The caller calls
 * import_release() in either case.
 */
int import_collect(struct import *im, int fd);

#endif
