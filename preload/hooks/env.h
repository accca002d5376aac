/* SPDX-License-Identifier: MIT */
/*
 * env - the environment for programs that are started
 */
#ifndef COMDET_PRELOAD_HOOKS_ENV_H
#define COMDET_PRELOAD_HOOKS_ENV_H

#include <stdbool.h>

/*
 * What LD_PRELOAD is to be without the library at @path: writes at most
 * strlen(@value) + 1 bytes to @out. Returns false if the library is not in it.
 * An entry is the library's if it is @path or has the same file name.
 */
bool preload_without(const char *value, const char *path, char *out);

enum {
	ENV_ROOM_BYTES = 4096
};

/*
 * The environment for a program that is started: @env if its profile is
 * wanted (@follow) or it does not preload us, else a copy without our entry.
 * The copy lies in @room, of ENV_ROOM_BYTES, or, if that is too small, in
 * memory that the thread keeps for the next time. Any context.
 */
char **env_for_program(char *const *env, bool follow, char *room);

#endif
