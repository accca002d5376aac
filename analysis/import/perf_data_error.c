/* SPDX-License-Identifier: MIT */
/*
 * perf_data_error - say why a recording cannot be read
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "perf_data.h"

int perf_data_fail(struct perf_data *d, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(d->error, sizeof(d->error), format, ap);
	va_end(ap);
	return -EBADMSG;
}
