/* SPDX-License-Identifier: MIT */
/*
 * workers - threads that do parts of the same work
 */
#ifndef COMDET_ANALYSIS_BASE_WORKERS_H
#define COMDET_ANALYSIS_BASE_WORKERS_H

/*
 * Call work(@data) in @n threads, the calling one among them, or in fewer if no
 * more can be made. Returns when all have returned.
 */
void workers_run(void *(*work)(void *), void *data, unsigned int n);

#endif
