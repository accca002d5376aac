/* SPDX-License-Identifier: MIT */
/*
 * permission - may we watch this process, and if not, what helps
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "permission.h"
#include "event.h"
#include "memory.h"
#include "analysis/base/util.h"

enum {
	SYS_PTRACE = 19 /* bit of a set of capabilities */
};

/* Of /proc/PID/status. */
struct status {
	char state;
	pid_t tgid;
	uid_t uid;
	bool kernel; /* a thread of the kernel: it has no memory */
	bool ptrace; /* it has CAP_SYS_PTRACE */
};

static bool read_status(pid_t pid, struct status *s)
{
	char path[64], line[256];
	bool memory = false;
	FILE *f;

	memset(s, 0, sizeof(*s));
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "State:", 6))
			s->state = line[6 + strspn(line + 6, " \t")];
		else if (!strncmp(line, "Tgid:", 5))
			s->tgid = atoi(line + 5);
		else if (!strncmp(line, "Uid:", 4))
			s->uid = (uid_t)strtoul(line + 4, NULL, 10);
		else if (!strncmp(line, "VmSize:", 7))
			memory = true;
		else if (!strncmp(line, "CapEff:", 7))
			s->ptrace =
				strtoull(line + 7, NULL, 16) >> SYS_PTRACE & 1;
	}
	fclose(f);
	s->kernel = !memory && s->state != 'Z' && s->state != 'X';
	return true;
}

bool permission_ptrace(void)
{
	struct status self;

	return read_status(getpid(), &self) && self.ptrace;
}

static long read_setting(const char *path)
{
	char text[32];

	return read_line(path, text, sizeof(text)) ? atol(text) : -100;
}

static const char *user_name(uid_t uid)
{
	static char text[64];
	struct passwd *p = getpwuid(uid);

	if (p)
		snprintf(text, sizeof(text), "%s", p->pw_name);
	else
		snprintf(text, sizeof(text), "%u", uid);
	return safe_text(text);
}

char *permission_event(pid_t tid, int error)
{
	long paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid");

	switch (error) {
	case ESRCH:
		return xasprintf("%d has ended", (int)tid);
	case EMFILE:
	case ENFILE:
		return xasprintf(
			"no descriptor is left: watching takes one for "
			"each thread and processor; raise the limit "
			"with ulimit -n");
	case ENOSYS:
		return xasprintf("this kernel has no perf_events; run the "
				 "program under reusetrack record");
	case EACCES:
	case EPERM:
		if (geteuid() && paranoid > 2)
			return xasprintf(
				"kernel.perf_event_paranoid is %ld: ordinary "
				"users may not use perf_events; run as root, "
				"or sysctl kernel.perf_event_paranoid=2",
				paranoid);
		return xasprintf("the kernel does not let us sample process "
				 "%d: run as its user or as root, outside of a "
				 "container that forbids perf_event_open",
				 (int)tid);
	default:
		return xasprintf("cannot sample process %d: %s; try reusetrack "
				 "doctor",
				 (int)tid, strerror(error));
	}
}

static char *try_event(pid_t pid)
{
	struct perf_event_attr a =
		event_clock(UINT64_C(1000000000), false, false);
	int fd = event_open(&a, pid, -1);

	if (fd < 0)
		return permission_event(pid, -fd);
	close(fd);
	return NULL;
}

/* Any mapped byte will do: the first mapping of the list. */
static char *try_memory(pid_t pid)
{
	long scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
	unsigned long start;
	char path[64], byte;
	FILE *f;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%lx", &start) == 1)
			err = memory_peek(pid, start, &byte, 1);
		fclose(f);
	}
	if (f && err != -EPERM)
		return NULL;
	if (geteuid() && scope > 0)
		return xasprintf("kernel.yama.ptrace_scope is %ld: the kernel "
				 "does not let us read the memory of process "
				 "%d; run as root, or sysctl "
				 "kernel.yama.ptrace_scope=0",
				 scope, (int)pid);
	return xasprintf("the kernel does not let us read the memory of "
			 "process %d: it protects itself, or has other rights; "
			 "run as root",
			 (int)pid);
}

char *permission_denied(pid_t pid, bool thread)
{
	struct status s;
	char *why;

	if (!read_status(pid, &s))
		return xasprintf("there is no %s %d; pgrep -l NAME lists "
				 "processes by name",
				 thread ? "thread" : "process", (int)pid);
	if (s.tgid != pid && !thread)
		return xasprintf("%d is a thread of process %d; attach to the "
				 "process, or to the thread with --tid %d",
				 (int)pid, (int)s.tgid, (int)pid);
	if (s.tgid == getpid())
		return xasprintf("%d is reusetrack itself; name another "
				 "process",
				 (int)pid);
	if (s.state == 'Z' || s.state == 'X')
		return xasprintf("process %d has ended; its parent has not yet "
				 "asked for its exit status",
				 (int)pid);
	if (s.kernel)
		return xasprintf("%d is a thread of the kernel; name a program",
				 (int)pid);
	if (geteuid() != s.uid && !permission_ptrace())
		return xasprintf("process %d belongs to user %s: run "
				 "reusetrack as that user, or %s",
				 (int)pid, user_name(s.uid),
				 geteuid() ? "as root"
					   : "give it CAP_SYS_PTRACE, which "
					     "root lacks here");
	why = try_event(pid);
	return why ? why : try_memory(pid);
}
