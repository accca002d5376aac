/* SPDX-License-Identifier: MIT */
/*
 * limit - calls after which a process may be unable to make its file
 *
 * A followed child of fork makes it when it is first sampled, perhaps after it
 * became another user. So it begins before such a call. What a program asks the
 * kernel for by syscall() or a namespace is not looked at.
 */
#include <errno.h>
#include <sys/resource.h>

#include "preload/core/runtime.h"
#include "preload/signal/real.h"
#include "preload/start/child.h"

static void begin(void)
{
	int saved_errno = errno;

	child_begin();
	errno = saved_errno;
}

/* A file needs descriptors, blocks, and room to be mapped. */
static void begin_before_limit(int resource, const struct rlimit *limit)
{
	if (limit && (resource == RLIMIT_NOFILE || resource == RLIMIT_FSIZE ||
		      resource == RLIMIT_AS))
		begin();
}

EXPORT int setuid(uid_t user)
{
	begin();
	return REAL(setuid)(user);
}

EXPORT int seteuid(uid_t user)
{
	begin();
	return REAL(seteuid)(user);
}

EXPORT int setreuid(uid_t real, uid_t effective)
{
	begin();
	return REAL(setreuid)(real, effective);
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	begin();
	return REAL(setresuid)(real, effective, saved);
}

EXPORT int chroot(const char *path)
{
	begin();
	return REAL(chroot)(path);
}

/* The two names of each are one function; so are the two structs. */
static int set_limit(int resource, const void *limit)
{
	begin_before_limit(resource, limit);
	return REAL(setrlimit)(resource, limit);
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return set_limit(resource, limit);
}

EXPORT int setrlimit64(__rlimit_resource_t resource,
		       const struct rlimit64 *limit)
{
	return set_limit(resource, limit);
}

static int limits(pid_t pid, int resource, const void *limit, void *old)
{
	begin_before_limit(resource, limit);
	return REAL(prlimit)(pid, resource, limit, old);
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource,
		   const struct rlimit *limit, struct rlimit *old)
{
	return limits(pid, resource, limit, old);
}

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource,
		     const struct rlimit64 *limit, struct rlimit64 *old)
{
	return limits(pid, resource, limit, old);
}
