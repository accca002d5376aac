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
#include "listing.h"
#include "memory.h"
#include "analysis/base/util.h"

enum {
	SYS_PTRACE = 19, /* bit of a set of capabilities */
	SCOPE_NOBODY = 3,
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

static int open_event(pid_t pid)
{
	struct perf_event_attr a =
		event_clock(UINT64_C(1000000000), false, false);
	int fd = event_open(&a, pid, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
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
		if (open_event(0))
			return xasprintf("the kernel does not let us use "
					 "perf_event_open, not even on "
					 "ourselves: allow it in the "
					 "container's profile, or run "
					 "reusetrack outside of the container");
		return xasprintf("the kernel does not let us sample process "
				 "%d: it protects itself, or has rights that "
				 "we lack; run as root",
				 (int)tid);
	default:
		return xasprintf("cannot sample process %d: %s; try reusetrack "
				 "doctor",
				 (int)tid, strerror(error));
	}
}

static char *try_event(pid_t pid)
{
	int err = open_event(pid);

	return err ? permission_event(pid, -err) : NULL;
}

static char *explain_memory(pid_t pid)
{
	long scope = read_setting("/proc/sys/kernel/yama/ptrace_scope");
	unsigned char own = 1, byte;

	if (memory_peek(getpid(), (unsigned long)&own, &byte, 1))
		return xasprintf("the kernel does not let us use "
				 "process_vm_readv, not even on ourselves: "
				 "allow it in the container's profile, or run "
				 "reusetrack outside of the container");
	if (scope >= SCOPE_NOBODY)
		return xasprintf("kernel.yama.ptrace_scope is %ld: no program "
				 "may read the memory of process %d; boot with "
				 "a ptrace_scope below 3",
				 scope, (int)pid);
	if (scope > 0 && !permission_ptrace())
		return xasprintf("kernel.yama.ptrace_scope is %ld: the kernel "
				 "does not let us read the memory of process "
				 "%d; run as root, or sysctl "
				 "kernel.yama.ptrace_scope=0",
				 scope, (int)pid);
	return xasprintf("the kernel does not let us read the memory of "
			 "process %d: it protects itself, or has rights that "
			 "we lack; run as root",
			 (int)pid);
}

/* Any mapped byte will do: the first mapping of the list. */
static char *try_memory(pid_t pid)
{
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
	return f && err != -EPERM ? NULL : explain_memory(pid);
}

/*
 * A /proc of another pid namespace has other numbers than those that the kernel
 * takes from us.
 */
static char *try_proc(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	if (n <= 0)
		return xasprintf("/proc is not mounted here: mount -t proc "
				 "proc /proc");
	if (atoi(text) != getpid())
		return xasprintf("/proc shows another pid namespace than the "
				 "one in which reusetrack runs: run it in that "
				 "one, or mount -t proc proc /proc");
	return NULL;
}

/* Does a process whose main thread has ended still have others? */
static bool has_threads(pid_t pid)
{
	struct listing tids = list_threads(pid);
	size_t n = tids.n;

	listing_release(&tids);
	return n > 1;
}

char *permission_denied(pid_t pid, bool thread)
{
	struct status s;
	char *why = try_proc();

	if (why)
		return why;
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
	if ((s.state == 'Z' || s.state == 'X') && has_threads(pid))
		return xasprintf("the main thread of process %d has ended, and "
				 "without it the memory of the others cannot "
				 "be read; start the program under reusetrack "
				 "record",
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
