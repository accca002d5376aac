/* SPDX-License-Identifier: MIT */
/*
 * notify - tell systemd how we are, through libsystemd where there is one
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

#include "notify.h"
#include "analysis/base/util.h"

static int (*sd_notify)(int unset, const char *state);
static int (*sd_watchdog_enabled)(int unset, uint64_t *us);

void notify_init(void)
{
	void *library;

	if (!getenv("NOTIFY_SOCKET"))
		return;
	library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		warn("systemd is not told that we run: libsystemd.so.0 is "
		     "missing; install the package libsystemd0");
		return;
	}
	*(void **)&sd_notify = dlsym(library, "sd_notify");
	*(void **)&sd_watchdog_enabled = dlsym(library, "sd_watchdog_enabled");
}

void notify(const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (!sd_notify)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	sd_notify(0, text);
	free(text);
}

uint64_t notify_watchdog_ns(void)
{
	uint64_t us = 0;

	if (!sd_watchdog_enabled || sd_watchdog_enabled(0, &us) <= 0)
		return 0;
	return us * 1000 / 2;
}
