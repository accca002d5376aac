/* SPDX-License-Identifier: MIT */
/*
 * stderr_line - one line on the program's standard error
 *
 * A message must not cost the program its life or its data. So it is skipped if
 * writing it could block, if it could stop or kill the program (a terminal that
 * stops background writers, a pipe without a reader, a limit on file sizes), or
 * if the program has opened another file as descriptor 2.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stderr_line.h"
#include "sys.h"
#include "src/base/utf8.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 512, /* a pipe has room for so many if poll calls it
			     writable */
	PATIENCE_MS = 100,
};

static const uint64_t deadly =
	1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1) | 1ull << (SIGTTOU - 1);
static struct stat at_start;
static bool have_stderr;

void stderr_line_init(void)
{
	have_stderr = !sys_call2(SYS_fstat, STDERR_FILENO, &at_start);
}

static bool may_write(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct stat now;

	return have_stderr && !sys_call2(SYS_fstat, STDERR_FILENO, &now) &&
	       now.st_dev == at_start.st_dev && now.st_ino == at_start.st_ino &&
	       sys_call3(SYS_poll, &p, 1, PATIENCE_MS) == 1 &&
	       p.revents == POLLOUT;
}

void stderr_line(const char *text)
{
	static const char start[] = "comdet: ";
	const struct timespec no_time = { 0, 0 };
	uint64_t pending = 0, before = 0, ours;
	size_t n = sizeof(start) - 1, length = strlen(text);
	char line[LINE_BYTES];
	long r;

	if (!may_write())
		return;
	if (length > sizeof(line) - n - 1)
		length = sizeof(line) - n - 1;
	memcpy(line, start, n);
	memcpy(line + n, text, length);
	line[n + length] = '\0';
	utf8_blot(line + n); /* names of files may hold anything */
	n += length;
	line[n++] = '\n';
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &deadly, &before,
		  sizeof(deadly));
	sys_call2(SYS_rt_sigpending, &pending, sizeof(pending));
	r = sys_call3(SYS_write, STDERR_FILENO, line, n);
	ours = deadly & ~pending;
	if ((r == -EPIPE || r == -EFBIG) && ours)
		sys_call4(SYS_rt_sigtimedwait, &ours, NULL, &no_time,
			  sizeof(ours));
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
}
