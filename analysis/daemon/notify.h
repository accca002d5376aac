/* SPDX-License-Identifier: MIT */
/*
 * notify - tell systemd how we are, through libsystemd where there is one
 *
 * Without NOTIFY_SOCKET in the environment, nothing happens and the library is
 * not loaded.
 */
#ifndef COMDET_ANALYSIS_DAEMON_NOTIFY_H
#define COMDET_ANALYSIS_DAEMON_NOTIFY_H

#include <stdint.h>

/* Load the library, before rights are dropped. */
void notify_init(void);

/* Send @fmt, as sd_notify(3) has it. */
void notify(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* How often systemd wants to hear "WATCHDOG=1", in ns; 0: never. */
uint64_t notify_watchdog_ns(void);

#endif
