/* SPDX-License-Identifier: MIT */
/*
 * env - the environment for programs that are started
 */
#ifndef COMDET_PRELOAD_HOOKS_ENV_H
#define COMDET_PRELOAD_HOOKS_ENV_H

#include <stdbool.h>

enum {
	ENV_ROOM_BYTES = 4096
};

/*
 * Returns the environment for a program that is started. If we profile that
 * program (@follow), it has the variables that we hid from this one; otherwise
 * it lacks our entry in LD_PRELOAD. If nothing is to be changed that is @env,
 * else a copy. The copy lies in @room, which has ENV_ROOM_BYTES, or, if that is
 * too small, in memory that the thread keeps. Any context.
 */
char **env_for_program(char *const *env, bool follow, char *room);

#endif
