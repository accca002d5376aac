/* SPDX-License-Identifier: MIT */
/*
 * forward - treat a signal as the application would without us
 */
#ifndef COMDET_PRELOAD_SIGNAL_FORWARD_H
#define COMDET_PRELOAD_SIGNAL_FORWARD_H

#include <signal.h>

/*
 * Treat @info as the application would have without us: its handler with its
 * flags and mask, its default action, or ignore; held back while the
 * application has @sig blocked. Context: handler.
 */
void signal_forward(int sig, siginfo_t *info, void *context);

/*
 * Call @fn from then on whenever a signal of the application's is held back,
 * which may be for a signalfd. Context: constructor; @fn runs in the handler.
 */
void signal_when_held(void (*fn)(void));

#endif
