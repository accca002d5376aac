/* SPDX-License-Identifier: MIT */
/*
 * sharing_probe - measure what sharing a line costs on this machine
 *
 * Two threads on two processors repeat an access, first on words of one cache
 * line, then on lines of their own. In a virtual machine processors move, and a
 * line's way is short or long; so the probe belongs beside the run.
 */
#ifndef COMDET_ANALYSIS_RECORD_SHARING_PROBE_H
#define COMDET_ANALYSIS_RECORD_SHARING_PROBE_H

#include "analysis/profile/sharing_cost.h"

/*
 * Takes some 60 ms of two processors, on a busy machine up to a second. False
 * if this process may use only one, if threads cannot be made, or if others
 * keep taking the processors: accesses that do not happen at the same time cost
 * nothing.
 */
bool sharing_probe(struct sharing_cost *c);

#endif
