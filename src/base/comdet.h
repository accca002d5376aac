/* SPDX-License-Identifier: MIT */
/*
 * comdet - what a program may tell reusetrack about itself
 *
 * Include this file, and link nothing: the functions are called only if
 * libcomdet.so is loaded. Without it, each costs a load and a branch. Programs
 * that are linked statically or without -fPIE never find the library.
 *
 *	comdet_pause();
 *	load_the_data();
 *	comdet_resume();
 *	compute();
 *
 * record --delay -1 begins paused. All threads are paused and resumed together.
 * Calls do not nest: one comdet_resume() ends any number of pauses.
 */
#ifndef COMDET_H
#define COMDET_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library defines these. */
extern void comdet_hook_pause(void) __attribute__((weak));
extern void comdet_hook_resume(void) __attribute__((weak));

/* Take no samples from now on. Any thread, any time, signal handlers too. */
static inline void comdet_pause(void)
{
	if (comdet_hook_pause)
		comdet_hook_pause();
}

/* Take samples again, within --delay and --duration. */
static inline void comdet_resume(void)
{
	if (comdet_hook_resume)
		comdet_hook_resume();
}

#ifdef __cplusplus
}
#endif

#endif
