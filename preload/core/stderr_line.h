/* SPDX-License-Identifier: MIT */
/*
 * stderr_line - one line on the program's standard error
 */
#ifndef COMDET_PRELOAD_CORE_STDERR_LINE_H
#define COMDET_PRELOAD_CORE_STDERR_LINE_H

/* Remember which file standard error is. Context: set-up, once. */
void stderr_line_init(void);

/* Write "comdet: @text" to standard error if that is safe. Any context. */
void stderr_line(const char *text);

#endif
