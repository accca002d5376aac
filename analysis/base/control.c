/* SPDX-License-Identifier: MIT */
/*
 * control - commands that another program sends while we sample
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "options.h"
#include "util.h"

/*
 * Open for both directions: so it does not wait for the other side, and the
 * other side may come and go.
 */
static int open_fifo(const char *name, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		die("%s: cannot open %s: %s; make it with mkfifo", name,
		    safe_text(path), strerror(errno));
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
		die("%s: %s is not a FIFO; make one with mkfifo", name,
		    safe_text(path));
	return fd;
}

/* A descriptor that one can wait for, and @how (read or write) can be used. */
static int take_descriptor(const char *name, const char *text, int least,
			   int how)
{
	int fd = (int)whole_number(name, text, least, INT_MAX);
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0)
		die("%s: descriptor %d is not open", name, fd);
	if ((flags & O_ACCMODE) != how && (flags & O_ACCMODE) != O_RDWR)
		die("%s: descriptor %d is not open for %s", name, fd,
		    how == O_RDONLY ? "reading" : "writing");
	if (fstat(fd, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		die("%s: descriptor %d is a file; it must be a pipe, a FIFO or "
		    "a socket",
		    name, fd);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

void control_open(struct control *c, const char *name, const char *spec,
		  int least)
{
	bool fifo = !strncmp(spec, "fifo:", 5);
	char *in, *out;

	*c = (struct control){ .out = -1 };
	if (!fifo && strncmp(spec, "fd:", 3) != 0)
		die("%s is fifo:COMMANDS[,ANSWERS] with the paths of FIFOs, or "
		    "fd:COMMANDS[,ANSWERS] with descriptors, not '%s'",
		    name, safe_text(spec));
	in = xstrdup(strchr(spec, ':') + 1);
	out = strchr(in, ',');
	if (out)
		*out++ = 0;
	c->in = fifo ? open_fifo(name, in)
		     : take_descriptor(name, in, least, O_RDONLY);
	if (out)
		c->out = fifo ? open_fifo(name, out)
			      : take_descriptor(name, out, least, O_WRONLY);
	free(in);
}

static enum control_command command_of(const char *line)
{
	static const struct {
		const char *name;
		enum control_command command;
	} commands[] = {
		{ "enable", CONTROL_ENABLE },
		{ "disable", CONTROL_DISABLE },
		{ "ping", CONTROL_PING },
		{ "stop", CONTROL_STOP },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(line, commands[i].name))
			return commands[i].command;
	if (*line)
		warn("--control: there is no command '%s'; use enable, "
		     "disable, ping or stop",
		     safe_text(line));
	return CONTROL_NOTHING;
}

/* 1: it read the byte @to; 0: none is there; -1: none will come. */
static int read_byte(const struct control *c, char *to)
{
	struct pollfd p = { .fd = c->in, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	n = read(c->in, to, 1);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	return n ? 1 : -1;
}

enum control_command control_next(struct control *c)
{
	enum control_command command;
	char byte;
	int n;

	while ((n = read_byte(c, &byte)) > 0) {
		if (byte && byte != '\n') {
			/* No command is as long as the buffer. */
			if (c->used < sizeof(c->line) - 1)
				c->line[c->used++] = byte;
			continue;
		}
		c->line[c->used] = 0;
		c->used = 0;
		command = command_of(c->line);
		if (command != CONTROL_NOTHING)
			return command;
	}
	return n ? CONTROL_CLOSED : CONTROL_NOTHING;
}

/* A descriptor whose reader has gone must not end us with SIGPIPE. */
void control_answer(const struct control *c)
{
	static const char text[] = "ack\n";
	const struct timespec now = { 0, 0 };
	struct pollfd p = { .fd = c->out, .events = POLLOUT };
	sigset_t broken, mask;

	if (c->out < 0 || poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT))
		return;
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &mask);
	if (write(c->out, text, sizeof(text) - 1) < 0 && errno == EPIPE)
		sigtimedwait(&broken, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void control_close(struct control *c)
{
	close(c->in);
	if (c->out >= 0)
		close(c->out);
	*c = (struct control){ .in = -1, .out = -1 };
}
