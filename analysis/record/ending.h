/* SPDX-License-Identifier: MIT */
/*
 * ending - write into the profile how the program ended
 *
 * The library does not see a process end that a signal ends, or a system call
 * past the C library (Go's os.Exit). We are its parent and do.
 */
#ifndef COMDET_ANALYSIS_RECORD_ENDING_H
#define COMDET_ANALYSIS_RECORD_ENDING_H

#include "run.h"

/*
 * In the file of the directory @dirfd that is still open for the process @r,
 * write its end and its CPU time; in one that the watcher from outside closed,
 * the signal, if one ended it. What cannot be written is left out.
 */
void ending_note(struct run *r, int dirfd);

#endif
