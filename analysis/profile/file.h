/* SPDX-License-Identifier: MIT */
/*
 * file - one .cdp file becomes a process of a profile, with its rows
 */
#ifndef COMDET_ANALYSIS_PROFILE_FILE_H
#define COMDET_ANALYSIS_PROFILE_FILE_H

#include "profile.h"

/*
 * Add the file @name in the directory @dirfd. Its threads, pairs and reuses are
 * appended as rows. Of a file that cannot be read to its end only the name is
 * added, to @p->bad.
 */
void profile_add_file(struct profile *p, int dirfd, const char *name);

/* Order its mappings, so that process_map() finds them. */
void process_order_maps(struct process *s);

void process_release(struct process *s);

#endif
