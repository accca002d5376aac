/* SPDX-License-Identifier: MIT */
/*
 * exit_signal - which signal ended a process that is not our child
 *
 * The events of a process tell that it ended, and not how. Until its parent has
 * waited for it, /proc/PID/stat tells; from Linux 6.15 on so does a descriptor
 * of the process after that. On an older kernel a parent that is faster than we
 * are takes the answer with it.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_EXIT_SIGNAL_H
#define COMDET_ANALYSIS_OUTSIDE_EXIT_SIGNAL_H

#include <stdint.h>
#include <sys/types.h>

/* A descriptor of process @pid, to be asked after its end; -1: none. */
int exit_signal_open(pid_t pid);

/*
 * The signal that ended process @pid, whose field 22 of /proc/PID/stat is
 * @start and whose descriptor is @pidfd, or -1; 0 if none did, or it is not
 * known.
 */
int exit_signal_of(pid_t pid, uint64_t start, int pidfd);

#endif
