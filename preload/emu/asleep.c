/* SPDX-License-Identifier: MIT */
/*
 * asleep - what the kernel says a thread of this process is doing
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asleep.h"

/* Returns false if there is no such thread. */
static bool read_task(pid_t tid, const char *what, char *to, size_t size)
{
	char name[64];
	ssize_t n = 0;
	int fd;

	snprintf(name, sizeof(name), "/proc/self/task/%d/%s", (int)tid, what);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, to, size - 1);
		close(fd);
	}
	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

enum asleep emu_asleep(pid_t tid)
{
	char text[512];
	const char *name_end;

	if (!read_task(tid, "stat", text, sizeof(text)))
		return ASLEEP_GONE;
	name_end = strrchr(text, ')');
	if (!name_end || strlen(name_end) < 3)
		return ASLEEP_GONE;
	switch (name_end[2]) {
	case 'S':
		return ASLEEP;
	case 'Z':
	case 'X':
		return ASLEEP_GONE;
	default:
		return ASLEEP_NOT;
	}
}

/* The system call in which the thread sleeps; false if it does not sleep. */
static bool call_of(const char *text, long *number, uint64_t *first)
{
	char *end;

	*number = strtol(text, &end, 10);
	*first = strtoull(end, NULL, 16);
	return end != text; /* "running" */
}

enum asleep emu_asleep_in(pid_t tid, long number, uint64_t first)
{
	char text[256];
	uint64_t its_first;
	long its_number;

	if (!read_task(tid, "syscall", text, sizeof(text)))
		return ASLEEP_GONE;
	if (!call_of(text, &its_number, &its_first))
		return ASLEEP_NOT;
	return its_number == number && its_first == first ? ASLEEP_THERE
							  : ASLEEP;
}

uint64_t emu_asleep_futex(pid_t tid)
{
	char text[256];
	uint64_t first;
	long number;

	if (!read_task(tid, "syscall", text, sizeof(text)) ||
	    !call_of(text, &number, &first) || number != SYS_futex)
		return 0;
	return first;
}

bool emu_others_run(void)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *d;
	bool run = false;

	while (tasks && !run && (d = readdir(tasks))) {
		pid_t tid = atoi(d->d_name);

		run = tid > 0 && tid != self && emu_asleep(tid) == ASLEEP_NOT;
	}
	if (tasks)
		closedir(tasks);
	return run;
}
