/* SPDX-License-Identifier: MIT */
/*
 * exec - the exec family
 *
 * If the profiled process itself calls exec, the new program continues the run
 * and the environment stays as it is. A child, forked or vforked, starts a
 * program that we do not profile (unless --children), in an environment without
 * us. A vfork child uses our memory, so it allocates nothing and writes only to
 * its stack, to the thread's spare buffer and to the kernel.
 *
 * A program inherits the blocked and ignored signals. So just before exec the
 * kernel gets the application's view of the claimed signal, and ours again if
 * exec fails.
 */
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "env.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/signal/inherit.h"
#include "preload/signal/real.h"
#include "preload/start/process.h"
#include "src/base/signal_safe.h"

struct exec {
	struct signal_exec signals;
	bool ours;
};

/* A vfork child that tries several paths is counted once. */
static _Atomic pid_t counted;

static void count_vfork_child(void)
{
	pid_t pid;

	if (!runtime_active() || runtime_follow_children())
		return;
	pid = (pid_t)sys_call0(SYS_getpid);
	if (atomic_exchange(&counted, pid) != pid)
		runtime_count_not_followed();
}

/* Returns the environment to use. */
static char **begin(struct exec *e, char *const *env, char *room)
{
	char **with;

	e->ours = runtime_is_ours() || runtime_is_waiting();
	with = env_for_program(env, e->ours || runtime_follow_children(), room);
	if (e->ours)
		runtime_before_exec();
	else
		count_vfork_child();
	signal_before_exec(&e->signals);
	return with;
}

static int failed(const struct exec *e, int result)
{
	int saved_errno = errno;

	signal_exec_failed(&e->signals);
	if (e->ours)
		runtime_exec_failed();
	errno = saved_errno;
	return result;
}

static int run_path(const char *path, char *const *argv, char *const *env)
{
	char room[ENV_ROOM_BYTES] __attribute__((aligned(16)));
	struct exec e;
	char **with = begin(&e, env, room);

	return failed(&e, REAL(execve)(path, argv, with));
}

static int run_file(const char *file, char *const *argv, char *const *env)
{
	char room[ENV_ROOM_BYTES] __attribute__((aligned(16)));
	struct exec e;
	char **with = begin(&e, env, room);

	return failed(&e, REAL(execvpe)(file, argv, with));
}

EXPORT int execve(const char *path, char *const *argv, char *const *env)
{
	return run_path(path, argv, env);
}

EXPORT int execv(const char *path, char *const *argv)
{
	return run_path(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const *argv)
{
	return run_file(file, argv, environ);
}

EXPORT int execvpe(const char *file, char *const *argv, char *const *env)
{
	return run_file(file, argv, env);
}

EXPORT int fexecve(int fd, char *const *argv, char *const *env)
{
	char room[ENV_ROOM_BYTES] __attribute__((aligned(16)));
	struct exec e;
	char **with = begin(&e, env, room);

	return failed(&e, REAL(fexecve)(fd, argv, with));
}

EXPORT int execveat(int fd, const char *path, char *const *argv,
		    char *const *env, int flags)
{
	char room[ENV_ROOM_BYTES] __attribute__((aligned(16)));
	struct exec e;
	char **with;

	if (!REAL(execveat)) {
		errno = ENOSYS;
		return -1;
	}
	with = begin(&e, env, room);
	return failed(&e, REAL(execveat)(fd, path, argv, with, flags));
}

/* Count the arguments in @list, with the NULL that ends them. */
static size_t count_arguments(va_list list)
{
	size_t n = 2;

	while (va_arg(list, char *))
		n++;
	return n;
}

static void take_arguments(char **argv, const char *first, va_list list)
{
	*argv = (char *)(uintptr_t)first;
	while (*argv++)
		*argv = va_arg(list, char *);
}

/*
 * Make argv on the stack, as the C library does: a vfork child may not
 * allocate. Leaves @list behind the NULL, where execle has its environment.
 * exec*(path, NULL) has no list.
 */
#define ARGUMENTS(argv, first, list)                                           \
	do {                                                                   \
		va_list counted_;                                              \
                                                                               \
		va_copy(counted_, list);                                       \
		(argv) = alloca(((first) ? count_arguments(counted_) : 1) *    \
				sizeof(char *));                               \
		va_end(counted_);                                              \
		take_arguments(argv, first, list);                             \
	} while (0)

EXPORT int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list list;

	va_start(list, arg);
	ARGUMENTS(argv, arg, list);
	va_end(list);
	return run_path(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list list;

	va_start(list, arg);
	ARGUMENTS(argv, arg, list);
	va_end(list);
	return run_file(file, argv, environ);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char **argv, **env;
	va_list list;

	va_start(list, arg);
	ARGUMENTS(argv, arg, list);
	env = va_arg(list, char **);
	va_end(list);
	return run_path(path, argv, env);
}
