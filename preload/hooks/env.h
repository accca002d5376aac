/* SPDX-License-Identifier: MIT */
/*
 * env - the environment for programs that are started
 */
#ifndef COMDET_PRELOAD_HOOKS_ENV_H
#define COMDET_PRELOAD_HOOKS_ENV_H

#include <stdbool.h>

/*
 * Write LD_PRELOAD's @value without the library at @path to @out: at most
 * strlen(@value) + 1 bytes. Returns false if the library is not in it. An entry
 * names the library if it is @path or has the same file name.
 */
bool preload_without(const char *value, const char *path, char *out);

enum {
	ENV_ROOM_BYTES = 4096
};

/*
 * Returns the environment for a program that is started: @env if we profile
 * that program (@follow) or if it does not preload us, else a copy without our
 * entry. The copy lies in @room, which has ENV_ROOM_BYTES, or, if that is too
 * small, in memory that the thread keeps. Any context.
 */
char **env_for_program(char *const *env, bool follow, char *room);

#endif
