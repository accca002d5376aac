/* SPDX-License-Identifier: MIT */
/*
 * rights - keep what watching needs, and drop everything else
 */
#ifndef COMDET_ANALYSIS_DAEMON_RIGHTS_H
#define COMDET_ANALYSIS_DAEMON_RIGHTS_H

/*
 * Keep CAP_PERFMON and CAP_SYS_PTRACE of our capabilities, if we have them, in
 * all sets; our programs can gain no others. Dies if the kernel refuses.
 */
void rights_drop(void);

#endif
