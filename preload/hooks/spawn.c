/* SPDX-License-Identifier: MIT */
/*
 * spawn - posix_spawn, system, popen
 *
 * These make a child inside the C library, and it inherits the caller's mask
 * and ignored signals. So the kernel gets the application's view of the claimed
 * signal while they work. system and popen use the environment as it is: the
 * shell loads us and, since it is not the root of the run, does nothing.
 */
#include <errno.h>

#include "env.h"
#include "preload/core/runtime.h"
#include "preload/signal/inherit.h"
#include "preload/signal/real.h"
#include "preload/start/process.h"

static void count(void)
{
	if (runtime_is_ours() && !runtime_follow_children())
		runtime_count_not_followed();
}

typedef __typeof__(&posix_spawn) spawn_fn;

static int spawn(spawn_fn fn, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const *argv,
		 char *const *env)
{
	char room[ENV_ROOM_BYTES] __attribute__((aligned(16)));
	char **with = env_for_program(env, runtime_follow_children(), room);
	struct signal_exec undo;
	int r;

	signal_before_spawn(&undo);
	r = fn(pid, path, actions, attributes, argv, with);
	signal_after_spawn(&undo);
	if (!r)
		count();
	return r;
}

EXPORT int posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *argv,
		       char *const *env)
{
	return spawn(REAL(posix_spawn), pid, path, actions, attributes, argv,
		     env);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const *argv,
			char *const *env)
{
	return spawn(REAL(posix_spawnp), pid, file, actions, attributes, argv,
		     env);
}

/* A cancelled thread leaves here: undo its change for the other threads. */
static void cancelled(void *undo)
{
	signal_after_spawn(undo);
}

EXPORT int system(const char *command)
{
	struct signal_exec undo;
	int r;

	signal_before_spawn(&undo);
	pthread_cleanup_push(cancelled, &undo);
	r = REAL(system)(command);
	pthread_cleanup_pop(1);
	if (command && r != -1)
		count();
	return r;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	struct signal_exec undo;
	FILE *f;

	signal_before_spawn(&undo);
	f = REAL(popen)(command, mode);
	signal_after_spawn(&undo);
	if (f)
		count();
	return f;
}
