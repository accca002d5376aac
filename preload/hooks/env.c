/* SPDX-License-Identifier: MIT */
/*
 * env - the environment for programs that are started
 *
 * For a program that is not followed we remove our entry from a copy of
 * LD_PRELOAD and keep the other entries and their separators; if nothing is
 * left we remove the variable. A program that is followed gets what we hid from
 * this one (start/run.c). This code runs in vfork children too,
 * where allocated memory would belong to the parent: so ordinary environments
 * are copied to the stack, and huge ones to one buffer a thread.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "env.h"
#include "preload/core/local.h"
#include "preload/core/preload_list.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "src/base/signal_safe.h"

static const char variable[] = "LD_PRELOAD=";

struct spare {
	char *at;
	size_t size;
};

_Static_assert(sizeof(struct spare) <= LOCAL_FRAMES - LOCAL_SPARE, "it fits");

static char *more_room(size_t size)
{
	struct spare *spare = local_get(LOCAL_SPARE);
	long at;

	if (spare->size >= size)
		return spare->at;
	size = (size + 4095) & ~(size_t)4095;
	at = sys_call6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return NULL;
	if (spare->at)
		sys_call2(SYS_munmap, spare->at, spare->size);
	spare->at = (char *)at;
	spare->size = size;
	return spare->at;
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

/* True if @env has the variable of @entry, which is NAME=VALUE. */
static bool has(char *const *env, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1;

	while (*env && strncmp(*env, entry, n))
		env++;
	return *env;
}

/* Write "LD_PRELOAD=@path", before the libraries that @entry names. */
static void name_us(char *to, const char *path, const char *entry)
{
	size_t n = strlen(path);

	memcpy(to, variable, sizeof(variable) - 1);
	to += sizeof(variable) - 1;
	memcpy(to, path, n + 1);
	if (!entry[sizeof(variable) - 1])
		return;
	to[n] = ':';
	memcpy(to + n + 1, entry + sizeof(variable) - 1,
	       strlen(entry) - (sizeof(variable) - 1) + 1);
}

/* A copy of @env with what was hidden. */
static char **with_us(char *const *env, const char *path, char *room)
{
	char *const *hidden = runtime_hidden();
	size_t n, at, hide = 0, size;
	const char *entry = variable;
	char **copy, *text;

	at = find(env, &n);
	if (at != (size_t)-1)
		entry = env[at];
	while (hidden[hide])
		hide++;
	size = (n + hide + 2) * sizeof(*copy) + strlen(path) + strlen(entry) +
	       2;
	if (size > ENV_ROOM_BYTES)
		room = more_room(size);
	if (!room)
		return (char **)env;
	copy = (char **)(void *)room;
	text = (char *)(copy + n + hide + 2);
	if (preload_without(entry + sizeof(variable) - 1, path, text))
		memcpy(text, entry, strlen(entry) + 1); /* it names us itself */
	else
		name_us(text, path, entry);
	memcpy(copy, env, n * sizeof(*copy));
	if (at == (size_t)-1)
		at = n++;
	copy[at] = text;
	for (; *hidden; hidden++)
		if (!has(env, *hidden))
			copy[n++] = *hidden;
	copy[n] = NULL;
	return copy;
}

char **env_for_program(char *const *env, bool follow, char *room)
{
	const char *path = runtime_library_path();
	size_t n, at, text, size;
	char **copy, *value;

	if (!env || !path || !*path)
		return (char **)env;
	if (follow)
		return runtime_hidden() ? with_us(env, path, room)
					: (char **)env;
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
