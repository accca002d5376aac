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
 *	comdet_begin("sort");
 *	sort();
 *	comdet_end("sort");
 *
 * record --delay -1 begins paused. All threads are paused and resumed together.
 * Pauses do not nest: one comdet_resume() ends any number of them.
 *
 * Regions nest, and belong to the thread that begins them: the report counts
 * samples and detections for the innermost region that the sampled thread is
 * in. Threads that it creates are in none until they begin their own. Regions
 * of the same name are one. A child of fork() is in its parent's regions.
 */
#ifndef COMDET_H
#define COMDET_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library defines these. */
extern void comdet_hook_pause(void) __attribute__((weak));
extern void comdet_hook_resume(void) __attribute__((weak));
extern void comdet_hook_begin(const char *name) __attribute__((weak));
extern void comdet_hook_end(const char *name) __attribute__((weak));

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

/*
 * The calling thread is in region @name from now on. Names are cut to 47 bytes,
 * and need not outlive the call; of more than 255 the further ones are one
 * region. Regions nested deeper than 30 count for the 30th. Any time, signal
 * handlers too.
 */
static inline void comdet_begin(const char *name)
{
	if (comdet_hook_begin)
		comdet_hook_begin(name);
}

/*
 * It leaves the innermost region @name, and those that it began inside and did
 * not end. Any time, signal handlers too.
 */
static inline void comdet_end(const char *name)
{
	if (comdet_hook_end)
		comdet_hook_end(name);
}

#ifdef __cplusplus
}
#endif

#endif
