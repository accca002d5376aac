/* SPDX-License-Identifier: MIT */
/*
 * comdet_h - what programs call through src/base/comdet.h
 *
 * The handler reads the flag at each interrupt. A child that was forked has its
 * own copy, and a program that is executed begins as COMDET_DELAY says.
 */
#include <stdatomic.h>

#include "preload/core/runtime.h"
#include "preload/sources/regions.h"
#include "src/base/comdet.h"
#include "src/base/signal_safe.h"

__attribute__((visibility("default"))) void comdet_hook_pause(void)
{
	atomic_store(&runtime.paused, true);
}

__attribute__((visibility("default"))) void comdet_hook_resume(void)
{
	atomic_store(&runtime.paused, false);
}

__attribute__((visibility("default"))) void comdet_hook_begin(const char *name)
{
	regions_begin(name);
}

__attribute__((visibility("default"))) void comdet_hook_end(const char *name)
{
	regions_end(name);
}
