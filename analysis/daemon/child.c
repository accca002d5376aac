/* SPDX-License-Identifier: MIT */
/*
 * child - do in a child what reads foreign files and processes
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

enum {
	FIRST_OTHER = 3, /* descriptor */
};

static void close_others(int keep)
{
	if (keep > FIRST_OTHER)
		syscall(SYS_close_range, FIRST_OTHER, keep - 1, 0);
	syscall(SYS_close_range, keep < FIRST_OTHER ? FIRST_OTHER : keep + 1,
		INT_MAX, 0);
}

int child_begin(struct child *c, int (*run)(void *ctx), void *ctx, int keep)
{
	pid_t parent = getpid(), pid;
	int err;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_others(keep);
		_exit(getppid() == parent ? run(ctx) : 1);
	}
	c->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (c->fd < 0) {
		err = -errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return err;
	}
	c->pid = pid;
	return 0;
}

void child_signal(const struct child *c, int signal)
{
	if (c->pid)
		kill(c->pid, signal);
}

bool child_has_ended(const struct child *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static uint64_t time_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

uint64_t child_end(struct child *c, bool *success)
{
	struct rusage used;
	int status = -1;

	while (wait4(c->pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	close(c->fd);
	*c = (struct child){ 0 };
	*success = WIFEXITED(status) && !WEXITSTATUS(status);
	return time_ns(used.ru_utime) + time_ns(used.ru_stime);
}
