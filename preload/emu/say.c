/* SPDX-License-Identifier: MIT */
/*
 * say - print one line for the user
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

void emu_say(const char *format, ...)
{
	char line[512] = "comdet: ";
	size_t n = strlen(line);
	va_list ap;

	va_start(ap, format);
	vsnprintf(line + n, sizeof(line) - n - 1, format, ap);
	va_end(ap);
	n = strlen(line);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody can read it */
}
