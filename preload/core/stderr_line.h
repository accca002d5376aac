/* SPDX-License-Identifier: MIT */
#ifndef COMDET_PRELOAD_CORE_STDERR_LINE_H
#define COMDET_PRELOAD_CORE_STDERR_LINE_H

/* Remember what standard error is. Context: set-up, once. */
void say_init(void);

/* "comdet: @text" on standard error, if that does no harm. Any context. */
void say(const char *text);

#endif
