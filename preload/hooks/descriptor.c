/* SPDX-License-Identifier: MIT */
/*
 * descriptor - fstat does not find our descriptors
 *
 * Programs look for descriptors that they should not have inherited by fstat of
 * each number. Ours are not inherited, so the program would look in vain for
 * the one who left them open. /proc/self/fd shows them, and so does fstat in
 * programs that were built for C libraries before 2.33, which have no such
 * name.
 */
#include <errno.h>

#include "preload/signal/real.h"
#include "preload/start/process.h"

static int not_open(void)
{
	errno = EBADF;
	return -1;
}

EXPORT int fstat(int fd, struct stat *st)
{
	return runtime_is_descriptor(fd) ? not_open() : REAL(fstat)(fd, st);
}

EXPORT int fstat64(int fd, struct stat64 *st)
{
	return runtime_is_descriptor(fd) ? not_open() : REAL(fstat64)(fd, st);
}
