/* SPDX-License-Identifier: MIT */
/*
 * exit_signal - which signal ended a process that is not our child
 */
#include <linux/ioctl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit_signal.h"
#include "analysis/base/util.h"

enum {
	START_FIELD = 22,
	EXIT_CODE_FIELD = 52,
	INFO_EXIT = 1 << 3, /* PIDFD_INFO_EXIT */
};

/* struct pidfd_info of Linux 6.15, which Debian's headers lack. */
struct info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code; /* as waitpid gives it */
};
_Static_assert(sizeof(struct info) == 64, "the kernel's first version");
#define GET_INFO _IOWR(0xff, 11, struct info) /* PIDFD_GET_INFO */

int exit_signal_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Field @n, from 3 on, of @stat; "" if there is none. */
static const char *field(const char *stat, int n)
{
	const char *p = strrchr(stat, ')'); /* the name may hold anything */

	for (int at = 2; p && at < n; at++)
		p = strchr(p + 1, ' ');
	return p ? p + 1 : "";
}

/* As waitpid gives it, while nobody has waited; 0: it is gone, or another. */
static int status_in_proc(pid_t pid, uint64_t start)
{
	char path[64], stat[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_line(path, stat, sizeof(stat)) ||
	    strtoull(field(stat, START_FIELD), NULL, 10) != start)
		return 0;
	return (int)strtol(field(stat, EXIT_CODE_FIELD), NULL, 10);
}

static int status_of_pidfd(int pidfd)
{
	struct info info = { .mask = INFO_EXIT };

	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) ||
	    !(info.mask & INFO_EXIT))
		return 0;
	return info.exit_code;
}

int exit_signal_of(pid_t pid, uint64_t start, int pidfd)
{
	int status = status_in_proc(pid, start);

	/* It may be gone since, so this comes second. */
	if (!status)
		status = status_of_pidfd(pidfd);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
