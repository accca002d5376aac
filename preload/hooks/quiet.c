/* SPDX-License-Identifier: MIT */
/*
 * quiet - stop the samples while a signal of the application's is held
 */
#include "preload/signal/quiet.h"
#include "preload/start/stop.h"

__attribute__((constructor(102))) static void be_told(void)
{
	signal_when_quiet(runtime_quiet);
}
