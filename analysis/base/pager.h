/* SPDX-License-Identifier: MIT */
/*
 * pager - let a person read a long text page by page
 */
#ifndef COMDET_ANALYSIS_BASE_PAGER_H
#define COMDET_ANALYSIS_BASE_PAGER_H

/*
 * If standard output is a terminal that can move its cursor, show all that is
 * printed from here on in $PAGER, default less; at its end the process waits
 * until the user leaves the pager. If the user leaves before all is printed,
 * the process ends, with status 0.
 *
 * Without a terminal, with an empty PAGER or "cat", and if the pager cannot be
 * started, nothing changes. Call it once, when nothing can be refused any more,
 * and after asking whether the output is a terminal.
 */
void pager_begin(void);

#endif
