/* SPDX-License-Identifier: MIT */
/*
 * env - the environment for programs that are not followed
 *
 * We remove our entry from a copy of LD_PRELOAD and keep the other entries and
 * their separators; if nothing is left we remove the variable. We never edit
 * the application's own environment. This code runs in vfork children too,
 * where allocated memory would belong to the parent: so ordinary environments
 * are copied to the stack, and huge ones to one buffer a thread.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "env.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

static const char variable[] = "LD_PRELOAD=";

struct spare {
	char *at;
	size_t size;
};

static __thread struct spare spare __attribute__((tls_model("initial-exec")));

static const char *file_name(const char *path, size_t length)
{
	const char *name = path;

	for (size_t i = 0; i < length; i++)
		if (path[i] == '/')
			name = path + i + 1;
	return name;
}

static bool same_library(const char *entry, size_t length, const char *path)
{
	size_t path_length = strlen(path);
	const char *a = file_name(entry, length);
	const char *b = file_name(path, path_length);
	size_t a_length = entry + length - a, b_length = path + path_length - b;

	return a_length == b_length && a_length && !memcmp(a, b, a_length);
}

bool preload_without(const char *value, const char *path, char *out)
{
	bool found = false, separator = false;
	char between = ':';

	while (*value) {
		size_t length = strcspn(value, ": ");

		if (same_library(value, length, path)) {
			found = true;
		} else if (length) {
			if (separator)
				*out++ = between;
			memcpy(out, value, length);
			out += length;
			separator = true;
		}
		value += length;
		if (*value)
			between = *value++;
	}
	*out = 0;
	return found;
}

static char *more_room(size_t size)
{
	long at;

	if (spare.size >= size)
		return spare.at;
	size = (size + 4095) & ~(size_t)4095;
	at = sys_call6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return NULL;
	if (spare.at)
		sys_call2(SYS_munmap, spare.at, spare.size);
	spare.at = (char *)at;
	spare.size = size;
	return spare.at;
}

static size_t find(char *const *env, size_t *count)
{
	size_t found = (size_t)-1, n;

	for (n = 0; env[n]; n++)
		if (found == (size_t)-1 &&
		    !strncmp(env[n], variable, sizeof(variable) - 1))
			found = n;
	*count = n;
	return found;
}

char **env_for_program(char *const *env, bool follow, char *room)
{
	const char *path = runtime_library_path();
	size_t n, at, text, size;
	char **copy, *value;

	if (!env || follow || !path || !*path)
		return (char **)env;
	at = find(env, &n);
	if (at == (size_t)-1)
		return (char **)env;
	text = strlen(env[at]) + 1;
	size = (n + 1) * sizeof(*copy) + text;
	if (size > ENV_ROOM_BYTES)
		room = more_room(size);
	if (!room)
		return (char **)env;
	copy = (char **)(void *)room;
	value = room + (n + 1) * sizeof(*copy);
	memcpy(value, variable, sizeof(variable) - 1);
	if (!preload_without(env[at] + sizeof(variable) - 1, path,
			     value + sizeof(variable) - 1))
		return (char **)env;
	memcpy(copy, env, (n + 1) * sizeof(*copy));
	copy[at] = value;
	if (!value[sizeof(variable) - 1])
		memmove(&copy[at], &copy[at + 1], (n - at) * sizeof(*copy));
	return copy;
}
