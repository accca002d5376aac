/* SPDX-License-Identifier: MIT */
/*
 * stderr_line - one line on the program's standard error
 */
#ifndef COMDET_PRELOAD_CORE_STDERR_LINE_H
#define COMDET_PRELOAD_CORE_STDERR_LINE_H

/* Remember what standard error is. Context: set-up, once. */
void stderr_line_init(void);

/* "comdet: @text" on standard error, if that does no harm. Any context. */
void stderr_line(const char *text);

#endif
