/* SPDX-License-Identifier: MIT */
/*
 * control - record --control: other programs start and stop the sampling
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"
#include "analysis/base/control.h"
#include "analysis/base/util.h"
#include "src/store/control_page.h"

enum {
	FIRST_FREE = 3 /* the lower descriptors are the program's */
};

static struct control control;
static bool opened;
static struct control_page *page;
static pthread_t thread;
static bool started;
static int end = -1; /* readable when the program has ended */

void record_open_control(void)
{
	const char *spec = getenv("COMDET_CONTROL");

	if (!spec || !*spec)
		return;
	control_open(&control, "--control (COMDET_CONTROL)", spec, FIRST_FREE);
	opened = true;
}

struct control *record_control(void)
{
	return opened ? &control : NULL;
}

void record_make_control_page(int dirfd)
{
	const char *delay = getenv("COMDET_DELAY");
	void *at = MAP_FAILED;
	int fd = openat(dirfd, CONTROL_PAGE_FILE,
			O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0 && !ftruncate(fd, CONTROL_PAGE_BYTES))
		at = mmap(NULL, CONTROL_PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	end = eventfd(0, EFD_CLOEXEC);
	if (at == MAP_FAILED || end < 0)
		die("--control: cannot make its page in the output directory: "
		    "%s",
		    strerror(errno));
	close(fd);
	page = at;
	page->paused = delay && !strcmp(delay, "-1");
}

/* False if no more commands are to be obeyed. */
static bool obey(enum control_command command)
{
	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
	case CONTROL_STOP:
		page->paused = command != CONTROL_ENABLE;
		break;
	case CONTROL_CLOSED:
		if (page->paused)
			warn("--control was closed after disable; no samples "
			     "are taken any more");
		return false;
	case CONTROL_NOTHING:
	case CONTROL_PING:
		break;
	}
	control_answer(&control);
	return command != CONTROL_STOP;
}

static void *serve(void *none)
{
	struct pollfd p[] = { { .fd = control.in, .events = POLLIN },
			      { .fd = end, .events = POLLIN } };
	enum control_command command;

	(void)none;
	for (;;) {
		while ((command = control_next(&control)) != CONTROL_NOTHING)
			if (!obey(command))
				return NULL;
		if (poll(p, 2, -1) > 0 && p[1].revents)
			return NULL;
	}
}

void record_begin_control(void)
{
	int err = pthread_create(&thread, NULL, serve, NULL);

	if (err)
		warn("--control: cannot make a thread: %s", strerror(err));
	started = !err;
}

void record_end_control(int dirfd)
{
	uint64_t one = 1;

	if (started && write(end, &one, sizeof(one)) == sizeof(one))
		pthread_join(thread, NULL);
	unlinkat(dirfd, CONTROL_PAGE_FILE, 0);
	munmap(page, CONTROL_PAGE_BYTES);
	close(end);
}
