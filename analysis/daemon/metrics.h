/* SPDX-License-Identifier: MIT */
/*
 * metrics - what the daemon has seen, as OpenMetrics
 *
 * Labels name processes, kinds of sharing and causes of losses, never lines or
 * places in code: their number is bounded.
 */
#ifndef COMDET_ANALYSIS_DAEMON_METRICS_H
#define COMDET_ANALYSIS_DAEMON_METRICS_H

#include "daemon.h"

/* malloc'ed */
char *metrics_text(const struct machine_watch *w);

#endif
